"""Feedback for all whose page is missing or says what no longer holds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from ..build.release import api
from ..course import Chapter, Course, CourseError
from ..engine import pages, preflight, trouble
from ..engine.executor import at_once
from ..engine.journal import FOLDER
from ..engine.printable import printable
from . import unopened
from .marks import by_hand

KILLED = "a process that writes it was killed (short of memory?): give it room"
KEPT = "feedback.json"  # the marks given by hand that the pages show, by chapter and student


def write(
    course: Course,
    chapter: Chapter,
    named: list[str],
    processes: int = 1,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> list[str]:
    """Feedback for all who were graded and whose page is not as new as their marks; a warning if
    some of `named` have none. By so many `processes` (0: as `at_once`); `tell` hears how
    many pages of how many are written. CourseError where nobody's can be written."""
    place = api(course).coursedir
    try:
        slow = _write(course, chapter, place, processes or at_once(), tell)
    except (CourseError, OSError, BrokenProcessPool) as error:
        broken = isinstance(error, BrokenProcessPool)
        said = f"{KILLED}{trouble.AGAIN}" if broken else trouble.advice(error)
        raise CourseError(f"all is graded, but feedback is missing: {said}") from error
    lacking = [student for student in named if not _current(place, chapter, student)]
    if not lacking:
        return []
    some = ", ".join(map(printable, lacking[:5])) + (", …" if len(lacking) > 5 else "")
    why = f"; {slow} took more than {pages.SECONDS:g} s and was given up" if slow else ""
    return [f"{chapter.name}: {len(lacking)} without feedback ({some}){why}"]


def _write(
    course: Course, chapter: Chapter, place: Any, processes: int, tell: Callable[[int, int], None]
) -> int:
    """How many pages took too long."""
    folder = place.format_path(place.feedback_directory, ".", ".")
    preflight.check_folders(folder, folder)
    kept, marked = _kept(course), by_hand(course, chapter)
    shown = kept.get(chapter.name)
    shown = shown if isinstance(shown, dict) else {}
    todo = [
        student
        for student, marks in sorted(marked.items())
        if marks != shown.get(student, []) or not _current(place, chapter, student)
    ]
    slow = 0
    for done, said in enumerate(pages.write(course.root, chapter.name, todo, processes), 1):
        tell(done, len(todo))
        slow += pages.TOO_SLOW in said
        if hint := trouble.hint(said):
            raise CourseError(hint)
    unopened.write(course, chapter, place, marked)
    given = {student: marks for student, marks in marked.items() if marks}
    if shown != given:
        _keep(course, {**kept, chapter.name: given})
    return slow


def _current(place: Any, chapter: Chapter, student: str) -> bool:
    """Whether every graded notebook has a page that shows it."""
    graded = Path(place.format_path(place.autograded_directory, student, chapter.name))
    shown = Path(place.format_path(place.feedback_directory, student, chapter.name))
    return all(pages.current(shown / f"{book.stem}.html", book) for book in graded.glob("*.ipynb"))


def _kept(course: Course) -> dict[str, Any]:
    """What was written down; nothing where it cannot be read."""
    try:
        read = json.loads((course.root / FOLDER / KEPT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _keep(course: Course, marks: dict[str, Any]) -> None:
    path = course.root / FOLDER / KEPT
    path.parent.mkdir(exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(marks, indent=1), "utf-8")
    os.replace(new, path)
