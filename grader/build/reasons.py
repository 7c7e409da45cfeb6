"""The reasons behind predictions: in a learner's cell they would give the answer away.

An author writes `predict("name", run, ____, because="…")`. The learner's cell is left without the
reason; `predict` finds it in data/ under the prediction's name, once a guess is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..course import CourseError


def reasons(sources: Iterable[str]) -> dict[str, str]:
    """Every prediction's reason by its name. CourseError for a name that stands twice."""
    found: dict[str, str] = {}
    for source in sources:
        for call in _giving(source):
            name = ast.literal_eval(call.args[0])
            if name in found:
                raise CourseError(f"two predictions are called {name!r}")
            found[name] = ast.literal_eval(call.keywords[-1].value)
    return found


def without_reasons(source: str) -> str:
    """A cell's source without the reasons in it."""
    text = source.encode()
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for call in reversed(_giving(source)):
        *_, before, because = [*call.args, *(word.value for word in call.keywords)]
        text = text[: _end(before, starts)] + text[_end(because, starts) :]
    return text.decode()


def _end(node: ast.expr, starts: list[int]) -> int:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return starts[node.end_lineno - 1] + node.end_col_offset


def _giving(source: str) -> list[ast.Call]:
    """The calls of `predict` whose last argument is a reason, in the order of the text."""
    if "because=" not in source:
        return []
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    given = [c for c in calls if getattr(c.func, "id", "") == "predict" and _reasoned(c)]
    return sorted(given, key=lambda call: (call.lineno, call.col_offset))


def _reasoned(call: ast.Call) -> bool:
    return bool(call.keywords) and call.keywords[-1].arg == "because"
