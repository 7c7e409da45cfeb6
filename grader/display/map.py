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
    return "\n".join([*lines, summary(map), words.LEGEND])


def _hints(count: int) -> str:
    return f" ({count}h)" if count else ""


def show(map: Map) -> None:
    """Displays the map in a notebook, prints it elsewhere."""
    html = render("map.html", map=map, signs=SIGNS, summary=summary(map), legend=words.LEGEND)
    send({"text/html": html, "text/plain": text(map)})
