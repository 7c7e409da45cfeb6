"""A marble that rolls down under the true gradient, and one under the surrogate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.plots import words
from grader.plots.card import Card, limits
from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.moving import Moving, Shape, line, short
from grader.plots.sample import sample_card
from grader.plots.tape import Mode, Sampler
from grader.plots.theme import LEARNER, PAPER, TRUE, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Descent:
    """Where a marble was: places, heights, and the gradient it felt there (NaN for None)."""

    x: Array
    y: Array
    slope: Array


def marble(
    f: Callable[[Any], Any],
    surrogate: Callable[[Any], Any] | None = None,
    *,
    start: float = 2.0,
    rate: float = 0.1,
    steps: int = 40,
    low: float = -2.5,
    high: float = 2.5,
    mode: Mode = "auto",
    title: str = "Two marbles, one landscape",
) -> Moving:
    """Descend on ``f`` (TensorFlow, entry by entry) twice, side by side, step by step.

    Left under the true derivative (0 between jumps, no matter how high they are), right under
    the gradient that the tape gives of ``surrogate`` (by default of ``f``). Each step is
    x − rate·gradient, held inside [low, high]; None counts as no motion, and is said.
    """
    if not low <= start <= high:
        raise ValueError(f"start is {start}; it must lie between {low} and {high}")
    card = sample_card(surrogate or f, low, high, forward=f, mode=mode)
    sampler = Sampler(f)
    pulling = Sampler(surrogate or f, mode)
    pulling.settle(np.linspace(low, high, 33))
    span = (low, high)
    true = descend(lambda x: _true(card, x), sampler.values, start, rate, steps, span)
    learner = descend(pulling.gradient, sampler.values, start, rate, steps, span)
    still = _still(card, true, learner, title)
    return Moving(still, _spec(card, true, learner, title), "marble")


def descend(
    gradient: Callable[[Array], Array | None],
    values: Callable[[Array], Array],
    start: float,
    rate: float,
    steps: int,
    span: tuple[float, float],
) -> Descent:
    """The path of x − rate·gradient from ``start``: steps + 1 places, none outside ``span``."""
    places, slopes = [start], []
    for _ in range(steps + 1):
        found = gradient(np.array([places[-1]]))
        slopes.append(float("nan") if found is None else float(found[0]))
        pull = 0.0 if np.isnan(slopes[-1]) else slopes[-1]
        places.append(float(np.clip(places[-1] - rate * pull, *span)))
    x = np.array(places[:-1])
    return Descent(x, values(x), np.array(slopes))


def _true(card: Card, x: Array) -> Array:
    assert card.slope is not None
    finite = np.isfinite(card.slope.y)
    return np.interp(x, card.slope.x[finite], card.slope.y[finite])


def _still(card: Card, true: Descent, learner: Descent, title: str) -> Picture:
    with house_style():
        figure, axes = panels(7.6, 3.3, 1, 2, Margins(top=0.66, between=0.5))
        head(figure, title)
        _draw(axes[0], card, true, words.UNDER_TRUE, TRUE.light, "o")
        _draw(axes[1], card, learner, words.UNDER_SURROGATE, LEARNER.light, "s")
        axes[0].set_ylabel("f(x)")
        if card.smooth is not None:
            style: dict[str, Any] = {
                "color": LEARNER.light,
                "ls": (0, (4, 2)),
                "lw": 1.2,
                "label": words.SMOOTH,
            }
            axes[1].plot(*card.smooth.line(), **style)
            axes[1].legend(loc="upper right")
    return Picture(figure, title, words.marble_alt(title, true, learner))


def _draw(axis: Axes, card: Card, path: Descent, title: str, colour: str, marker: str) -> None:
    axis.set_title(title, loc="left")
    axis.plot(*card.forward.line(), color=TRUE.light, lw=1.4)
    axis.plot(path.x, path.y, ls="none", marker=marker, ms=5, mfc=PAPER.light, mec=colour)
    axis.plot(path.x[-1:], path.y[-1:], marker=marker, ms=8, color=colour)
    axis.set_xlim(card.low, card.high)
    axis.set_ylim(limits([card.forward]))
    axis.set_xlabel("x")


def _spec(card: Card, true: Descent, learner: Descent, title: str) -> dict[str, Any]:
    fine = float(np.ptp(limits([card.forward]))) / 600
    land = line(card.forward, "true", words.FORWARD, fine, width=1.6)
    below = [{**land, "name": ""}]
    if card.smooth is not None:
        style = {"width": 1.4, "dash": "7 4"}
        below.append(line(card.smooth, "learner", words.SMOOTH, fine, **style))
    return {
        "title": title,
        "x": {"label": "x", "low": card.low, "high": card.high},
        "panels": [
            _panel(card, words.UNDER_TRUE, [land], {"role": "true", "width": 4}),
            _panel(card, words.UNDER_SURROGATE, below, {**_TRAIL, "role": "learner"}),
        ],
        "paths": [_path("true", true), _path("learner", learner)],
    }


_TRAIL = {"width": 4, "dash": "2 5"}


def _panel(card: Card, title: str, fixed: list[Shape], trail: Shape) -> dict[str, Any]:
    low, high = limits([card.forward])
    return {
        "title": title,
        "alt": title,
        "label": "f(x)",
        "low": low,
        "high": high,
        "width": 325,
        "height": 270,
        "fixed": fixed,
        "moving": [trail],
    }


def _path(role: str, path: Descent) -> dict[str, Any]:
    return {"role": role, "x": short(path.x), "y": short(path.y), "slope": short(path.slope)}
