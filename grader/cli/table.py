"""Scores as a table: students in rows, exercises in columns."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from ..course import Chapter, Course
from ..engine.printable import printable
from .app import out

if TYPE_CHECKING:
    from ..grading import Row

COLUMN = 18  # characters that an exercise's column needs at least, its border included
BORDER = 3
FIRST = 22  # of student and score, where nobody's name is long


def show(course: Course, chapter: Chapter, only: Collection[str] | None = None) -> None:
    """Prints the scores and named mistakes of a chapter, of all students or of those in `only`."""
    from ..grading import rows

    found = rows(course, chapter, only)
    first = max([FIRST, *map(_first, found)])
    for exercises in _side_by_side(list(chapter.exercises()), first):
        needed = first + sum(map(_width, exercises))
        more = max(0, out.width - needed) // max(1, len(exercises))
        table = _table(exercises, found, more)
        table.title = Text(f"{chapter.name}: students × exercises")
        _print(table, needed)
    for row in found:
        if row.fault:
            said = f"{printable(row.student)}: not graded as it should be: {row.fault}"
            out.print(said, markup=False, soft_wrap=True)
        if row.notes:
            said = f"{printable(row.student)}: {'; '.join(row.notes)}"
            out.print(said, markup=False, soft_wrap=True)


def _table(exercises: list[str], found: list[Row], more: int) -> Table:
    """These exercises' columns, each at most `more` characters wider than it needs: were they
    together wider than the console, rich would break names."""
    table = Table(show_lines=True)
    table.add_column("student", no_wrap=True)
    table.add_column("score", justify="right")
    for exercise in exercises:
        most = _width(exercise) - BORDER + more
        table.add_column(Text(exercise), overflow="fold", max_width=most)
    for row in found:
        cells = [_cell(row.of(exercise), row.mistakes(exercise)) for exercise in exercises]
        table.add_row(Text(printable(row.student)), _score(row), *cells)
    return table


def _width(exercise: str) -> int:
    return max(COLUMN, len(exercise) + BORDER)


def _first(row: Row) -> int:
    """What a student and the score need side by side, with their borders."""
    score = max(len("score"), *map(len, _score(row).plain.split("\n")))
    return cell_len(printable(row.student)) + score + 2 * BORDER + 1


def _side_by_side(exercises: list[str], first: int) -> list[list[str]]:
    """The exercises of each table: on a terminal, which would break long lines, as many as fit."""
    tables: list[list[str]] = [[]]
    left = out.width - first
    for exercise in exercises:
        if out.is_terminal and tables[-1] and left < _width(exercise):
            tables.append([])
            left = out.width - first
        tables[-1].append(exercise)
        left -= _width(exercise)
    return tables


def _print(table: Table, width: int) -> None:
    """rich has no table that is wider than its console."""
    narrow, out.width = out.width, max(out.width, width)
    try:
        out.print(table, soft_wrap=True)
    finally:
        out.width = narrow


def _score(row: Row) -> Text:
    late = f"\n{row.penalty:.4g} off: late" if row.penalty else ""
    return Text(f"{row.score:.4g}{late}")


def _cell(points: tuple[float, float], mistakes: list[str]) -> Text:
    """Never markup: a student may have had a say in what a mistake is called."""
    earned, most = points
    return Text("\n".join([f"{earned:.4g}/{most:.4g}", *(f"· {each}" for each in mistakes)]))
