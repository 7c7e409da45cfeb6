"""The learner's notebook, by nbgrader's own generate_assignment and the course's config."""

from __future__ import annotations

import logging
import re
import warnings
from pathlib import Path
from typing import Any

from traitlets import TraitError
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from ..course import MARK, Chapter, Course, CourseError

FIXED = {  # where the course looks itself, without nbgrader
    "source_directory": "solutions",
    "release_directory": "notebooks",
    "submitted_directory": "submitted",
    "directory_structure": "{nbgrader_step}/{student_id}/{assignment_id}",
}


def config(course: Course) -> Config:
    """The course's nbgrader_config.py, with its root set. CourseError where it cannot be read."""
    if odd := sorted({*str(course.root)} & {*"$*?[]"}):  # nbgrader takes them for something else
        raise CourseError(
            f"the course's path has {' and '.join(odd)} in it: rename the folder {course.root}"
        )
    try:
        loaded = PyFileConfigLoader(MARK, str(course.root)).load_config()
    except Exception as error:
        raise CourseError(f"{MARK}: {type(error).__name__}: {error}") from error
    loaded.CourseDirectory.root = str(course.root)
    return loaded


def _check_places(course: Course, settings: Config) -> None:
    from nbgrader.coursedir import CourseDirectory

    try:
        held = CourseDirectory(config=settings)
    except TraitError as error:
        raise CourseError(f"{MARK}: TraitError: {error}") from error
    for name, place in FIXED.items():
        if course.root / getattr(held, name) != course.root / place:
            said = f"c.CourseDirectory.{name} is {getattr(held, name)!r}"
            raise CourseError(f"{MARK}: {said}; grader knows {place!r} alone: set it to that")


def api(course: Course, **directories: str) -> Any:
    """nbgrader's API on the course; other directories on request (`release_directory="…"`).
    CourseError where the configuration moves what has its place in a course."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    # nbgrader's own models make SQLAlchemy 2 warn at every new submission; it is harmless there.
    warnings.filterwarnings("ignore", message="Object of type <Submitted")
    settings = config(course)
    _check_places(course, settings)
    for name, value in directories.items():
        settings.CourseDirectory[name] = value
    made = NbGraderAPI(coursedir=CourseDirectory(config=settings), config=settings)
    made.log.setLevel(logging.WARNING)
    return made


def release(chapter: Chapter, source: Path, out: Path) -> bytes:
    """The learner's notebook made from `source/<chapter>/`, as bytes. No database is touched.

    CourseError carries nbgrader's own words where it refuses.
    """
    nbgrader = api(Course(chapter.root), source_directory=str(source), release_directory=str(out))
    nbgrader.config.GenerateAssignment.no_database = True
    nbgrader.config.SaveCells.enabled = False
    _generate(nbgrader, chapter)
    return (out / chapter.name / f"{chapter.name}.ipynb").read_bytes()


def register(course: Course, chapter: Chapter, scratch: Path) -> None:
    """Tells the gradebook about a chapter's cells, as generate_assignment does, and nothing else.

    The notebooks in notebooks/ stay as they are: the release goes to `scratch`.
    """
    nbgrader = api(course, release_directory=str(scratch))
    _generate(nbgrader, chapter)


def _generate(nbgrader: Any, chapter: Chapter) -> None:
    result = nbgrader.generate_assignment(chapter.name, force=True, create=True)
    if str(result.get("error")).rstrip().endswith("KeyboardInterrupt"):
        raise KeyboardInterrupt  # nbgrader makes Ctrl-C a failure like any other
    if not result["success"]:
        raise CourseError(_refusal(chapter, result))


def _refusal(chapter: Chapter, result: dict[str, Any]) -> str:
    """Why nbgrader refused, without its traceback: what there is to do where that is known, else
    the last error named, else its first line."""
    from ..engine import trouble

    log = str(result.get("log") or result.get("error") or "")
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b.*: ", line)]
    said = (named[-1:] or lines[:1] or ["no reason given"])[0]
    hint = trouble.hint(log, f" ({said[:300]})")
    return hint or f"nbgrader generate_assignment {chapter.name}: {said}"
