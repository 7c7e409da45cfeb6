"""A chapter with its solutions runs from top to bottom in a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat

from ..course import Chapter
from ..verify import run
from . import Fault


def top_to_bottom(chapter: Chapter) -> Iterator[Fault]:
    """No cell of the instructor's notebook raises; no graded cell writes to stderr."""
    book = executed(chapter)
    for number, cell in enumerate(book.cells):
        graded = cell.metadata.get("nbgrader", {}).get("grade", False)
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                what = f"{output.ename}: {output.evalue}"
                yield Fault(chapter.name, f"cell {number} ({cell.id})", what)
            elif output.get("name") == "stderr" and (graded or "Error" in output.text):
                yield Fault(chapter.name, f"cell {number} ({cell.id})", f"stderr: {output.text}")


def executed(chapter: Chapter) -> Any:
    """The instructor's notebook, run in the folder where a learner runs theirs."""
    book = nbformat.read(chapter.solution, as_version=4)
    run(book, chapter.solution.parent)
    return book
