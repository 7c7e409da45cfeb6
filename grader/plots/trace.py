"""Follow an unknown function of one variable closely enough to draw it honestly.

Jumps are found from values, by bisection, to about a millionth of the interval; between them
samples are added wherever a straight line would miss the function, so that kinks are hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from grader.plots.curve import Array, Curve, Jump, Places, spread

Function = Callable[[Array], Array]

GRID = 401
MOST_SAMPLES = 4000
_SMALLEST_JUMP = 2e-3  # in heights of the curve
_LINE_ERROR = 5e-4  # in heights of the curve: a quarter of a pixel in a full card
_ROUNDS = 9


def trace(
    fn: Function,
    low: float,
    high: float,
    *,
    tolerance: float | None = None,
    known: Iterable[float] | None = None,
) -> Curve:
    """Sample ``fn`` (vector in, vector of the same length out) on [low, high].

    ``tolerance`` is how closely a jump is located; by default a millionth of the interval, about
    what float32 can tell. A removable point (the value of sign at 0) counts as a jump, too.
    ``known`` places of jumps are taken instead of a search.
    """
    tolerance = tolerance or 1e-6 * (high - low)
    grid = _grid(low, high)
    values = fn(grid)
    least = _SMALLEST_JUMP * spread(values)
    suspects = known if known is not None else _suspects(fn, grid, values, tolerance, least)
    places = _judged(fn, suspects, low, high, tolerance, least)
    x, y = _with_limits(fn, grid, values, places, tolerance)
    x, y = _refined(fn, x, y, tolerance)
    return Curve(x, y, tuple(places.jumps), tuple(places.gaps))


def _grid(low: float, high: float) -> Array:
    # Round numbers are where people put kinks and jumps.
    halves = np.arange(np.ceil(2 * low), np.floor(2 * high) + 1) / 2
    even = np.linspace(low, high, GRID)
    return np.unique(np.concatenate([np.round(even[1:-1], 9), halves, [low, high]]))


def _suspects(fn: Function, x: Array, y: Array, tolerance: float, least: float) -> set[float]:
    left, right = _bisect(fn, x, y, tolerance, least)
    return {_roundest(a, b) for a, b in zip(left, right, strict=True)}


def _judged(
    fn: Function, suspects: Iterable[float], low: float, high: float, tolerance: float, least: float
) -> Places:
    found = Places()
    for place in sorted(suspects):
        if found.jumps and abs(place - found.jumps[-1].x) < 4 * tolerance:
            continue
        near, far = 2 * tolerance, 16 * tolerance
        at = np.array([-far, -near, 0.0, near, far]) + place
        inside = (at >= low) & (at <= high)
        v = np.full(5, np.nan)
        v[inside] = fn(at[inside])
        _judge(found, place, v, least)
    return found


def _judge(found: Places, place: float, v: Array, least: float) -> None:
    """Sort a break by its values at -far, -near, 0, near, far: jump, pole, or an end's value."""
    if np.isnan(v[1]) or np.isnan(v[3]):  # at an end only one side exists
        return
    size = max(abs(v[3] - v[1]), abs(v[2] - v[1]), abs(v[3] - v[2]))
    drift = np.nanmax([abs(v[1] - v[0]), abs(v[4] - v[3])])
    if not size > least:
        return
    # Both sides must stand still: at a pole the place itself can be any number.
    if drift < min(0.05 * size, 250 * least):
        found.jumps.append(Jump(place, float(v[1]), float(v[2]), float(v[3])))
    elif size > 100 * least:  # it grows without limit: a pole, not the steep place of a root
        found.gaps.append(place)


def _bisect(
    fn: Function, x: Array, y: Array, tolerance: float, least: float
) -> tuple[Array, Array]:
    a, b, fa, fb = x[:-1], x[1:], y[:-1], y[1:]
    while True:
        with np.errstate(invalid="ignore"):
            alive = np.abs(fb - fa) > least  # false for NaN
        a, b, fa, fb = a[alive], b[alive], fa[alive], fb[alive]
        if a.size == 0 or np.max(b - a) <= tolerance:
            return a, b
        middle = (a + b) / 2
        fm = fn(middle)
        with np.errstate(invalid="ignore"):
            keep_left = np.abs(fm - fa) >= np.abs(fb - fm)
        a, fa = np.where(keep_left, a, middle), np.where(keep_left, fa, fm)
        b, fb = np.where(keep_left, middle, b), np.where(keep_left, fm, fb)


def _roundest(a: float, b: float) -> float:
    """The number with the fewest decimals in [a, b]: the jump that was meant."""
    middle = (a + b) / 2
    for digits in range(7):
        rounded = round(middle, digits)
        if a <= rounded <= b:
            return float(rounded + 0.0)  # no negative zero
    return float(middle)


def _with_limits(
    fn: Function, x: Array, y: Array, places: Places, tolerance: float
) -> tuple[Array, Array]:
    for jump in places.jumps:
        x, y = _cut(x, y, jump.x, jump.left, jump.right, tolerance)
    for gap in places.gaps:
        sides = fn(np.array([gap - 2 * tolerance, gap + 2 * tolerance]))
        x, y = _cut(x, y, gap, float(sides[0]), float(sides[1]), tolerance)
    return x, y


def _cut(
    x: Array, y: Array, place: float, left: float, right: float, tolerance: float
) -> tuple[Array, Array]:
    away = np.abs(x - place) > 4 * tolerance
    x, y = x[away], y[away]
    where = int(np.searchsorted(x, place))
    return np.insert(x, [where, where], place), np.insert(y, [where, where], [left, right])


def _refined(fn: Function, x: Array, y: Array, tolerance: float) -> tuple[Array, Array]:
    error = _LINE_ERROR * spread(y)
    bent = np.ones(x.size - 1, bool)
    for _ in range(_ROUNDS):
        where = np.flatnonzero(bent & (np.diff(x) > 8 * tolerance))
        if where.size == 0 or x.size + where.size > MOST_SAMPLES:
            break
        middle = (x[where] + x[where + 1]) / 2
        values = fn(middle)
        with np.errstate(invalid="ignore"):
            off = np.abs(values - (y[where] + y[where + 1]) / 2) > error
            # A change between number and NaN is followed to its place, too.
            off |= np.isnan(values) != np.isnan(y[where] + y[where + 1])
        added = where[off]
        x, y = np.insert(x, added + 1, middle[off]), np.insert(y, added + 1, values[off])
        bent = np.zeros(x.size - 1, bool)
        new = added + np.arange(added.size) + 1
        bent[np.concatenate([new - 1, new])] = True
    return x, y
