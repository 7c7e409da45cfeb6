"""Bars: quantities over the same places, below each other or against what should have come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.theme import EXPECTED, INK, LEARNER, SOFT, TRUE, house_style
from grader.plots.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = (TRUE, INK, LEARNER)


def bars(
    title: str,
    shown: Mapping[str, ArrayLike],
    *,
    hollow: ArrayLike | None = None,
    words: tuple[str, str] = ("", ""),
    x: str = "",
    first: int = 0,
) -> Picture:
    """A row of bars for each name, below each other, over places counted from ``first``.

    Each row has its own scale. Places where ``hollow`` is true are hatched; ``words`` name the
    filled and the hatched bars.
    """
    values = {name: np.asarray(value, np.float64) for name, value in shown.items()}
    places = np.arange(first, first + len(next(iter(values.values()))))
    empty = np.zeros(places.size, bool) if hollow is None else np.asarray(hollow, bool)
    with house_style():
        room = Margins(left=0.85, top=0.68, between=0.3)
        figure, axes = panels(6.8, 1.2 + 1.15 * len(values), len(values), 1, room)
        head(figure, title)
        for k, (axis, (name, value)) in enumerate(zip(axes, values.items(), strict=True)):
            _hatched(axis, places, value, empty, _COLOURS[k % len(_COLOURS)].light)
            axis.set_ylabel(name)
            axis.set_xticks(places, places if axis is axes[-1] else [""] * places.size)
        axes[-1].set_xlabel(x)
        if any(words):
            _legend(axes[0], words)
    return Picture(figure, title, _alt(title, values, empty, words[1]))


def bars_against(
    title: str,
    shown: Mapping[str, ArrayLike],
    expected: ArrayLike,
    *,
    words: tuple[str, str] = ("expected", "got"),
    x: str = "",
    y: str = "",
) -> Picture:
    """Bars of each name (orange) over those that should have come (grey), side by side.

    All panels share one scale. ``words`` name the grey and the orange bars.
    """
    values = {name: np.asarray(value, np.float64) for name, value in shown.items()}
    should = np.asarray(expected, np.float64)
    places = np.arange(should.size)
    reach = np.concatenate([should, *values.values(), [0.0]])
    low, high = 1.1 * np.nanmin(reach), 1.1 * np.nanmax(reach) or 1.0
    with house_style():
        room = Margins(left=0.65, top=0.95, between=0.4)
        figure, axes = panels(7.2, 2.9, 1, len(values), room)
        head(figure, title)
        for axis, (name, value) in zip(axes, values.items(), strict=True):
            axis.bar(places, should, 0.8, color=EXPECTED.light, alpha=0.45)
            axis.bar(places, value, 0.4, color=LEARNER.light, hatch="//")
            axis.set(xlabel=x, ylabel=y if axis is axes[0] else "", ylim=(low, high))
            axis.set_title(name, loc="left", fontsize=9)
        _legend(axes[0], words, 1.13)
    off = {name: float(np.abs(value - should).max()) for name, value in values.items()}
    says = "; ".join(f"{name} is off by {number(most, 2)} at most" for name, most in off.items())
    return Picture(figure, title, f"{title}. {says}.")


def _hatched(
    axis: Axes, places: NDArray[np.int_], values: Array, empty: NDArray[np.bool_], colour: str
) -> None:
    axis.bar(places[~empty], values[~empty], 0.75, color=colour)
    axis.bar(places[empty], values[empty], 0.75, facecolor="none", edgecolor=colour, hatch="////")
    axis.axhline(0, color=SOFT.light, lw=0.8)


def _legend(axis: Axes, words: tuple[str, str], height: float = 1.0) -> None:
    axis.legend(axis.containers[:2], words, ncols=2, loc="lower left",
                bbox_to_anchor=(-0.015, height), borderpad=0.1)  # fmt: skip


def _alt(title: str, values: Mapping[str, Array], empty: NDArray[np.bool_], word: str) -> str:
    says = [f"{name} from {number(v[0])} to {number(v[-1])}" for name, v in values.items()]
    if empty.any():
        where = [f"{name} adds up to {number(float(v[empty].sum()))}" for name, v in values.items()]
        says.append(f"where {word or 'hatched'}: {', '.join(where)}")
    return f"{title}. Bars: {'; '.join(says)}."
