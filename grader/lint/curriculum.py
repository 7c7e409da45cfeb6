"""Every exercise that the curriculum names exists, in its chapter."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from typing import Any

from ..build.apart import doubles
from ..build.cells import read
from ..course import Chapter, CourseError
from . import Fault

NUMPY_ONLY = ("tensorflow", "keras")


def plan(chapter: Chapter) -> dict[str, Any]:
    """The chapter's row of solutions/curriculum.toml; empty if there is none. CourseError where
    the file cannot be read."""
    path = chapter.root / "solutions" / "curriculum.toml"
    if not path.is_file():
        return {}
    try:
        row = tomllib.loads(path.read_text("utf-8")).get(chapter.name, {})
    except ValueError as error:  # TOML, or not UTF-8
        raise CourseError(f"{path.relative_to(chapter.root)}: {error}") from error
    if not isinstance(row, dict):
        raise CourseError(f"{path.relative_to(chapter.root)}: {chapter.name} is no table")
    return row


def complete(chapter: Chapter) -> Iterator[Fault]:
    """No exercise is missing; every one has its hints, words and a section to reread."""
    exercises = chapter.exercises()
    for name in plan(chapter).get("exercises", ()):
        if name not in exercises:
            yield Fault(chapter.name, name, "is in the curriculum but not in reference.py")
    headings = [line.lstrip("# ") for line in chapter.source.read_text("utf-8").splitlines()]
    for name, exercise in exercises.items():
        if not exercise.reread:
            yield Fault(chapter.name, name, "names no section to reread")
        elif exercise.reread not in headings:
            yield Fault(chapter.name, name, f"there is no section {exercise.reread!r} to reread")
        for mistake in exercise.mistakes:
            if not mistake.says.strip():
                yield Fault(chapter.name, name, f"mistake {mistake.name!r} says nothing")
    for name, other in doubles(chapter, exercises):
        yield Fault(chapter.name, name, f"is already in {other}: an id is the whole course's")
    for module in _imported(chapter):
        if module.split(".")[0] in NUMPY_ONLY:
            yield Fault(chapter.name, "reference.py", f"imports {module}; it is NumPy only")


def in_order(chapter: Chapter) -> Iterator[Fault]:
    """EXERCISES, which the map and `grader next` follow, has the order of the notebook."""
    listed = list(chapter.exercises())
    cells = [cell.metadata.get("answer") for cell in read(chapter).cells]
    written = [name for name in cells if name in listed]
    listed = [name for name in listed if name in written]
    stay = _longest_common(listed, written)
    for name in (name for name in written if name not in stay):
        where = f"{_after(name, written)} in the notebook, {_after(name, listed)} in EXERCISES"
        yield Fault(chapter.name, name, f"stands {where}")


def _after(name: str, names: list[str]) -> str:
    place = names.index(name)
    return f"after {names[place - 1]}" if place else "first"


def _longest_common(listed: list[str], written: list[str]) -> list[str]:
    """The longest run of names in both orders alike: what is not in it has been moved."""
    best: dict[str, list[str]] = {}
    for name in listed:
        before = (best[other] for other in best if written.index(other) < written.index(name))
        best[name] = [*max(before, key=len, default=[]), name]
    return max(best.values(), key=len, default=[])


def _imported(chapter: Chapter) -> Iterator[str]:
    """The modules that reference.py imports, anywhere in it."""
    for node in ast.walk(ast.parse((chapter.folder / "reference.py").read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
