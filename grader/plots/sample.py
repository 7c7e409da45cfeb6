"""From a TensorFlow function to the arrays of its surrogate card."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from grader.plots import words
from grader.plots.average import averaged
from grader.plots.card import Card, card_from_arrays
from grader.plots.curve import Array, Curve
from grader.plots.tape import Mode, Sampler
from grader.plots.trace import Function, trace


def sample_card(
    f: Callable[[Any], Any],
    low: float = -2.5,
    high: float = 2.5,
    *,
    forward: Callable[[Any], Any] | None = None,
    jumps: Iterable[float] | None = None,
    title: str | None = None,
    noise: float | Array | None = None,
    mode: Mode = "auto",
) -> Card:
    """Measure ``f`` (TensorFlow, entry by entry) on [low, high] and return the card's arrays.

    ``forward``: the function whose jumps and derivative are true, when it is not ``f`` itself.
    ``jumps``: their places, when they are known; else they are found from values. ``noise``: a
    half-width w (uniform on [-w, w]) or an array of samples; the card then shows the forward
    averaged over it. ``mode``: see :class:`~grader.plots.tape.Sampler`. Raises ValueError for
    an empty interval; errors of ``f`` come through.
    """
    if not low < high:
        raise ValueError(f"the interval from {low} to {high} is empty")
    sampler = Sampler(f, mode)
    title = title or words.card_title(f)
    probe = np.linspace(low, high, 33)
    if odd := sampler.oddity(probe):
        return _one_batch(sampler, low, high, title, odd)
    sampler.settle(probe)
    values = Sampler(forward).values if forward else sampler.values
    steps = trace(values, low, high, known=jumps)
    slope = true_slope(_exact_values(forward or f, values, probe), steps, low, high)
    surrogate, note = _surrogate(sampler, low, high)
    if not note and mode == "auto" and sampler.mode == "outside":
        note = words.only_traced(Sampler(f, "eager").gradient(probe))
    card = Card(low, high, steps, slope, surrogate, title=title, note=note)
    return _with_smooth(card, values, noise)


def _with_smooth(card: Card, values: Function, noise: float | Array | None) -> Card:
    """The card with the integral of its surrogate, and with the average over noise if any."""
    if noise is None:
        start = left_end(values, card.low, card.high)
    else:
        average = averaged(values, card.low, card.high, noise)
        start = float(average.value.y[0])
        card = replace(card, averaged=average.value, expected=average.slope)
    return card if card.surrogate is None else replace(card, smooth=card.surrogate.integral(start))


def _one_batch(sampler: Sampler, low: float, high: float, title: str, note: str) -> Card:
    """Even samples in one call: where entries influence each other, adding some changes all."""
    x = np.linspace(low, high, 401)
    sampler.only_batches_of(x.size)
    sampler.settle(x)
    values, gradient = sampler.values(x), sampler.gradient(x)
    note = words.NO_GRADIENT if gradient is None else note
    return card_from_arrays(x, values, gradient, title=title, note=note)


def left_end(values: Function, low: float, high: float) -> float:
    """The value at the left end; the middle of the jump when the interval begins at one."""
    near = 2e-6 * (high - low)
    before, after = (float(v) for v in values(np.array([low - near, low + near])))
    return (before + after) / 2 if np.isfinite(before) else after


def true_slope(values: Function, forward: Curve, low: float, high: float) -> Curve:
    """The derivative of ``values`` by central differences, away from the forward's jumps.

    ``values`` is taken in float64 where it can be (then the step is a millionth); where it can
    not, the step is a thousandth of the interval.
    """
    fine = getattr(values, "fine", False)
    step = (1e-6 if fine else 1e-3) * (high - low)
    breaks = np.array([jump.x for jump in forward.jumps] + list(forward.gaps) + [np.inf])

    def slope(x: Array) -> Array:
        # The ends stay out: a staircase may jump right there.
        left, right = np.maximum(x - step, low + step / 2), np.minimum(x + step, high - step / 2)
        both = values(np.concatenate([left, right]))
        found = (both[x.size :] - both[: x.size]) / (right - left)
        nearest = np.min(np.abs(x[:, None] - breaks), axis=1)
        return np.asarray(np.where(nearest <= 1.5 * step, np.nan, found), np.float64)

    curve = trace(slope, low, high, tolerance=4 * step)
    # At a kink the derivative has no value: no dot is filled there.
    kinks = tuple(replace(jump, at=float("nan")) for jump in curve.jumps)
    return replace(curve, jumps=kinks)


class _Fine:
    """Values in float64, as a callable that says so."""

    fine = True

    def __init__(self, f: Callable[[Any], Any]) -> None:
        self._values = Sampler(f, "eager", "float64").values

    def __call__(self, x: Array) -> Array:
        return self._values(x)


def _exact_values(f: Callable[[Any], Any], values: Function, probe: Array) -> Function:
    fine = _Fine(f)
    inner = probe[1:-1] + 1e-3
    try:
        agrees = np.allclose(fine(inner), values(inner), rtol=1e-3, atol=1e-4, equal_nan=True)
    except Exception:
        # Whatever stops it in float64, in float32 the card can still be drawn.
        return values
    return fine if agrees else values


def _surrogate(sampler: Sampler, low: float, high: float) -> tuple[Curve | None, str]:
    if sampler.gradient(np.linspace(low, high, 9)) is None:
        return None, words.NO_GRADIENT

    def slopes(x: Array) -> Array:
        found = sampler.gradient(x)
        return np.full(x.shape, np.nan) if found is None else found

    curve = trace(slopes, low, high)
    return curve, words.not_finite(curve.x, curve.y)
