"""Commands for those who grade: grade, demo, scores, report, doctor."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any, NoReturn

import typer
from rich.table import Table

from ..course import Chapter, Course, CourseError
from .app import chosen, command, err, out
from .author import Chapters
from .watching import Watch

Jobs = Annotated[int, typer.Option(help="Submissions at once; 0: one per core.")]
Unsandboxed = Annotated[
    bool, typer.Option("--allow-unsandboxed", help="Go on where the sandbox has gaps.")
]


@command
def grade(
    chapters: Chapters = None,
    student: Annotated[list[str] | None, typer.Option(help="Only these students.")] = None,
    jobs: Jobs = 0,
    force: Annotated[bool, typer.Option(help="Grade again what is already graded.")] = False,
    scheduler: Annotated[str, typer.Option(help="A Dask scheduler, tcp://…")] = "",
    allow_unsandboxed: Unsandboxed = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Grades whatever is in submitted/ and prints the scores.

    Exit code 0: all graded. 1: some have a fault recorded, or Ctrl-C. 2: nothing could run, or the
    machine stopped the run (a full disk, a locked gradebook); the message says what to do.
    """
    course, named = chosen(chapters)
    submitted = [c for c in named if chapters or _students(course, c)]
    if not submitted:
        raise CourseError("nothing to grade: submissions belong in submitted/<student>/<chapter>/")
    options: dict[str, Any] = {"jobs": jobs, "force": force, "allow_unsandboxed": allow_unsandboxed}
    code = 0
    if not scheduler:
        _warm_up(course)
    with _cluster(scheduler, course) as options["executor"]:
        if not as_json:
            _say_sandbox(course, elsewhere=bool(scheduler))
        for chapter in submitted:
            code = max(code, _grade(course, chapter, student, as_json=as_json, **options))
    raise typer.Exit(code)


@command
def demo(
    chapters: Chapters = None,
    size: Annotated[int, typer.Option(help="How many students.")] = 12,
    jobs: Jobs = 0,
    allow_unsandboxed: Unsandboxed = False,
) -> None:
    """Makes a class of demo students in submitted/ and grades it."""
    from ..grading import make_class

    course, named = chosen(chapters)
    options: dict[str, Any] = {"jobs": jobs, "force": True, "allow_unsandboxed": allow_unsandboxed}
    _warm_up(course)
    _say_sandbox(course)
    code = 0
    for chapter in named:
        made = make_class(course, chapter, size)
        out.print(f"{len(made)} demo students submit {chapter.name}")
        code = max(code, _grade(course, chapter, list(made), **options))
    raise typer.Exit(code)


@command
def scores(chapters: Chapters = None) -> None:
    """Prints the scores and named mistakes of what has been graded."""
    course, named = chosen(chapters)
    for chapter in named:
        _print(course, chapter)


@command
def report(chapters: Chapters = None) -> None:
    """Writes a page on the class: who passed, and which mistakes were made how often."""
    from ..grading.report import write

    course, named = chosen(chapters)
    for chapter in named:
        out.print(f"wrote {write(course, chapter).relative_to(course.root)}")


@command
def doctor() -> None:
    """Tells which sandbox layers this machine gives, and how to get the others."""
    from ..engine.batch import probe_sandbox
    from ..engine.sandbox.doctor import doctor as explain

    course = Course.find()
    for line in explain(probe_sandbox(course.root, tensorflow=False)):
        out.print(line, markup=False, soft_wrap=True)


def _warm_up(course: Course) -> None:
    """Start to import TensorFlow; all else that a run needs is imported meanwhile."""
    from ..engine import warm

    with suppress(OSError):  # who waits for it is told
        warm.zygote(course.root).launch()


def _say_sandbox(course: Course, elsewhere: bool = False) -> None:
    """The layers of the sandbox in one line, as a child of this run gets them."""
    if elsewhere:
        out.print("sandbox: each worker's own; one with gaps grades nothing")
        return
    from ..engine.batch import probe_sandbox
    from ..engine.sandbox import report

    with out.status("importing TensorFlow, once for all submissions"):
        found = probe_sandbox(course.root)
    out.print(report(found), markup=False, soft_wrap=True)


def _students(course: Course, chapter: Chapter) -> list[str]:
    from ..grading.grade import students

    return students(course, chapter)


@contextmanager
def _cluster(address: str | None, course: Course) -> Iterator[Any]:
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
    with client:
        yield DaskExecutor(client, course.root)


def _grade(
    course: Course,
    chapter: Chapter,
    only: Iterable[str] | None,
    *,
    as_json: bool = False,
    **options: Any,
) -> int:
    from ..grading import grade as run

    named = _students(course, chapter) if only is None else list(only)
    with Watch(len(named), out, as_json=as_json) as watch:
        done = run(course, chapter, only, watch=watch.hear, **options)
    if as_json:
        print(json.dumps({"chapter": chapter.name, "summary": watch.tally.line()}))
    else:
        out.print(f"{chapter.name}: {watch.tally.line()}", soft_wrap=True)
    if done.interrupted:
        err.print("stopped; what is done is kept, the next grader grade carries on")
        _leave(done.exit_code)
    if not as_json:
        _print(course, chapter, named)
    return int(done.exit_code)


def _leave(code: int) -> NoReturn:
    """End at once: taking all of Python's modules down takes longer than to stop the run."""
    from ..engine import warm

    warm.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _print(course: Course, chapter: Chapter, only: Iterable[str] | None = None) -> None:
    from ..grading import rows

    found = [row for row in rows(course, chapter) if only is None or row.student in only]
    exercises = list(chapter.exercises())
    table = Table(title=f"{chapter.name}: students × exercises", show_lines=True)
    table.add_column("student", no_wrap=True)
    table.add_column("score", justify="right")
    for exercise in exercises:
        table.add_column(exercise, overflow="fold")
    for row in found:
        cells = [_cell(row.of(exercise), row.mistakes(exercise)) for exercise in exercises]
        table.add_row(row.student, f"{row.score:.4g}", *cells)
    # A class is wider than most terminals: lines may be long, a reader can scroll.
    width = max(out.width, 22 + 16 * len(exercises))
    out.print(table, width=width, soft_wrap=True)


def _cell(points: tuple[float, float], mistakes: list[str]) -> str:
    earned, most = points
    return "\n".join([f"{earned:.4g}/{most:.4g}", *mistakes])
