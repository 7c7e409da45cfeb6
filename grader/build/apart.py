"""An exercise's id is the whole course's: a check finds the exercise by it alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..course import Chapter, Course, CourseError

_ANSWER = re.compile(r"^:?answer: *(\S+)\s*$", re.MULTILINE)


def doubles(chapter: Chapter, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The ids of a chapter that another one has, too, each with that chapter's name.

    Of the others only the answer cells are read, so that no unfinished one is in the way.
    """
    others = [c for c in Course(chapter.root).chapters if c.name != chapter.name]
    taken = {c.name: set(_ANSWER.findall(c.source.read_text("utf-8"))) for c in others}
    for each in ids:
        yield from ((each, name) for name in taken if each in taken[name])


def refuse_doubles(course: Course, chapters: list[Chapter]) -> None:
    """CourseError where an id of these chapters is in two of them, or in another one."""
    for chapter in chapters:
        for each, other in doubles(chapter, chapter.exercises()):
            first, second = sorted((chapter.name, other))
            raise CourseError(f"{second}: {each} is already in {first}")
