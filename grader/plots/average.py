"""A forward function averaged over noise: what a surrogate says that it differentiates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grader.plots.curve import Array, Curve
from grader.plots.trace import Function, trace

MOST_SAMPLES = 1000


class Average(NamedTuple):
    """The mean of f(x + u) over the noise u, and the derivative of that mean."""

    value: Curve
    slope: Curve


def averaged(values: Function, low: float, high: float, noise: float | Array) -> Average:
    """Average ``values`` over ``noise``: a half-width w (uniform on [-w, w]), or samples.

    For the half-width the derivative is exact, (f(x + w) - f(x - w)) / 2w; for samples it is a
    difference over a twentieth of the interval, since a mean over samples is itself a staircase.
    Raises ValueError for a half-width that is not positive, or no samples.
    """
    if np.ndim(noise) == 0:
        return _over_width(values, low, high, float(noise))
    return _over_samples(values, low, high, np.ravel(np.asarray(noise, np.float64)))


def _over_width(values: Function, low: float, high: float, width: float) -> Average:
    if not width > 0:
        raise ValueError(f"the noise has half-width {width}; it must be above 0")

    def difference(x: Array) -> Array:
        both = values(np.concatenate([x + width, x - width]))
        return np.asarray((both[: x.size] - both[x.size :]) / (2 * width))

    slope = trace(difference, low, high)
    first = trace(values, low - width, low + width).integral(0.0)
    start = float("nan") if first is None else float(first.y[-1]) / (2 * width)
    whole = slope.integral(start)
    return Average(whole or Curve(slope.x, np.full_like(slope.x, np.nan)), slope)


def _over_samples(values: Function, low: float, high: float, samples: Array) -> Average:
    if samples.size == 0:
        raise ValueError("the noise holds no samples")
    samples = samples[:: max(1, samples.size // MOST_SAMPLES)]
    margin = (high - low) / 20
    x = np.linspace(low - margin, high + margin, 221)
    mean = values(np.ravel(x[:, None] + samples)).reshape(x.size, -1).mean(axis=1)
    reach = 10  # samples of x in half the difference: x has 20 to a margin and its mirror
    inside = slice(reach, -reach)
    slope = (mean[2 * reach :] - mean[: -2 * reach]) / (x[2 * reach :] - x[: -2 * reach])
    return Average(Curve(x[inside], mean[inside]), Curve(x[inside], slope))
