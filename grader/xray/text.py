"""The plain-text twin of the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.xray import captions, page
from grader.xray.boxes import RESULT, Picture
from grader.xray.page import drawing, left_out

if TYPE_CHECKING:
    from grader.xray.xray import Xray

_LINKS = {
    "alive": "---->",
    "none": "-None->",
    "zero": "-0->",
    "nan": "-NaN->",
    "off": "....>",
}
_PATHS = 6


def text(shown: Xray) -> str:
    """Findings, the state of each input, the ways through the graph, warnings."""
    drawn = drawing(shown)
    parts = list(shown.findings)
    width = max((len(name) for name in shown.status), default=0)
    rows, more = page.rows(shown)
    parts += [f"  {row['name']:<{width}}  {row['word']}" for row in rows]
    parts += [f"  {captions.hidden(more)}"] if more else []
    if drawn is not None:
        parts += ["", *_paths(drawn)]
    if shown.warnings:
        parts += ["", *(f"! {line}" for line in shown.warnings)]
    small = [*shown.notes, *(captions.LEFT_OUT + line for line in left_out(shown, drawn))]
    return "\n".join([*parts, "", *small, captions.runs(shown.runs)])


def _paths(drawn: Picture) -> list[str]:
    """From each input one way to the result; the way through a culprit if there is one."""
    found = []
    sources = [b for b in drawn.boxes.values() if b.kind in ("source", "variable")]
    sources.sort(key=lambda b: b.state == "alive")
    for box in sources[:_PATHS]:
        line, here = box.label, box.id
        while here != RESULT:
            away = [a for a in drawn.arrows if a.start == here]
            if not away:
                break
            best = min(away, key=lambda a: (_rank(drawn, a.end, a.state, box.state), a.end))
            name = drawn.boxes[best.end].label
            line += f" {_LINKS[best.state]} {name}"
            here = best.end
        found.append("  " + line)
    return found


def _rank(drawn: Picture, end: str, state: str, wanted: str) -> int:
    if drawn.boxes[end].blamed:
        return 0
    return 1 if state == wanted else 2
