"""A class to try grading on: answers from answers.py put into the released notebooks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import nbformat

from ..build.cells import read
from ..course import Chapter, Course, CourseError

PREFIX = "demo-"
MADE = re.compile(rf"{PREFIX}\d{{2,}}")
SIZE = 12
_ABSENT = "not attempted"
_BROKEN = "raising"
Answers = Mapping[str, Mapping[str, str]]


def choices(chapter: Chapter) -> dict[str, dict[str, str]]:
    """Exercise to name to text of every answer a demo student may give, the solution included."""
    solutions = {c.metadata.answer: c.source for c in read(chapter).cells if "answer" in c.metadata}
    written = getattr(chapter.load("answers"), "ANSWERS", None)
    if not isinstance(written, Mapping):
        raise CourseError(f"{chapter.name}: answers.py has no dictionary ANSWERS")
    return {
        name: {"the solution": text, **written.get(name, {})} for name, text in solutions.items()
    }


def roster(chapter: Chapter, size: int = SIZE) -> dict[str, dict[str, str]]:
    """Student to exercise to the name of the answer given.

    The first knows everything, the second nothing, the third's code raises; the others go through
    right and wrong answers in turn, so that a class covers as many answers as it has room for.
    """
    offered = choices(chapter)
    students: dict[str, dict[str, str]] = {}
    for number in range(size):
        name = f"{PREFIX}{number + 1:02}"
        if number < 3:
            what = ("the solution", _ABSENT, _BROKEN)[number]
            students[name] = dict.fromkeys(offered, what)
        else:
            students[name] = {
                exercise: [*offered[exercise], _ABSENT][
                    (number - 2 + i) % (len(offered[exercise]) + 1)
                ]
                for i, exercise in enumerate(offered)
            }
    return students


def make_class(course: Course, chapter: Chapter, size: int = SIZE) -> dict[str, dict[str, str]]:
    """Writes the class into submitted/, replacing an earlier demo class; returns the roster.
    CourseError, and no change, where the chapter has not been built."""
    if not chapter.notebook.is_file():
        missing = chapter.notebook.relative_to(course.root)
        raise CourseError(f"{missing} is missing: grader build {chapter.name[:2]} makes it")
    made = roster(chapter, size)
    offered = choices(chapter)
    for old in (course.root / "submitted").glob(f"{PREFIX}*/{chapter.name}"):
        if MADE.fullmatch(old.parent.name):  # demo-anna may be somebody
            shutil.rmtree(old)
            with suppress(OSError):  # other chapters may be in it
                old.parent.rmdir()
    for student, given in made.items():
        target = course.root / "submitted" / student / chapter.name
        target.mkdir(parents=True)
        texts = {name: text_of(offered, name, what) for name, what in given.items()}
        _submit(chapter.notebook, target / chapter.notebook.name, texts)
    return made


def text_of(offered: Answers, exercise: str, what: str) -> str | None:
    """The text of an answer cell; None leaves the starter."""
    if what == _ABSENT:
        return None
    if what == _BROKEN:
        return f'{exercise} = None\nraise ValueError("no idea")'
    return offered[exercise][what]


def _submit(released: Path, target: Path, texts: Mapping[str, str | None]) -> None:
    book = nbformat.read(released, as_version=4)
    for cell in book.cells:
        text = texts.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if text is not None:
            cell.source = text.strip()
    nbformat.write(book, target)
