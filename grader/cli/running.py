"""What `grader grade` and `grader demo` go through: what to grade, where, and what to say of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import Any, NoReturn

from ..course import Chapter, Course, CourseError
from ..engine.printable import printable
from .app import complain, err, out
from .table import show
from .watching import Watch

WORKERS = "sandbox: each worker's own; one with gaps grades nothing"


def warm_up(course: Course) -> None:
    """Start to import TensorFlow; all else that a run needs is imported meanwhile."""
    from ..engine import warm

    with suppress(OSError):  # who waits for it is told
        warm.ahead(course.root)


def say_sandbox(course: Course, *, elsewhere: bool = False, as_json: bool = False) -> None:
    """The layers of the sandbox in one line, as a child of this run gets them. CourseError where
    the course's configuration cannot be read."""
    from ..build.release import config

    config(course)  # nbgrader's own loading logs a traceback
    said = WORKERS if elsewhere else _layers(course, quiet=as_json)
    if as_json:
        said = json.dumps({"sandbox": said.removeprefix("sandbox: ")})
    out.print(said, markup=False, soft_wrap=True)


def _layers(course: Course, quiet: bool) -> str:
    from ..engine.batch import probe_sandbox
    from ..engine.sandbox import report

    waits = out.status("importing TensorFlow, once for all submissions")
    with waits if out.is_terminal and not quiet else nullcontext():
        return report(probe_sandbox(course.root))


def todo(
    chapters: list[Chapter], asked: list[str] | None
) -> tuple[list[tuple[Chapter, list[str] | None]], int]:
    """The chapters to grade, and of each the students asked for who submitted it (None: all); and
    an exit code: 1 where somebody was asked for who is not there."""
    if not chapters:
        raise CourseError("nothing to grade: submissions belong in submitted/<student>/<chapter>/")
    if not asked:
        return [(chapter, None) for chapter in chapters], 0
    there = [(chapter, set(chapter.students)) for chapter in chapters]
    unknown = [each for each in asked if not any(each in who for _, who in there)]
    if unknown:
        named = ", ".join(map(printable, dict.fromkeys(unknown)))
        said = f"nothing submitted by {named} in {', '.join(c.name for c in chapters)}"
        if len(unknown) == len(asked):
            raise CourseError(said)
        complain(said)
    wanted = [(chapter, [each for each in dict.fromkeys(asked) if each in who])
              for chapter, who in there]  # fmt: skip
    return [(chapter, only) for chapter, only in wanted if only], int(bool(unknown))


@contextmanager
def telling_misfiled(
    course: Course, chapters: list[Chapter], students: list[str] | None
) -> Iterator[int]:
    """An exit code: 1 where something seems to lie in a wrong folder. Said last, to be seen."""
    from .misfiled import misfiled

    found = misfiled(course, chapters, students)
    try:
        yield int(bool(found))
    finally:
        for said in found:
            complain(said)


@contextmanager
def cluster(address: str | None, course: Course) -> Iterator[Any]:
    """An executor on the cluster behind `address`; None without one."""
    if not address:
        yield None
        return
    from distributed import Client

    from ..engine.dask import DaskExecutor

    try:
        client = Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise CourseError(f"no Dask scheduler answers at {address}: {error}") from error
    if not client.nthreads():
        err.print(f"no worker has joined the cluster at {address} yet: waiting", soft_wrap=True)
    with client:
        yield DaskExecutor(client, course.root)


def grade_next(
    course: Course, chapter: Chapter, only: list[str] | None, *, last: bool, **options: Any
) -> int:
    """The exit code of one chapter; what is wrong with that chapter alone stops no other one."""
    from ..grading.grade import Halted

    try:
        return grade_one(course, chapter, only, **options)
    except CourseError as error:
        if last or isinstance(error, Halted):
            raise
        complain(f"{chapter.name}: {error}")
        return 2


def grade_one(
    course: Course,
    chapter: Chapter,
    only: Iterable[str] | None,
    *,
    as_json: bool = False,
    ready: Callable[[], None] = lambda: None,
    **options: Any,
) -> int:
    """Grade a chapter, show how it goes and what came of it; the exit code. CourseError where it
    could not be graded, or not all could be shown. `ready` is called before the first one runs."""
    from ..grading import grade as run

    named = chapter.students if only is None else list(only)
    watch = Watch(len(named), out, as_json=as_json)
    with ExitStack() as shown:

        def begin() -> None:
            ready()
            shown.enter_context(watch)

        options["writers"] = options.get("jobs", 0)
        done = run(
            course, chapter, only, watch=watch.hear, tell=watch.pages, ready=begin, **options
        )
    if as_json:
        said = {"chapter": chapter.name, "summary": watch.tally.line()}
        out.out(json.dumps(said), highlight=False)
    else:
        out.print(f"{chapter.name}: {watch.tally.line()}", markup=False, soft_wrap=True)
    if done.interrupted:
        err.print("stopped; what is done is kept, the next grader grade carries on")
        _leave(done.exit_code)
    if not as_json:
        show(course, chapter, named)
    for warning in done.warnings:
        err.print(warning, markup=False, soft_wrap=True)
    if done.unseen:
        raise CourseError(f"graded, but not all of it could be shown: {done.unseen}")
    return int(done.exit_code)


def _leave(code: int) -> NoReturn:
    """End at once: taking all of Python's modules down takes longer than to stop the run."""
    from ..engine import warm

    warm.close()
    with suppress(OSError, AttributeError):  # nobody reads it any more, or it was closed
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
