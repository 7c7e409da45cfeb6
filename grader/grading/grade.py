"""Grades what lies in submitted/ through nbgrader with the engine plugged in."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from ..build.release import api, register
from ..course import Chapter, Course, CourseError
from ..engine import interrupt, patience, preflight, trouble
from ..engine.batch import GradingError
from ..engine.batch import grade as run_engine
from ..engine.executor import Executor
from ..engine.host import ZygoteError
from ..engine.journal import Busy, Journal
from ..engine.outcome import Outcome, Run
from ..engine.work import Unsafe
from . import feedback

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
    writers: int = 1,
    tell: Callable[[int, int], None] = lambda done, of: None,
    ready: Callable[[], None] = lambda: None,
) -> Run:
    """Grades the submissions of a chapter and writes their feedback.

    only: these students, else all. jobs: children at once (0: as `at_once`). force: grade again
    what is already graded. watch: hears of every submission as it starts and ends. writers:
    processes that write feedback (0: as `at_once`); with more than one the program that calls this
    must be one that multiprocessing can import. tell: hears how many pages of how many are written.
    ready: called once the chapter's cells are in the gradebook, before anything is graded.
    CourseError where there is nothing to grade or nothing could run, Halted where that is the
    machine's doing.
    """
    named = chapter.students
    if only is not None:
        named = [student for student in named if student in set(only)]
    if not named:
        raise CourseError(
            f"nothing to grade: submissions belong in submitted/<student>/{chapter.name}/"
        )
    patience.install()
    _register(course, chapter)
    try:
        ready()
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
        try:
            done.warnings += feedback.write(course, chapter, named, writers, tell)
        except KeyboardInterrupt:
            done.interrupted = True
    return done


def _register(course: Course, chapter: Chapter) -> None:
    try:
        # A chapter's cells must not change under another run.
        with Journal(course.root).locked(), tempfile.TemporaryDirectory() as scratch:
            _gradebook(api(course).coursedir)
            register(course, chapter, Path(scratch))
    except (CourseError, Busy, OSError) as error:
        raise _told(error) from error


def _gradebook(place: Any) -> None:
    """Make the gradebook where there is none. Cut short while nbgrader asks alembic for its
    version, it could never be upgraded."""
    preflight.check_gradebook(place.db_url)
    file = preflight.gradebook_file(place.db_url)
    if file and not Path(file).exists():
        with interrupt.held():
            Gradebook(place.db_url, place.course_id).close()


def _told(error: Exception) -> CourseError:
    said = trouble.advice(error)
    machine = any(isinstance(each, ELSEWHERE) for each in trouble.chain(error))
    machine = machine or said.endswith(trouble.AGAIN)
    return Halted(said) if machine else CourseError(said)
