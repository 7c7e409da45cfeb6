"""The map of the course as HTML and as plain text."""

from __future__ import annotations

from .. import words
from ..record import ATTEMPTED, DONE, OPEN, REGRESSED, Map
from .show import render, send

SIGNS = {DONE: "✓", REGRESSED: "↺", ATTEMPTED: "…", OPEN: "○"}


def summary(map: Map) -> str:
    """The map in one sentence or two."""
    done = sum(chapter.done for chapter in map.chapters)
    total = sum(len(chapter.marks) for chapter in map.chapters)
    return words.progress(done, total, map.next, map.right, map.predicted)


def text(map: Map) -> str:
    """The map in plain words, a line per chapter."""
    lines = []
    for chapter in map.chapters:
        marks = " ".join(f"{SIGNS[m.status]} {m.exercise}{_hints(m.hints)}" for m in chapter.marks)
        lines += [f"{chapter.chapter}  {chapter.done}/{len(chapter.marks)}", f"    {marks}"]
    legend = ", ".join(f"{SIGNS[status]} {says}" for status, says in words.STATUS.items())
    return "\n".join([*lines, summary(map), f"{legend}; {words.HINTS_USED}"])


def _hints(count: int) -> str:
    return f" ({count}h)" if count else ""


def show(map: Map) -> None:
    """Displays the map in a notebook, prints it elsewhere."""
    said = {"says": words.STATUS, "hints": words.HINTS_USED, "summary": summary(map)}
    send({"text/html": render("map.html", map=map, **said), "text/plain": text(map)})
