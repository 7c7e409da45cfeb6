"""Make a big graph small: fold what is the same for the reader into one box.

Two boxes are folded together when the same landmarks (inputs, culprits, overrides, the result)
lie before them and the same behind them. The folded graph has no cycle: if group A led to B and B
to A, both would have the same landmarks on either side and be one group.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from grader.xray.boxes import Arrow, Box, Picture, merged_state

SMALL = 14  # up to so many boxes are drawn as they are
FEW = 20  # more than this after folding, and fewer landmarks are kept
_PLAIN = {"op", "variable"}
_MANY = {"custom", "ignored", "override", "stop", "way_out"}


def fold(drawn: Picture) -> Picture:
    """The picture with as few boxes as tell the story."""
    if len(drawn.boxes) <= SMALL:
        return drawn
    for most in (12, 4, 0):
        small = _fold(drawn, _landmarks(drawn, most))
        if len(small.boxes) <= FEW:
            break
    return small


def _landmarks(drawn: Picture, most: int) -> set[str]:
    """What stays a box of its own; of custom gradients and the like only so many."""
    boxes = drawn.boxes.values()
    kept = {box.id for box in boxes if box.kind not in _PLAIN or box.blamed}
    many = [box.id for box in boxes if box.kind in _MANY and not box.blamed]
    given = [box.id for box in boxes if box.kind == "source" and box.state == "alive"]
    return kept - set(many[most:]) - set(given[2 * most :])


def _fold(drawn: Picture, landmarks: set[str]) -> Picture:
    before, behind = _masks(drawn, landmarks, False), _masks(drawn, landmarks, True)
    group: dict[str, str] = {}
    members: dict[str, list[Box]] = {}
    for box in drawn.boxes.values():
        own = box.id in landmarks
        source = box.kind in ("source", "variable")
        key = box.id if own else f"f{before[box.id]}.{behind[box.id]}.{source}.{box.state}"
        group[box.id] = key
        members.setdefault(key, []).append(box)
    small = Picture(folded=sum(len(m) for m in members.values() if len(m) > 1))
    for key, boxes in members.items():
        small.boxes[key] = replace(boxes[0], id=key) if len(boxes) == 1 else _folded(key, boxes)
    states: dict[tuple[str, str], list[str]] = {}
    for a in drawn.arrows:
        ends = group[a.start], group[a.end]
        if ends[0] != ends[1]:
            states.setdefault(ends, []).append(a.state)
    small.arrows = [Arrow(*ends, merged_state(s)) for ends, s in states.items()]
    return small


def _folded(key: str, boxes: list[Box]) -> Box:
    names = Counter(box.label for box in boxes)
    if boxes[0].kind in ("source", "variable"):
        few = short(", ".join(names))
        word = "inputs" if boxes[0].kind == "source" else "variables"
        return Box(key, f"{len(boxes)} {word}", boxes[0].kind, boxes[0].state, few)
    few = short(", ".join(name for name, _ in names.most_common()))
    return Box(key, f"{len(boxes)} operations", "fold", note=few, members=len(boxes))


def short(text: str, most: int = 30) -> str:
    """A text cut to fit into a box."""
    return text if len(text) <= most else text[: most - 1].rstrip(", ") + "…"


def _masks(drawn: Picture, landmarks: set[str], behind: bool) -> dict[str, int]:
    """For each box, the set of landmarks before it (or behind it) as a bit mask."""
    bit = {name: 1 << i for i, name in enumerate(sorted(landmarks))}
    ahead: dict[str, list[str]] = {name: [] for name in drawn.boxes}
    degree = dict.fromkeys(drawn.boxes, 0)
    for a in drawn.arrows:
        start, end = (a.end, a.start) if behind else (a.start, a.end)
        ahead[start].append(end)
        degree[end] += 1
    masks = dict.fromkeys(drawn.boxes, 0)
    ready = [name for name, count in degree.items() if count == 0]
    while ready:
        name = ready.pop()
        for other in ahead[name]:
            masks[other] |= masks[name] | bit.get(name, 0)
            degree[other] -= 1
            if degree[other] == 0:
                ready.append(other)
    return masks
