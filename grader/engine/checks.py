"""What the master copy of a graded cell says: its visible part, and the checks it makes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Marks = tuple[str, str]  # what the lines around a hidden region hold
MARKS: Marks = ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
CALLS = ("check", "partial_credit")


@dataclass(frozen=True)
class Call:
    """One `check(...)` or `partial_credit(...)` of a master cell.

    `expression` is the source of what is checked; `points` is set for partial credit only.
    """

    exercise: str
    expression: str
    part: str | None = None
    points: float | None = None


def marks(parent: Any) -> Marks:
    """Those that the configuration of `parent`, a Configurable, has nbgrader look for."""
    said = parent.config.get("ClearHiddenTests", {})
    begin, end = (said.get(f"{name}_test_delimeter") for name in ("begin", "end"))
    return begin or MARKS[0], end or MARKS[1]


def visible(source: str, marks: Marks = MARKS) -> str:
    """`source` without its hidden test regions; an unclosed region hides to the end."""
    kept, hiding = [], False
    begin, end = marks
    for line in source.split("\n"):
        if begin in line:
            hiding = True
        elif end in line:
            hiding = False
        elif not hiding:
            kept.append(line)
    return "\n".join(kept).strip("\n")


def has_hidden(source: str, marks: Marks = MARKS) -> bool:
    """Whether a hidden test region opens in `source`."""
    return marks[0] in source


@lru_cache(maxsize=1024)  # the master copies of a chapter's cells: the same for every student
def calls(source: str) -> tuple[Call, ...]:
    """The checks in `source`, each once, in order; none where it is no plain Python.

    With a partial_credit among them, only partial credit counts: its number is the grade.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found = [_read(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    known = tuple(dict.fromkeys(call for call in found if call is not None))
    partial = tuple(call for call in known if call.points is not None)
    return partial or known


def _read(node: ast.Call) -> Call | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    words = {word.arg: word.value for word in node.keywords}
    if name in CALLS and ("id" in words or "object" in words):
        raise ValueError("a check needs exercise and answer in their places, without names")
    if name not in CALLS or len(node.args) < 2 or not isinstance(node.args[0], ast.Constant):
        return None
    part = _constant(words.get("part") or (node.args[2] if len(node.args) > 2 else None))
    points: Any = None
    if name == "partial_credit":
        points = _constant(words.get("points") or (node.args[2] if len(node.args) > 2 else None))
        if not isinstance(points, int | float):
            raise ValueError("partial_credit needs a number of points")
        points, part = float(points), None
    exercise = node.args[0].value
    if not isinstance(exercise, str) or not isinstance(part, str | None):
        raise ValueError("a check needs the names of exercise and part as plain strings")
    expression = ast.unparse(node.args[1])
    return Call(exercise, expression, part, points)


def _constant(node: ast.expr | None) -> object:
    """What is written there; `node` itself, which is no text and no number, for anything else."""
    return node.value if isinstance(node, ast.Constant) else node


def without_hidden_lines(text: str, source: str, marks: Marks = MARKS) -> str:
    """`text` (a traceback) with every line of `source`'s hidden regions blanked out."""
    shown = {line.strip() for line in visible(source, marks).split("\n")}
    hidden = {line.strip() for line in source.split("\n")} - shown - {""}
    plain = re.compile(r"\x1b\[[0-9;]*m")
    lines = []
    for line in text.split("\n"):
        bare = plain.sub("", line)
        secret = any(len(part) > 3 and part in bare for part in hidden)
        lines.append("(a hidden test)" if secret else line)
    return "\n".join(lines)
