"""A page for whoever has no graded notebook: nbgrader writes feedback on graded notebooks only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import words
from ..course import Chapter, Course
from ..engine import preflight
from ..engine.journal import Journal
from ..engine.outcome import FAULT
from .render import render


def write(course: Course, chapter: Chapter, place: Any, students: Iterable[str]) -> None:
    """For each of `students` whose submission has a fault and no graded notebook, a feedback page
    with the reason. `place` is nbgrader's CourseDirectory; graded later, the page is replaced.
    CourseError where a file lies in its way."""
    journal = Journal(course.root)
    for student in students:
        told = journal.ended(chapter.name, student)
        graded = Path(place.format_path(place.autograded_directory, student, chapter.name))
        if told.state != FAULT or any(graded.glob("*.ipynb")):
            continue
        folder = place.format_path(place.feedback_directory, student, chapter.name)
        preflight.check_folders(folder, place.feedback_directory)
        page = Path(folder) / f"{chapter.name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(_text(chapter, told.reason), encoding="utf-8")


def _text(chapter: Chapter, reason: str) -> str:
    said = {"title": words.NOT_GRADED, "reason": reason, "says": words.NOT_GRADED_SAYS}
    return render("unopened.html", chapter=chapter, **said)
