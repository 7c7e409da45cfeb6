"""Commands for those who grade: grade, demo, scores, report, doctor."""

from __future__ import annotations

from functools import cache as once
from typing import Annotated, Any

import typer

from ..course import Chapter, Course
from .app import chosen, command, out
from .author import Chapters
from .running import cluster, grade_next, grade_one, say_sandbox, telling_misfiled, todo, warm_up
from .table import show

Jobs = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Submissions at once; 0: one per core, and per GiB of free memory."
    ),
]
Unsandboxed = Annotated[
    bool, typer.Option("--allow-unsandboxed", help="Go on where the sandbox has gaps.")
]


@command
def grade(
    chapters: Chapters = None,
    student: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this student; may be repeated.")
    ] = None,
    jobs: Jobs = 0,
    force: Annotated[bool, typer.Option(help="Grade again what is already graded.")] = False,
    scheduler: Annotated[str, typer.Option(metavar="URL", help="A Dask scheduler, tcp://…")] = "",
    allow_unsandboxed: Unsandboxed = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Grades whatever is in submitted/ and prints the scores.

    Exit code 0: all graded. 1: some have a fault recorded, lack feedback or lie in a wrong folder,
    or Ctrl-C. 2: nothing could run, or the machine stopped the run (a full disk, a locked
    gradebook); the message says what to do.
    """
    course, named = chosen(chapters)
    with telling_misfiled(course, named, student) as lost:
        planned, code = todo([c for c in named if chapters or c.students], student)
        options: dict[str, Any] = {"jobs": jobs, "force": force, "as_json": as_json}
        options["allow_unsandboxed"] = allow_unsandboxed
        if not scheduler:
            warm_up(course)
        options["ready"] = once(
            lambda: say_sandbox(course, elsewhere=bool(scheduler), as_json=as_json)
        )
        with cluster(scheduler, course) as options["executor"]:
            for chapter, only in planned:
                done = grade_next(course, chapter, only, last=len(planned) == 1, **options)
                code = max(code, done)
    raise typer.Exit(max(code, lost))


@command
def demo(
    chapters: Chapters = None,
    size: Annotated[int, typer.Option(min=1, metavar="N", help="How many students.")] = 12,
    jobs: Jobs = 0,
    allow_unsandboxed: Unsandboxed = False,
) -> None:
    """Makes a class of demo students in submitted/ and grades it."""
    from ..grading import make_class

    course, named = chosen(chapters)
    options: dict[str, Any] = {"jobs": jobs, "force": True, "allow_unsandboxed": allow_unsandboxed}
    options["ready"] = once(lambda: say_sandbox(course))
    warm_up(course)
    code = 0
    for chapter in named:
        made = make_class(course, chapter, size)
        out.print(f"{len(made)} demo students submit {chapter.name}")
        code = max(code, grade_one(course, chapter, list(made), **options))
    raise typer.Exit(code)


@command
def scores(chapters: Chapters = None) -> None:
    """Prints the scores and named mistakes of what has been graded."""
    course, found = _graded(chapters)
    for chapter in found:
        show(course, chapter)


@command
def report(chapters: Chapters = None) -> None:
    """Writes a page on the class: who passed, and which mistakes were made how often."""
    from ..grading.report import write

    course, found = _graded(chapters)
    for chapter in found:
        out.print(f"wrote {write(course, chapter).relative_to(course.root)}")


def _graded(names: list[str] | None) -> tuple[Course, list[Chapter]]:
    """The chapters named (all where none is) that have scores; a line for each that was named and
    has none, and one if there are no scores at all."""
    from ..grading import graded

    course, named = chosen(names)
    found = [chapter for chapter in named if graded(course, chapter)]
    for chapter in named if names else []:
        if chapter not in found:
            said = f"{chapter.name}: nothing has been graded yet; grader grade {chapter.name[:2]}"
            out.print(said, soft_wrap=True)
    if not names and not found:
        out.print("nothing has been graded yet; grader grade")
    return course, found


@command
def doctor() -> None:
    """Tells which sandbox layers this machine gives, and how to get the others."""
    from ..build.release import config
    from ..engine.batch import probe_sandbox
    from ..engine.sandbox.doctor import doctor as explain

    course = Course.find()
    config(course)
    for line in explain(probe_sandbox(course.root, tensorflow=False)):
        out.hang(line)
