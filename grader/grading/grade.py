"""Grades what lies in submitted/ through nbgrader with the engine plugged in."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..build.release import api, register
from ..course import Chapter, Course, CourseError
from ..engine import patience, preflight, trouble
from ..engine.batch import GradingError
from ..engine.batch import grade as run_engine
from ..engine.executor import Executor
from ..engine.host import ZygoteError
from ..engine.journal import Busy, Journal
from ..engine.outcome import Outcome, Run
from ..engine.printable import printable
from ..engine.work import Unsafe

ELSEWHERE = (Busy, Unsafe, ZygoteError)


class Halted(CourseError):
    """The machine, or another run, is in the way: the next chapter would fare no better."""


def grade(
    course: Course,
    chapter: Chapter,
    only: Iterable[str] | None = None,
    *,
    jobs: int = 0,
    force: bool = False,
    allow_unsandboxed: bool = False,
    executor: Executor | None = None,
    watch: Callable[[Outcome], None] | None = None,
) -> Run:
    """Grades the submissions of a chapter and writes their feedback.

    only: these students, else all. jobs: children at once (0: one per core). force: grade again
    what is already graded. watch: hears of every submission as it starts and ends.
    CourseError where there is nothing to grade or nothing could run, Halted where that is the
    machine's doing.
    """
    named = chapter.students
    if only is not None:
        named = [student for student in named if student in set(only)]
    if not named:
        raise CourseError(f"nothing in submitted/*/{chapter.name}/")
    patience.install()
    try:
        # A chapter's cells must not change under another run.
        with Journal(course.root).locked(), tempfile.TemporaryDirectory() as scratch:
            preflight.check_gradebook(api(course).coursedir.db_url)
            register(course, chapter, Path(scratch))
    except (CourseError, Busy, OSError) as error:
        raise _told(error) from error
    try:
        done = run_engine(
            course.root,
            chapter.name,
            named,
            jobs=jobs,
            force=force,
            allow_unsandboxed=allow_unsandboxed,
            executor=executor,
            watch=watch,
        )
    except GradingError as error:
        raise _told(error) from error
    if not done.interrupted:
        done.warnings += _write_feedback(course, chapter, named)
    return done


def _told(error: Exception) -> CourseError:
    said = trouble.advice(error)
    machine = any(isinstance(each, ELSEWHERE) for each in trouble.chain(error))
    machine = machine or said.endswith(trouble.AGAIN)
    return Halted(said) if machine else CourseError(said)


def _write_feedback(course: Course, chapter: Chapter, named: list[str]) -> list[str]:
    """Feedback for all who were graded; a warning if some have none. CourseError where nobody's
    can be written."""
    nbgrader = api(course)
    place = nbgrader.coursedir
    folder = place.format_path(place.feedback_directory, ".", ".")
    try:
        preflight.check_folders(folder, folder)
        told = nbgrader.generate_feedback(chapter.name, force=True)
        hint = None if told["success"] else trouble.hint(str(told.get("log")))
    except (CourseError, OSError) as error:
        hint = trouble.advice(error)
    if hint is not None:
        raise CourseError(f"all is graded, but feedback is missing: {hint}")
    lacking = [student for student in named if _lacks_feedback(place, chapter, student)]
    if not lacking:
        return []
    some = ", ".join(map(printable, lacking[:5])) + (", …" if len(lacking) > 5 else "")
    return [f"{chapter.name}: {len(lacking)} without feedback ({some})"]


def _lacks_feedback(place: Any, chapter: Chapter, student: str) -> bool:
    """Whether a graded notebook has no page that is as new."""
    graded = Path(place.format_path(place.autograded_directory, student, chapter.name))
    pages = Path(place.format_path(place.feedback_directory, student, chapter.name))
    return any(
        not (page := pages / f"{book.stem}.html").is_file()
        or page.stat().st_mtime < book.stat().st_mtime
        for book in graded.glob("*.ipynb")
    )
