"""Curves of one variable as arrays: their jumps, their pieces, their integral."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Jump:
    """A place where the one-sided limits differ, or the value is off both.

    ``at`` is the value at the place itself; NaN where there is none (the slope at a kink).
    """

    x: float
    left: float
    at: float
    right: float

    @property
    def mass(self) -> float:
        """The weight of the delta that differentiating the jump leaves: right minus left."""
        return self.right - self.left


@dataclass(frozen=True)
class Curve:
    """Samples in rising order of x.

    A jump's x stands there twice, with its left and its right limit. ``gaps`` are places where
    the curve breaks without limits on both sides (poles).
    """

    x: Array
    y: Array
    jumps: tuple[Jump, ...] = ()
    gaps: tuple[float, ...] = ()

    def line(self) -> tuple[Array, Array]:
        """x and y for drawing, with NaN between the pieces, so that no jump is a steep line."""
        breaks = np.flatnonzero(np.diff(self.x) == 0) + 1
        return np.insert(self.x, breaks, self.x[breaks]), np.insert(self.y, breaks, np.nan)

    def integral(self, start: float) -> Curve | None:
        """The function whose derivative this curve is, with value ``start`` at the left end.

        None when the curve has a pole, or is not finite on the way (a single point is no way).
        """
        x, y = self._without_lone_points()
        if self.gaps or not np.all(np.isfinite(y)):
            return None
        areas = np.diff(x) * (y[1:] + y[:-1]) / 2
        return Curve(x, start + np.concatenate([[0.0], np.cumsum(areas)]))

    def _without_lone_points(self) -> tuple[Array, Array]:
        bad = np.flatnonzero(~np.isfinite(self.y[1:-1])) + 1
        close = self.x[bad + 1] - self.x[bad - 1] < 2e-3 * np.ptp(self.x)
        beside = np.maximum(np.abs(self.y[bad - 1]), np.abs(self.y[bad + 1]))
        tame = beside < 10 * spread(self.y)  # false for NaN
        lone = bad[close & tame]
        return np.delete(self.x, lone), np.delete(self.y, lone)

    def at(self, x: ArrayLike) -> Array:
        """Values between the samples, by straight lines."""
        return np.interp(np.asarray(x, np.float64), self.x, self.y)

    def simplified(self, tolerance: float) -> Curve:
        """The same curve with as few samples as keep it within ``tolerance`` (Douglas-Peucker)."""
        cuts = np.flatnonzero(np.diff(self.x) == 0) + 1
        kept = np.zeros(self.x.size, bool)
        for piece in np.split(np.arange(self.x.size), cuts):
            kept[_corners(self.x, self.y, piece, tolerance)] = True
        return Curve(self.x[kept], self.y[kept], self.jumps, self.gaps)


def _corners(x: Array, y: Array, piece: NDArray[np.intp], tolerance: float) -> list[int]:
    kept, spans = {int(piece[0]), int(piece[-1])}, [(int(piece[0]), int(piece[-1]))]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        inside = slice(first + 1, last)
        off = np.abs(np.interp(x[inside], x[[first, last]], y[[first, last]]) - y[inside])
        off = np.where(np.isnan(off), np.inf, off)
        worst = int(np.argmax(off))
        if off[worst] > tolerance:
            middle = first + 1 + worst
            kept.add(middle)
            spans += [(first, middle), (middle, last)]
    return sorted(kept)


def curve_from_samples(x: ArrayLike, y: ArrayLike) -> Curve:
    """A curve from samples that came from elsewhere; equal lengths, x in any order, no repeats.

    Where neighbours differ far more than the others do, the line breaks and a jump is noted,
    its place being the roundest number from one of the two samples to the other.
    """
    x, y = np.ravel(np.asarray(x, np.float64)), np.ravel(np.asarray(y, np.float64))
    if x.shape != y.shape:
        raise ValueError(f"x has {x.size} entries and y has {y.size}")
    order = np.argsort(x)
    x, y = x[order], y[order]
    steps = np.abs(np.diff(y))
    finite = steps[np.isfinite(steps)]
    if finite.size < 4:
        return Curve(x, y)
    typical = np.median(finite)
    with np.errstate(invalid="ignore"):
        cuts = np.flatnonzero((steps > 8 * typical) & (steps > 0.1 * spread(y)))
    jumps = _merged([_jump_between(x, y, int(i), int(i) + 1) for i in cuts], x, y)
    jumps = [_placed(jump, x) for jump in jumps]
    held = np.isin(x, [jump.x for jump in jumps])  # the limits stand there instead
    x, y = x[~held], y[~held]
    places = np.repeat([jump.x for jump in jumps], 2)
    limits = np.ravel([(jump.left, jump.right) for jump in jumps])
    where = np.searchsorted(x, places)
    return Curve(np.insert(x, where, places), np.insert(y, where, limits), tuple(jumps))


def _jump_between(x: Array, y: Array, i: int, j: int) -> Jump:
    middle = float("nan") if j == i + 1 else float(y[i + 1])
    return Jump(
        float((x[i] + x[j]) / 2 if j == i + 1 else x[i + 1]), float(y[i]), middle, float(y[j])
    )


def _placed(jump: Jump, x: Array) -> Jump:
    """The jump where a reader looks for it: all that is known is the samples it lies between."""
    if np.isfinite(jump.at):
        return jump
    i = int(np.searchsorted(x, jump.x))
    return replace(jump, x=_roundest(float(x[i - 1]), float(x[i])))


def _roundest(low: float, high: float) -> float:
    """The number of fewest digits in an interval, its ends included."""
    for digits in range(-int(np.floor(np.log10(high - low))) - 4, 20):
        near = round((low + high) / 2, digits)
        for place in (near, near - 10.0**-digits, near + 10.0**-digits):
            if low <= round(place, digits) <= high:
                return round(place, digits)
    return (low + high) / 2


def _merged(jumps: list[Jump], x: Array, y: Array) -> list[Jump]:
    """One jump where a lone sample stands between two (sign at 0)."""
    out: list[Jump] = []
    for jump in jumps:
        i = int(np.searchsorted(x, jump.x))  # the sample after the jump
        if out and np.isnan(out[-1].at) and i >= 2 and x[i - 2] < out[-1].x < x[i - 1]:
            out[-1] = _jump_between(x, y, i - 2, i)
        else:
            out.append(jump)
    return out


def spread(y: Array) -> float:
    """The height of the bulk of the finite values: a pole or an outlier does not stretch it."""
    finite = y[np.isfinite(y)]
    if finite.size == 0:
        return 1.0
    low, high = np.percentile(finite, (2, 98))
    return float(high - low) or float(np.ptp(finite)) or max(abs(float(high)), 1.0)


@dataclass
class Places:
    """Where a search found jumps, and where it found breaks that are not jumps."""

    jumps: list[Jump] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
