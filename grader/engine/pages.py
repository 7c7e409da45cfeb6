"""Feedback pages: written several at once, and forgotten when they say a score that is gone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from grader.spared import UNUSED, spared

if TYPE_CHECKING:
    from grader.engine.pagewriter import PageWriter

SECONDS = 60.0  # for one student: some texts make the patterns of markdown quadratically slow
TOO_SLOW = "the page took too long to write"
WORTH = 8  # pages that take about as long as a process needs to begin

_writer: PageWriter  # of a process that writes pages and does nothing else


def current(page: Path, notebook: Path) -> bool:
    """Whether the page shows the notebook as it is (`PageWriter` gives it the same time)."""
    with suppress(OSError):
        return page.stat().st_mtime_ns == notebook.stat().st_mtime_ns
    return False


def write(root: Path, chapter: str, students: list[str], processes: int) -> Iterator[str]:
    """Write the pages of these students; per student "", or what nbgrader said of a failure: a
    page that takes longer than a minute is one, and no reason to wait.

    Raises BrokenProcessPool where one of the processes is killed.
    """
    processes = min(processes, -(-len(students) // WORTH))
    if processes > 1:
        yield from _together(root, chapter, students, processes)
    elif students:
        writer = _made(root, chapter)
        yield from map(writer.write, students)


def _together(root: Path, chapter: str, students: list[str], processes: int) -> Iterator[str]:
    # Not forked: this process may have threads.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, _begin, (root, chapter))
    try:
        for done in as_completed([pool.submit(_write, student) for student in students]):
            yield done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(root: Path, chapter: str) -> None:
    """What a process of the pool does first."""
    global _writer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that gives the orders
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _writer = _made(root, chapter)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@spared(*UNUSED)
def _made(root: Path, chapter: str) -> PageWriter:
    from grader.engine.pagewriter import PageWriter

    return PageWriter(root, chapter)


def _write(student: str) -> str:
    return _writer.write(student)


def forget(folder: str, notebooks: Iterable[str]) -> list[str]:
    """Remove the generated page of each notebook from a student's feedback folder, and nothing
    else; what to note about those that stay. A new page comes with new feedback."""
    notes = []
    for name in notebooks:
        path = os.path.join(folder, f"{name}.html")
        try:
            with suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(path)
        except OSError as error:
            notes.append(f"its old feedback is still there: {error}")
    return notes
