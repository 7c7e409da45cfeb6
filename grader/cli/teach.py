"""Commands for those who grade: grade, demo, scores."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from ..course import Chapter, Course
from .app import chosen, command, err, out
from .author import Chapters


@command
def grade(
    chapters: Chapters = None,
    student: Annotated[list[str] | None, typer.Option(help="Only these students.")] = None,
) -> None:
    """Grades whatever is in submitted/ and prints the scores."""
    course, named = chosen(chapters)
    faults = 0
    for chapter in named:
        faults += _grade(course, chapter, student)
    if faults:
        raise typer.Exit(1)


@command
def demo(
    chapters: Chapters = None,
    size: Annotated[int, typer.Option(help="How many students.")] = 12,
) -> None:
    """Makes a class of demo students in submitted/ and grades it."""
    from ..grading import make_class

    course, named = chosen(chapters)
    for chapter in named:
        made = make_class(course, chapter, size)
        out.print(f"{len(made)} demo students submit {chapter.name}")
        _grade(course, chapter, list(made))


@command
def scores(chapters: Chapters = None) -> None:
    """Prints the scores and named mistakes of what has been graded."""
    course, named = chosen(chapters)
    for chapter in named:
        _print(course, chapter)


def _grade(course: Course, chapter: Chapter, only: list[str] | None) -> int:
    from ..grading import grade as run

    faults = 0
    for done in run(course, chapter, only):
        if done.ok:
            out.print(f"  graded {done.student}")
        else:
            faults += 1
            err.print(f"  [red]fault[/] {done.student}: {done.reason}", soft_wrap=True)
    _print(course, chapter)
    return faults


def _print(course: Course, chapter: Chapter) -> None:
    from ..grading import rows

    found = rows(course, chapter)
    exercises = list(chapter.exercises())
    table = Table(title=f"{chapter.name}: students × exercises", show_lines=True)
    table.add_column("student", no_wrap=True)
    table.add_column("score", justify="right")
    for exercise in exercises:
        table.add_column(exercise, overflow="fold")
    for row in found:
        cells = [_cell(row.of(exercise), row.mistakes(exercise)) for exercise in exercises]
        table.add_row(row.student, f"{row.score:.4g}", *cells)
    # A class is wider than most terminals: off a terminal, and on narrow ones, let lines be long.
    width = max(out.width, 22 + 16 * len(exercises))
    out.print(table, width=width, soft_wrap=True)


def _cell(points: tuple[float, float], mistakes: list[str]) -> str:
    earned, most = points
    return "\n".join([f"{earned:.4g}/{most:.4g}", *mistakes])
