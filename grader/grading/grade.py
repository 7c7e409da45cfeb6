"""Grades what lies in submitted/ through nbgrader with the engine plugged in."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from ..build.release import api, register
from ..course import Chapter, Course, CourseError
from ..engine import patience, trouble
from ..engine.batch import GradingError
from ..engine.batch import grade as run_engine
from ..engine.executor import Executor
from ..engine.journal import Busy, Journal
from ..engine.outcome import Outcome, Run


def students(course: Course, chapter: Chapter) -> list[str]:
    """Who submitted the chapter."""
    folders = (course.root / "submitted").glob(f"*/{chapter.name}")
    return sorted(folder.parent.name for folder in folders if folder.is_dir())


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
    CourseError where there is nothing to grade or nothing could run.
    """
    named = students(course, chapter)
    if only is not None:
        named = [student for student in named if student in set(only)]
    if not named:
        raise CourseError(f"nothing in submitted/*/{chapter.name}/")
    patience.install()
    try:
        # A chapter's cells must not change under another run.
        with Journal(course.root).locked(), tempfile.TemporaryDirectory() as scratch:
            register(course, chapter, Path(scratch))
    except (CourseError, Busy, OSError) as error:
        raise CourseError(trouble.advice(error)) from error
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
        raise CourseError(str(error)) from error
    if not done.interrupted:
        _write_feedback(course, chapter)
    return done


def _write_feedback(course: Course, chapter: Chapter) -> None:
    """Feedback for all who were graded (nbgrader's faults of single students are in its log)."""
    told = api(course).generate_feedback(chapter.name, force=True)
    hint = None if told["success"] else trouble.hint(str(told.get("log")))
    if hint is not None:
        raise CourseError(f"all is graded, but feedback is missing: {hint}")
