"""The picture as HTML: inline SVG, the state of each input, the sentences."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from grader.xray import captions, words
from grader.xray.boxes import Picture
from grader.xray.fold import fold
from grader.xray.layout import Layout, layout
from grader.xray.picture import picture

if TYPE_CHECKING:
    from grader.xray.xray import Xray

ROWS = 12  # inputs in the table; more of them with a live gradient are counted only


def html(shown: Xray) -> str:
    """The X-ray as a piece of HTML that follows JupyterLab's theme."""
    drawn = drawing(shown)
    listed, hidden = rows(shown)
    graph = None if drawn is None else _graph(drawn, layout(drawn))
    return _template().render(
        shown=shown,
        rows=listed,
        hidden=hidden,
        more=shown.findings[1:],
        graph=graph,
        mark=_mark(graph),
        alt=captions.alt(shown.finding, drawn.arrows, drawn.boxes) if drawn else "",
        left_out=left_out(shown, drawn),
        runs=captions.runs(shown.runs),
        words=words,
        captions=captions,
    )


def drawing(shown: Xray) -> Picture | None:
    """The folded graph, or None where there is nothing to draw."""
    if shown.run is None or shown.flow is None or shown.run.error is not None:
        return None
    try:
        drawn = fold(picture(shown.run, shown.flow, shown.blame))
    except Exception as error:  # the findings are still worth showing
        shown.left_out = [captions.not_drawn_at_all(error)]
        return None
    return drawn if drawn.arrows else None


def left_out(shown: Xray, drawn: Picture | None) -> list[str]:
    """What was not looked at, and what the drawing folds away."""
    folded = [captions.not_drawn(drawn.folded)] if drawn is not None and drawn.folded else []
    return [*shown.left_out, *folded]


def _mark(graph: dict[str, Any] | None) -> str:
    """An id for the arrow heads: the same for the same drawing, so that a rerun changes nothing."""
    return "gx" + hashlib.sha256(repr(graph).encode()).hexdigest()[:12]


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("grader.xray", "")
    return Environment(loader=loader, autoescape=True, trim_blocks=True).get_template("page.jinja")


def rows(shown: Xray) -> tuple[list[dict[str, str]], int]:
    """The inputs to list (the dead ones first to get a place), and how many are left out."""
    names = list(shown.status)
    bad = [n for n in names if shown.status[n] != "alive"]
    kept = [n for n in names if n in set(bad[:ROWS])]
    kept += [n for n in names if shown.status[n] == "alive"][: max(0, ROWS - len(kept))]
    kept.sort(key=names.index)
    found = [
        {"name": n, "state": shown.status[n], "word": words.STATUS[shown.status[n]]} for n in kept
    ]
    return found, len(names) - len(kept)


def _graph(drawn: Picture, placed: Layout) -> dict[str, Any]:
    arrows = [_arrow(a.state, points, placed.down) for a, points in placed.routes]
    boxes = [
        {"box": drawn.boxes[name], "place": place, "shape": drawn.boxes[name].kind}
        for name, place in placed.places.items()
    ]
    order = ("off", "alive", "zero", "none", "nan")  # the telling ones on top
    arrows.sort(key=lambda a: order.index(a["state"]))
    states = [
        s for s in ("alive", "none", "zero", "nan", "off") if any(a["state"] == s for a in arrows)
    ]
    kinds = {b.kind for b in drawn.boxes.values()}
    kinds |= {"blamed" for b in drawn.boxes.values() if b.blamed}
    return {
        "width": round(placed.width),
        "height": round(placed.height),
        "arrows": arrows,
        "boxes": boxes,
        "legend": [(s, captions.LEGEND[s]) for s in states],
        "kinds": [captions.KIND_LEGEND[k] for k in captions.KIND_LEGEND if k in kinds],
    }


def _arrow(state: str, points: list[tuple[float, float]], down: bool) -> dict[str, Any]:
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        if down:
            bend = (x0, (y0 + y1) / 2, x1, (y0 + y1) / 2)
        else:
            bend = ((x0 + x1) / 2, y0, (x0 + x1) / 2, y1)
        path += " C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}".format(*bend, x1, y1)
    middle = len(points) // 2
    (x0, y0), (x1, y1) = points[middle - 1], points[middle]
    mark = captions.MARK.get(state, "")
    return {"state": state, "path": path, "x": (x0 + x1) / 2, "y": (y0 + y1) / 2, "mark": mark}
