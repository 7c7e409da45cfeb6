"""From the text notebook to the instructor's notebook: answer cells and check cells.

In the source an answer cell says `:answer: <id>` and an empty cell with `:check: <id>` stands for
the exercise's check cells, one per part. What nbgrader needs to know of them is added here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import jupytext
import nbformat
from nbformat.v4 import new_code_cell

from ..contract import Exercise
from ..course import Chapter, CourseError
from ..key import terms
from .starter import StarterError, starter

TOTAL = 100
SCHEMA = 3
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

_CHECK = """check("{id}", {id}, part="{part}")
### BEGIN HIDDEN TESTS
check("{id}", {id}, part="{part}", fresh=True)
### END HIDDEN TESTS"""

# nbgrader takes a number as the last value of a graded cell for partial credit.
_TABLE = """check("{id}", {id})
### BEGIN HIDDEN TESTS
from grader import partial_credit
partial_credit("{id}", {id}, points={points})
### END HIDDEN TESTS"""


def read(chapter: Chapter) -> nbformat.NotebookNode:
    """The text notebook as it is written."""
    return jupytext.read(chapter.source, fmt="md:myst")


def starters(chapter: Chapter) -> dict[str, str]:
    """The starter of every exercise, by its id. CourseError where its marks do not pair up."""
    cells = [cell for cell in read(chapter).cells if "answer" in cell.metadata]
    return {c.metadata.answer: _starter(c.metadata.answer, c.source, chapter) for c in cells}


def _starter(exercise: str, source: str, c: Chapter) -> str:
    try:
        return starter(source)
    except StarterError as error:
        raise CourseError(f"{c.name}.md: {exercise}: {error}") from None


def points(exercises: Mapping[str, Exercise]) -> dict[tuple[str, str], int]:
    """Whole points per exercise and part, by their weights, so that the chapter makes 100."""
    weights = {(e.id, part): w for e in exercises.values() for part, w in e.parts.items()}
    scale = TOTAL / sum(weights.values())
    exact = {name: w * scale for name, w in weights.items()}
    whole = {name: max(1, int(value)) for name, value in exact.items()}
    # Largest remainders first; ties go to the earlier exercise.
    order = sorted(exact, key=lambda name: whole[name] - exact[name])
    spare = TOTAL - sum(whole.values())
    for i in range(abs(spare)):
        name = order[i % len(order)] if spare > 0 else order[-1 - i % len(order)]
        whole[name] += 1 if spare > 0 else -1
    return whole


def notebook(chapter: Chapter, exercises: Mapping[str, Exercise]) -> nbformat.NotebookNode:
    """The instructor's notebook. CourseError where cells and contracts do not match."""
    book = read(chapter)
    share = points(exercises)
    cells = [made for cell in book.cells for made in _expand(cell, exercises, share, chapter)]
    _check_complete(cells, exercises, chapter)
    book.cells = cells
    book.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    book.nbformat, book.nbformat_minor = 4, 5
    _name_cells(cells)
    return book


def _expand(
    cell: Any, exercises: Mapping[str, Exercise], share: Mapping[tuple[str, str], int], c: Chapter
) -> Iterator[Any]:
    answer, check = cell.metadata.pop("answer", None), cell.metadata.pop("check", None)
    for name in (answer, check):
        if name is not None and name not in exercises:
            raise CourseError(f"{c.name}.md names {name!r}, which reference.py does not declare")
    if answer is not None:
        _starter(answer, cell.source, c)
        cell.metadata["nbgrader"] = _nbgrader(answer, solution=True)
        yield cell
    elif check is not None:
        for part in exercises[check].parts:
            yield _check_cell(exercises[check], part, share[check, part])
    else:
        yield cell


def _check_cell(exercise: Exercise, part: str, worth: int) -> Any:
    template = _TABLE if terms(exercise).by_entry else _CHECK
    cell = new_code_cell(template.format(id=exercise.id, part=part, points=worth))
    cell.metadata["nbgrader"] = _nbgrader(f"{exercise.id}-{part}", points=worth)
    return cell


def _nbgrader(grade_id: str, *, solution: bool = False, points: int = 0) -> dict[str, Any]:
    graded = {} if solution else {"points": points}
    flags = {"grade": not solution, "locked": not solution, "solution": solution, "task": False}
    return {**flags, **graded, "grade_id": grade_id, "schema_version": SCHEMA}


def _check_complete(cells: list[Any], exercises: Mapping[str, Exercise], c: Chapter) -> None:
    ids = [cell.metadata["nbgrader"]["grade_id"] for cell in cells if "nbgrader" in cell.metadata]
    marks = {}
    for e in exercises.values():
        marks[e.id] = f"`:answer: {e.id}`"
        marks |= {f"{e.id}-{part}": f"`:check: {e.id}`" for part in e.parts}
    for name, mark in marks.items():
        if name not in ids:
            raise CourseError(f"{c.name}.md: {mark} is missing")
    for name in ids:
        if name not in marks:
            raise CourseError(f"{c.name}.md: the cell {name!r} belongs to no exercise")
        if ids.count(name) > 1:
            raise CourseError(f"{c.name}.md: {marks[name]} stands twice")


def _name_cells(cells: list[Any]) -> None:
    """Cell ids that do not change unless the cell does: the grade id, or a digest of the text."""
    seen: dict[str, int] = {}
    for cell in cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "").replace(" ", "-")
        name = name or hashlib.sha256(cell.source.encode()).hexdigest()[:12]
        seen[name] = seen.get(name, 0) + 1
        cell["id"] = (name if seen[name] == 1 else f"{name}-{seen[name]}")[:64]
