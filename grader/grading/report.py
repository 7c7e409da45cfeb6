"""A page on the class: per exercise who passed, and which mistakes were made how often."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ..contract import Exercise
from ..course import Chapter, Course
from ..engine import preflight
from ..verdict.words import PATTERNS
from .book import Row, rows
from .render import render


@dataclass(frozen=True)
class Line:
    """One exercise over the whole class."""

    exercise: str
    passed: int
    partly: int
    students: int
    mean: float
    mistakes: tuple[tuple[str, int], ...]


def lines(found: list[Row], exercises: list[str]) -> list[Line]:
    """A line per exercise; mistakes by how often they were made."""
    return [_line(found, exercise) for exercise in exercises]


def _line(found: list[Row], exercise: str) -> Line:
    shares = [earned / most if most else 0.0 for earned, most in (r.of(exercise) for r in found)]
    made = Counter(word for row in found for word in row.mistakes(exercise))
    return Line(
        exercise,
        passed=sum(share >= 1 for share in shares),
        partly=sum(0 < share < 1 for share in shares),
        students=len(found),
        mean=sum(shares) / len(shares) if shares else 0.0,
        mistakes=tuple(made.most_common()),
    )


def _says(exercise: Exercise) -> dict[str, str]:
    """What is behind the name of a mistake, in the learner's words, with no marks of code."""
    general = {name: says.replace("{factor}", "so many") for name, says in PATTERNS.items()}
    says = {**general, **{mistake.name: mistake.says for mistake in exercise.mistakes}}
    return {name: text.replace("`", "") for name, text in says.items()}


def write(course: Course, chapter: Chapter) -> Path:
    """Writes report/<chapter>.html and returns its path. CourseError where a file is in its way."""
    folder = str(course.root / "report")
    preflight.check_folders(folder, folder)
    found = rows(course, chapter)
    exercises = chapter.exercises()
    path = course.root / "report" / f"{chapter.name}.html"
    path.parent.mkdir(exist_ok=True)
    told = {"rows": found, "lines": lines(found, list(exercises)), "exercises": list(exercises)}
    told["says"] = {name: _says(exercise) for name, exercise in exercises.items()}
    text = render("report.html", chapter=chapter, **told)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")  # a folder's name may be odd
    return path
