"""Runs a learner's notebooks again and notes what their checks say now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from . import judge, state
from .display.show import VERDICT

CELL_SECONDS = 300


def verify(root: Path) -> Iterator[tuple[str, int]]:
    """Runs every notebook in notebooks/ that has been worked on; the files stay as they are.

    Yields the notebook's name and how many checks ran in it. The kernels note the verdicts
    themselves, as they do in JupyterLab; what was noted before about these exercises is dropped
    first, so that a check that no longer runs does not stay done.
    """
    for path in sorted((root / "notebooks").glob("*/*.ipynb")):
        book = nbformat.read(path, as_version=4)
        known = {name for name in _exercises(root, path.stem) if name in state.read()["exercises"]}
        if not known:
            continue
        state.update(lambda found, known=known: _forget(found, known))  # type: ignore[misc]
        run(book, path.parent)
        yield path.stem, sum(_checked(cell) for cell in book.cells)


def run(book: Any, folder: Path) -> None:
    """Runs a notebook in place, in its folder, going on after errors."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        book,
        timeout=CELL_SECONDS,
        allow_errors=True,
        resources=resources,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    client.execute()


def _exercises(root: Path, chapter: str) -> list[str]:
    return judge.exercises_of(root, chapter)


def _forget(found: state.State, known: set[str]) -> None:
    for name in known:
        found["exercises"][name]["parts"] = {}


def _checked(cell: Any) -> int:
    return sum(VERDICT in output.get("data", {}) for output in cell.get("outputs", ()))
