"""Puts a submitted notebook's nbgrader cells in order before nbgrader's own sanitising.

The gradebook says what each cell is; the submission only says what the student wrote in it. So
metadata is rewritten from the gradebook, copies of a cell are resolved, deleted test cells come
back. Everything done is noted for the instructor.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.engine.checks import visible
from grader.engine.masters import Master, masters

SKIP = "skip-execution"
HALF = re.compile("[\ud800-\udfff]")  # of a character beyond U+FFFF: alone no text may hold it


class Repair(NbGraderPreprocessor):  # type: ignore[misc]
    """First of the sanitising preprocessors; notes go to `resources["grader_notes"]`."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Repair `nb` in place."""
        wanted = masters(resources["nbgrader"])
        notes = resources.setdefault("grader_notes", [])
        known = {one.grade_id: one for one in wanted}
        if known:  # else this is another assignment's notebook: nbgrader refuses it
            _unknown(nb, known, notes)
        _copies(nb, known, notes)
        for cell in nb.cells:
            _halves(cell, notes)
            _tags(cell)
            one = known.get(_id(cell))
            if one is not None:
                _restore(cell, one, notes)
                _locked(cell, one, notes)
        _deleted(nb, wanted, notes)
        return nb, resources


def _id(cell: NotebookNode) -> str:
    meta = cell.metadata.get("nbgrader", {})
    name = meta.get("grade_id", "") if isinstance(meta, dict) else ""
    return name if isinstance(name, str) else ""


def _halves(cell: NotebookNode, notes: list[str]) -> None:
    """JSON can hold half a character (an emoji cut in two); no process or file takes it."""
    cell.source, count = HALF.subn("\ufffd", cell.source)
    if count:
        where = f"cell {_id(cell)!r}" if _id(cell) else "a cell"
        notes.append(f"{where} held half a character: U+FFFD stands for it")


def _tags(cell: NotebookNode) -> None:
    """Tags that are no list of texts would be an error wherever one is looked for."""
    tags = cell.metadata.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        del cell.metadata["tags"]


def _unknown(nb: NotebookNode, known: Mapping[str, Master], notes: list[str]) -> None:
    for cell in nb.cells:
        if "nbgrader" in cell.metadata and _id(cell) not in known:
            if _id(cell):
                notes.append(f"cell {_id(cell)!r} is none of the assignment's: an ordinary cell")
            del cell.metadata["nbgrader"]


def _copies(nb: NotebookNode, known: Mapping[str, Master], notes: list[str]) -> None:
    """Of several cells with one id the first that carries work stays, of a check, which carries
    none, the last; the others do not run."""
    count = Counter(map(_id, nb.cells))
    for grade_id, one in known.items():
        if count[grade_id] < 2:
            continue
        cells = [cell for cell in nb.cells if _id(cell) == grade_id]
        worked = [cell for cell in cells if cell.source.strip() != one.source.strip()]
        same = [cell for cell in cells if cell not in worked]
        mine = bool(worked) and not one.meta["locked"]
        kept = worked[0] if mine else (same or cells)[-1]  # a check comes after the answer
        which = "the first with work" if mine else "the last"
        notes.append(f"cell {grade_id!r} is there {len(cells)} times: {which} counts")
        for at, cell in enumerate(nb.cells):
            if _id(cell) == grade_id and cell is not kept:
                fence = "```\n" + cell.source + "\n```"
                text = new_markdown_cell(f"(a copy of {grade_id}, not run)\n\n{fence}")
                del text["id"]  # an old notebook's cells have none, and may have none
                if "id" in cell:
                    text["id"] = cell["id"]
                nb.cells[at] = text


def _restore(cell: NotebookNode, one: Master, notes: list[str]) -> None:
    meta = one.meta
    before = cell.metadata["nbgrader"]
    for name in ("grade", "solution", "points", "schema_version"):
        if name in before and before[name] != meta.get(name, before[name]):
            notes.append(f"cell {one.grade_id!r}: {name} was changed, and is put back")
    cell.metadata["nbgrader"] = dict(meta)
    tags = cell.metadata.get("tags", [])
    if meta["grade"] and SKIP in tags:
        cell.metadata["tags"] = [tag for tag in tags if tag != SKIP]
        notes.append(f"tampering: cell {one.grade_id!r} carried the tag {SKIP}")


def _locked(cell: NotebookNode, one: Master, notes: list[str]) -> None:
    """nbgrader puts the master's text into locked cells, and takes the released text, which has no
    hidden tests, for a change: of that, which is nobody's doing, its log is to say nothing."""
    if not one.meta["locked"] or cell.cell_type != one.cell_type:
        return
    if _lines(cell.source) == _lines(visible(one.source)):
        cell.source = one.source
    elif not _lines(cell.source) <= _lines(one.source):
        notes.append(f"cell {one.grade_id!r} is locked, was changed, and is put back")


def _lines(source: str) -> set[str]:
    return {line.strip() for line in source.splitlines()} - {""}


def _deleted(nb: NotebookNode, wanted: Sequence[Master], notes: list[str]) -> None:
    """Bring missing graded cells back, each after the nearest cell before it that is there."""
    there = set(map(_id, nb.cells))
    for at, one in enumerate(wanted):
        if one.grade_id in there or not (one.meta["grade"] or one.meta["task"]):
            continue
        ids = [_id(cell) for cell in nb.cells]
        before = [ids.index(w.grade_id) for w in wanted[:at] if w.grade_id in ids]
        place = max(before) + 1 if before else len(nb.cells)
        make = new_code_cell if one.cell_type == "code" else new_markdown_cell
        cell = make(one.source, metadata={"nbgrader": dict(one.meta)})
        if (nb.nbformat, nb.nbformat_minor) < (4, 5):
            cell.pop("id", None)
        nb.cells.insert(place, cell)
        notes.append(f"cell {one.grade_id!r} was missing, and is put back")
