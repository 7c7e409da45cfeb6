"""Pictures that are drawn in the browser, with a still one left behind for everybody else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from grader.plots.curve import Array, Curve, Jump
from grader.plots.figure import Picture, browser_file, style_tag
from grader.plots.words import mass

Shape = dict[str, Any]


class Moving(Picture):
    """A still :class:`Picture` and the description of what the browser draws in its place.

    The HTML needs neither network nor kernel: arrays, script and still PNG are all inside, and
    the script puts its drawing in the still one's place. Where scripts do not run, the PNG shows.
    """

    def __init__(self, still: Picture, spec: dict[str, Any], program: str) -> None:
        super().__init__(still._figure, still.title, still.alt)
        self.spec = spec
        self._program = program  # "sliders" or "marble"

    @property
    def html(self) -> str:
        """Style, still picture, arrays and script in one element."""
        text = json.dumps(self.spec, separators=(",", ":"), allow_nan=False)
        mark = hashlib.sha256(text.encode()).hexdigest()[:12]
        start = {"sliders": "gpSliders", "marble": "gpMarbles"}[self._program]
        # "</" would end the script element.
        data = text.replace("</", "<\\/")
        code = browser_file("chart.js") + browser_file(f"{self._program}.js")
        script = f'(function(){{{code}\n{start}({{...{data},id:"{mark}"}});}})();'
        return (
            f'<div class="gp-picture gp-moving" data-gp="{mark}">{style_tag()}{self._still()}'
            f"<script>{script}</script></div>"
        )

    def _page(self) -> str:
        return self.html


def points(curve: Curve, tolerance: float) -> dict[str, list[float | None]]:
    """A curve as the browser wants it: few samples, four digits, null between the pieces."""
    x, y = curve.simplified(tolerance).line()
    return {"x": short(x), "y": short(y)}


def short(values: Iterable[float] | Array) -> list[float | None]:
    """Numbers in four significant digits; None for what is not finite."""
    return [float(f"{v:.4g}") if np.isfinite(v) else None for v in values]


def line(curve: Curve, role: str, name: str, tolerance: float, **style: Any) -> Shape:
    """A line that does not move."""
    return {"kind": "line", "role": role, "name": name, **style, **points(curve, tolerance)}


def dots(jumps: Iterable[Jump], role: str) -> list[Shape]:
    """Open dots at the limits of jumps, a filled one at the value."""
    shapes = []
    for jump in jumps:
        for y, filled in ((jump.left, False), (jump.right, False), (jump.at, True)):
            if np.isfinite(y):
                shapes.append({"kind": "dot", "role": role, "x": jump.x, "y": y, "filled": filled})
    return shapes


def arrows(jumps: Iterable[Jump], role: str) -> list[Shape]:
    """Each jump as an arrow as high as its mass."""
    base = {"kind": "arrow", "role": role}
    return [{**base, "x": j.x, "y": j.mass, "text": mass(j)} for j in jumps if j.mass]
