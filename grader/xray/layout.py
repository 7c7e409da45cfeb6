"""Where the boxes go: layers by longest path, ordered by the mean place of their neighbours.

The method of Sugiyama, Tagawa and Toda (1981), with dummy places for arrows over several layers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from grader.xray.boxes import Arrow, Box, Picture

_CHAR, _PAD, _HEIGHT, _TALL = 7.9, 18.0, 34.0, 50.0
_ACROSS, _BESIDE = 52.0, 22.0  # between layers, within a layer
_WIDE = 1100.0  # wider than this, the layers go downwards


@dataclass
class Place:
    """A box's rectangle; x and y are its centre."""

    x: float
    y: float
    width: float
    height: float


@dataclass
class Layout:
    """Places of boxes, points along each arrow, and the size of it all."""

    places: dict[str, Place] = field(default_factory=dict)
    routes: list[tuple[Arrow, list[tuple[float, float]]]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    down: bool = False


def layout(drawn: Picture) -> Layout:
    """Lay out a picture from left to right, or downwards if it would be too wide."""
    depth = _depths(drawn)
    chains = [_chain(a, depth) for a in drawn.arrows]
    layers = _layers(drawn, depth, chains)
    _order(layers, chains)
    sizes = {name: _size(box) for name, box in drawn.boxes.items()}
    widths = [max((sizes[n][0] for n in layer if n in sizes), default=0.0) for layer in layers]
    down = sum(widths) + _ACROSS * (len(layers) - 1) > _WIDE
    placed = Layout(down=down)
    _put(placed, layers, sizes, down)
    points = dict(placed.places)
    placed.places = {name: place for name, place in points.items() if name in drawn.boxes}
    placed.routes = [
        (a, _route(placed.places, points, chain, down))
        for a, chain in zip(drawn.arrows, chains, strict=True)
    ]
    return placed


def _size(box: Box) -> tuple[float, float]:
    width = max(len(box.label) * _CHAR, len(box.note) * _CHAR * 0.85) + _PAD
    width += 12.0 if box.kind in ("source", "variable", "result", "stop", "way_out") else 0.0
    return max(width, 52.0), _TALL if box.note else _HEIGHT


def _depths(drawn: Picture) -> dict[str, int]:
    depth = dict.fromkeys(drawn.boxes, 0)
    for _ in range(len(drawn.boxes)):
        moved = False
        for a in drawn.arrows:
            if depth[a.end] <= depth[a.start]:
                depth[a.end] = depth[a.start] + 1
                moved = True
        if not moved:
            break
    depth["result"] = max(depth.values())
    for name in drawn.boxes:  # inputs stand right before their first use, not all at the left
        uses = [depth[a.end] for a in drawn.arrows if a.start == name]
        if uses and not any(a.end == name for a in drawn.arrows):
            depth[name] = min(uses) - 1
    return depth


def _chain(arrow: Arrow, depth: dict[str, int]) -> list[str]:
    dummies = [
        f"{arrow.start}>{arrow.end}@{level}"
        for level in range(depth[arrow.start] + 1, depth[arrow.end])
    ]
    return [arrow.start, *dummies, arrow.end]


def _layers(drawn: Picture, depth: dict[str, int], chains: list[list[str]]) -> list[list[str]]:
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in drawn.boxes:
        layers[depth[name]].append(name)
    for chain in chains:
        for offset, name in enumerate(chain[1:-1], 1):
            layers[depth[chain[0]] + offset].append(name)
    return layers


def _order(layers: list[list[str]], chains: list[list[str]]) -> None:
    near: dict[str, list[str]] = {}
    for chain in chains:
        for a, b in pairwise(chain):
            near.setdefault(a, []).append(b)
            near.setdefault(b, []).append(a)
    for sweep in range(8):
        span = layers[1:] if sweep % 2 == 0 else layers[-2::-1]
        for layer in span:
            place = {
                name: i / max(1, len(other) - 1) for other in layers for i, name in enumerate(other)
            }
            mean = {
                n: sum(place[m] for m in near[n]) / len(near[n]) if near.get(n) else place[n]
                for n in layer
            }
            layer.sort(key=lambda n, mean=mean: mean[n])  # type: ignore[misc]


def _put(
    placed: Layout, layers: list[list[str]], sizes: dict[str, tuple[float, float]], down: bool
) -> None:
    along, across, main = 0 if down else 1, 1 if down else 0, 12.0
    extents = [
        sum(sizes.get(n, (8.0, 8.0))[along] for n in layer) + _BESIDE * (len(layer) - 1)
        for layer in layers
    ]
    full = max(extents) + 24.0
    for layer, extent in zip(layers, extents, strict=True):
        thick = max((sizes.get(n, (8.0, 8.0))[across] for n in layer), default=0.0)
        side = (full - extent) / 2
        for name in layer:
            size = sizes.get(name, (8.0, 8.0))
            centre = side + size[along] / 2, main + thick / 2
            x, y = centre if down else centre[::-1]
            placed.places[name] = Place(x, y, *size)
            side += size[along] + _BESIDE
        main += thick + (_ACROSS - 10 if down else _ACROSS)
    total = main - (_ACROSS - 10 if down else _ACROSS) + 12.0
    placed.width, placed.height = (full, total) if down else (total, full)


def _route(
    places: dict[str, Place], points: dict[str, Place], chain: list[str], down: bool
) -> list[tuple[float, float]]:
    start, end = places[chain[0]], places[chain[-1]]
    middle = [(points[n].x, points[n].y) for n in chain[1:-1]]
    if down:
        first = (start.x, start.y + start.height / 2)
        last = (end.x, end.y - end.height / 2)
    else:
        first = (start.x + start.width / 2, start.y)
        last = (end.x - end.width / 2, end.y)
    return [first, *middle, last]
