"""Grades what lies in submitted/ through nbgrader's own autograde and feedback."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..build.release import api, register
from ..course import Chapter, Course, CourseError


@dataclass(frozen=True)
class Graded:
    """What became of one submission: graded, or why not."""

    student: str
    ok: bool
    reason: str = ""


def students(course: Course, chapter: Chapter) -> list[str]:
    """Who submitted the chapter."""
    folders = (course.root / "submitted").glob(f"*/{chapter.name}")
    return sorted(folder.parent.name for folder in folders if folder.is_dir())


def course_key(course: Course) -> bytes:
    """The secret from which hidden inputs are drawn; made on first use, readable by its owner."""
    path = course.root / ".course_key"
    if not path.is_file():
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
    return path.read_bytes()


def grade(course: Course, chapter: Chapter, only: list[str] | None = None) -> Iterator[Graded]:
    """Grades each submission of the chapter in turn; yields as each one is done.

    CourseError where there is nothing to grade or the gradebook cannot be made.
    """
    named = [s for s in students(course, chapter) if only is None or s in only]
    if not named:
        raise CourseError(f"nothing in submitted/*/{chapter.name}/")
    course_key(course)
    with tempfile.TemporaryDirectory() as scratch:
        register(course, chapter, Path(scratch))
    nbgrader = api(course)
    for student in named:
        result = nbgrader.autograde(chapter.name, student, force=True, create=True)
        yield Graded(student, result["success"], _last_line(result))
    nbgrader.generate_feedback(chapter.name, force=True)


def _last_line(result: dict[str, Any]) -> str:
    lines = str(result.get("error") or result.get("log") or "").strip().splitlines()
    return lines[-1] if lines and not result["success"] else ""
