"""Every exercise that the curriculum names exists, in its chapter."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from ..course import Chapter
from . import Fault


def plan(chapter: Chapter) -> dict[str, Any]:
    """The chapter's row of solutions/curriculum.toml; empty if there is none."""
    path = chapter.root / "solutions" / "curriculum.toml"
    if not path.is_file():
        return {}
    row: dict[str, Any] = tomllib.loads(path.read_text("utf-8")).get(chapter.name, {})
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
