"""The master copies of an assignment's cells, as the gradebook holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.nbgraderformat import SCHEMA_VERSION


@dataclass(frozen=True)
class Master:
    """One cell: its text with hidden tests, its kind, and the metadata it ought to carry."""

    grade_id: str
    source: str
    cell_type: str
    meta: Mapping[str, Any]


def masters(about: Mapping[str, Any]) -> tuple[Master, ...]:
    """The cells of one notebook, in order. `about` is nbgrader's `resources["nbgrader"]`.

    Read once in a run that has a ledger: they stay the same while it lasts. MissingEntry where the
    gradebook does not know the notebook.
    """
    with Gradebook(about["db_url"]) as gradebook:
        held: dict[Any, tuple[Master, ...]] = getattr(gradebook, "held", {})
        key = about["assignment"], about["notebook"]
        if key not in held:
            held[key] = _read(gradebook.find_notebook(about["notebook"], about["assignment"]))
        return held[key]


def _read(notebook: Any) -> tuple[Master, ...]:
    points = {cell.name: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)}
    grades = {cell.name for cell in notebook.grade_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    found = []
    for cell in notebook.source_cells:
        name = cell.name
        meta = {"grade": name in grades, "grade_id": name, "locked": bool(cell.locked),
                "solution": name in solutions, "task": name in tasks,
                "schema_version": SCHEMA_VERSION, "cell_type": cell.cell_type,
                "checksum": cell.checksum}  # fmt: skip
        if name in points:
            meta["points"] = points[name]
        found.append(Master(name, cell.source or "", cell.cell_type, meta))
    return tuple(found)
