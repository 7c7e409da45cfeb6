"""What a surrogate card shows, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from grader.plots import words
from grader.plots.curve import Curve, curve_from_samples, spread


@dataclass(frozen=True)
class Card:
    """All that a surrogate card draws; no TensorFlow in it.

    Values: ``forward``, ``averaged`` (the forward over its noise, or the expected value),
    ``smooth`` (the integral of the surrogate). Derivatives: ``slope`` (true, between jumps),
    ``surrogate`` (None when the tape returns None), ``expected``. ``note`` is said on the card.
    """

    low: float
    high: float
    forward: Curve
    slope: Curve | None = None
    surrogate: Curve | None = None
    smooth: Curve | None = None
    averaged: Curve | None = None
    expected: Curve | None = None
    title: str = "Surrogate card"
    note: str = ""
    surrogate_name: str = words.SURROGATE


def card_from_arrays(
    x: ArrayLike,
    value: ArrayLike,
    gradient: ArrayLike | None,
    *,
    expected: ArrayLike | None = None,
    expected_value: ArrayLike | None = None,
    title: str = "Surrogate card",
    note: str = "",
) -> Card:
    """A card from samples at ``x`` (any order): for a check, which has its arrays already.

    ``gradient`` None is said in words. All arrays have x's length; else ValueError.
    """
    forward = curve_from_samples(x, value)
    surrogate = None if gradient is None else curve_from_samples(x, gradient)
    return Card(
        low=float(forward.x[0]),
        high=float(forward.x[-1]),
        forward=forward,
        surrogate=surrogate,
        smooth=None if surrogate is None else surrogate.integral(float(forward.y[0])),
        expected=None if expected is None else curve_from_samples(x, expected),
        averaged=None if expected_value is None else curve_from_samples(x, expected_value),
        title=title,
        note=note or (words.NO_GRADIENT if gradient is None else ""),
    )


def limits(curves: Iterable[Curve | None], also: Iterable[float] = ()) -> tuple[float, float]:
    """The bulk of the values and all of ``also``: a pole does not flatten the rest."""
    drawn, extra = [c for c in curves if c is not None], np.asarray(list(also))
    every = np.concatenate([*(c.y[np.isfinite(c.y)] for c in drawn), extra])
    even = [c.at(np.linspace(c.x[0], c.x[-1], 201)) for c in drawn]
    if every.size == 0:
        return -1.0, 1.0
    low, high = float(every.min()), float(every.max())
    bulk = spread(np.concatenate([*even, extra]))
    if high - low > 8 * bulk:
        middle = float(np.nanmedian(np.concatenate(even)))
        low, high = max(low, middle - 4 * bulk), min(high, middle + 4 * bulk)
    margin = 0.08 * ((high - low) or 1.0)
    return low - margin, high + margin
