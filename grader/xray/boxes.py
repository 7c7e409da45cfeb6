"""Boxes and arrows: what a drawing is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.xray import words
from grader.xray.replay import worst

RESULT, EARLIER = "result", "earlier"
_SILENT = {"ReadVariableOp", "Identity"}  # drawn only if they are to blame or overridden


@dataclass
class Box:
    """A thing in the drawing.

    kind: source, result, op, stop, override, ignored, custom, way_out, fold. state: the state of
    the gradient for sources, "" otherwise. note: a second line. blamed: the culprit.
    """

    id: str
    label: str
    kind: str = "op"
    state: str = ""
    note: str = ""
    blamed: bool = False
    members: int = 1


@dataclass
class Arrow:
    """A value's way from one box to another; state: of the gradient on its way back.

    "off": no gradient arrived at the upper end, so nothing was cut here.
    """

    start: str
    end: str
    state: str


@dataclass
class Picture:
    """Boxes by id, arrows, and how many operations were folded away."""

    boxes: dict[str, Box] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    folded: int = 0


def merged(arrows: list[Arrow]) -> list[Arrow]:
    """One arrow between two boxes: x * x has two inputs and one line."""
    found: dict[tuple[str, str], list[str]] = {}
    for a in arrows:
        found.setdefault((a.start, a.end), []).append(a.state)
    return [Arrow(*ends, merged_state(states)) for ends, states in found.items()]


def merged_state(states: list[str]) -> str:
    """The state of an arrow that stands for several."""
    real = [s for s in states if s != "off"]
    return worst(real) if real else "off"


def bypass(drawn: Picture) -> None:
    """Leave out reads and identities: they are in every graph and say nothing."""
    silent = {words.name_of(op) for op in _SILENT}
    into: dict[str, list[Arrow]] = {}
    leads = {a.start for a in drawn.arrows}
    for a in drawn.arrows:
        into.setdefault(a.end, []).append(a)
    replaced: dict[str, str] = {}
    for box in list(drawn.boxes.values()):
        plain = box.kind == "op" and box.label in silent and not box.blamed
        if plain and len(into.get(box.id, ())) == 1 and box.id in leads:
            replaced[box.id] = into[box.id][0].start
            del drawn.boxes[box.id]
    kept = []
    for a in drawn.arrows:
        while a.start in replaced:
            a = Arrow(replaced[a.start], a.end, a.state)
        if a.end not in replaced:
            kept.append(a)
    drawn.arrows = merged(kept)
