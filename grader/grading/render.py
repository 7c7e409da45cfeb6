"""Pages for instructors and students, from this package's templates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("grader", "grading")
    return Environment(loader=loader, autoescape=select_autoescape(["html"]))


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in; what is filled in is text, never HTML."""
    return _environment().get_template(template).render(**values)
