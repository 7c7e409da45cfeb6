"""Many cards of one family as what the browser needs to draw any of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.plots import words
from grader.plots.card import Card, limits
from grader.plots.curve import Curve
from grader.plots.families import Slider
from grader.plots.moving import Shape, arrows, dots, line, points, short

_FINE = 800  # a line may be off by this part of the panel's height
_MOVING = {"role": "learner", "dash": "9 5", "width": 2.4}


@dataclass(frozen=True)
class Frames:
    """One card for each setting of the sliders, in the order of ``itertools.product``.

    The forward function and its true derivative are those of the card at ``start``; only the
    surrogate and its integral move.
    """

    title: str
    sliders: dict[str, Slider]
    cards: list[Card]
    start: int
    look_for: str = ""


def frames_spec(frames: Frames) -> dict[str, Any]:
    """The panels, sliders and frames that ``browser/sliders.js`` reads."""
    fixed = frames.cards[frames.start]
    above = limits([fixed.forward, *(card.smooth for card in frames.cards)])
    masses = [0.0, *(jump.mass for jump in fixed.forward.jumps)]
    below = limits([fixed.slope, *(card.surrogate for card in frames.cards)], masses)
    rough, fine = (float(np.ptp(within)) / _FINE for within in (above, below))
    values = [line(fixed.forward, "true", words.FORWARD, rough), *dots(fixed.forward.jumps, "true")]
    slopes = arrows(fixed.forward.jumps, "true")
    if fixed.slope is not None:
        slopes.insert(0, line(fixed.slope, "true", words.TRUE_WITH_JUMPS, fine))
    return {
        "title": frames.title,
        "x": {"label": "x", "low": fixed.low, "high": fixed.high},
        "panels": [
            _panel("value", above, values, words.SMOOTH),
            _panel("derivative", below, slopes, fixed.surrogate_name),
        ],
        "sliders": [_slider(name, slider) for name, slider in frames.sliders.items()],
        "frames": [[_points(c.smooth, rough), _points(c.surrogate, fine)] for c in frames.cards],
        "look": frames.look_for,
    }


def _panel(
    label: str, within: tuple[float, float], fixed: Iterable[Shape], moves: str
) -> dict[str, Any]:
    shapes = list(fixed)
    named = [shape["name"] for shape in shapes if shape.get("name")]
    return {
        "label": label,
        "low": within[0],
        "high": within[1],
        "alt": words.PANEL.format(label, ", ".join([*named, moves])),
        "fixed": shapes,
        "moving": [{**_MOVING, "name": moves}],
    }


def _slider(name: str, slider: Slider) -> dict[str, Any]:
    values = slider.values()
    return {
        "name": name.replace("_", " "),
        "values": short(values),
        "start": int(np.argmin(np.abs(values - slider.start))),
    }


def _points(curve: Curve | None, tolerance: float) -> dict[str, list[float | None]]:
    return {"x": [], "y": []} if curve is None else points(curve, tolerance)
