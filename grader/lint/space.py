"""Runs the text of an answer cell as the notebook would."""

from __future__ import annotations

import contextlib
import io
import linecache
from collections.abc import Mapping
from typing import Any

from ..build.cells import read
from ..course import Chapter


def setup(chapter: Chapter) -> dict[str, Any]:
    """The namespace that answers find: the opening cell and the cells tagged `setup`."""
    code = [cell for cell in read(chapter).cells if cell.cell_type == "code"]
    space: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code):
        if number == 0 or "setup" in cell.metadata.get("tags", ()):
            run(cell.source, f"<{chapter.name} setup {number}>", space)
    return space


def run(source: str, name: str, space: dict[str, Any]) -> None:
    """Executes a cell's text; inspect and AutoGraph find its source under the made-up file name."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, name, "exec"), space)


def answer(source: str, name: str, exercise: str, space: Mapping[str, Any]) -> Any:
    """The object that an answer cell defines. KeyError where it does not define the exercise."""
    own = dict(space)
    run(source, f"<{exercise} {name}>", own)
    return own[exercise]
