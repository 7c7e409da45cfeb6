"""A report as HTML that follows JupyterLab's theme, and as its plain-text twin."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup, escape

from .. import words
from .report import Report

# What graders read out of a notebook's outputs; notebooks themselves show the HTML.
VERDICT = "application/vnd.grader.verdict+json"
MARKS = {"pass": "✓", "fail": "✗", "error": "!", "unattempted": "○"}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("grader", "display")
    made = Environment(loader=loader, autoescape=select_autoescape(["html"]))
    made.filters["coded"] = coded
    return made


def coded(text: str) -> Markup:
    """A sentence in HTML: what stands between backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in."""
    return _environment().get_template(template).render(**values)


def bundle(report: Report) -> dict[str, Any]:
    """The report as a MIME bundle."""
    html = render("report.html", report=report, says=words.OUTCOME[report.outcome])
    made: dict[str, Any] = {"text/html": html, "text/plain": text(report)}
    return made | ({VERDICT: dict(report.verdict)} if report.verdict else {})


def asking(report: Report) -> dict[str, Any]:
    """The bundle of a report with a row of buttons in the output below it."""
    made = bundle(report)
    return made | {"text/html": made["text/html"] + render("asking.html", again=words.RUN_AGAIN)}


def text(report: Report) -> str:
    """The report in plain words."""
    lines = [f"{MARKS[report.outcome]} {report.title}: {report.headline}"]
    lines += [f"  {line}" for line in report.says]
    width = max((len(label) for label, _ in report.rows), default=0)
    lines += [f"  {label:<{width}}  {value}" for label, value in report.rows]
    lines += [f"  {report.checked}"] if report.checked else []
    lines += [f"  {report.also}"] if report.also else []
    lines += [f"  [{report.picture_says}]"] if report.picture_says else []
    return "\n".join(lines)


def show(report: Report) -> None:
    """Displays the report in a notebook, prints it elsewhere. Never writes to stderr."""
    send(bundle(report))


def send(bundle: dict[str, Any]) -> None:
    """Displays a MIME bundle in a notebook, prints its text elsewhere."""
    if not in_notebook():
        print(bundle["text/plain"])
        return
    from IPython.display import display

    display(bundle, raw=True)


def in_notebook() -> bool:
    """Whether a kernel runs this, so that HTML has a reader."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None
