"""A loss over two parameters, and the ways that optimizers take across it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from grader.plots import captions
from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.theme import GRID, INK, LEARNER, SOFT, TRUE, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID_SIZE = 91
_COLOURS = (TRUE, LEARNER, INK, SOFT)
_STYLES = ("-", (0, (4, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)))
_MARKS = "os^D"


def loss_surface(
    f: Callable[[Any], Any],
    steps: Mapping[str, ArrayLike] | None = None,
    *,
    low: float | tuple[float, float] | None = None,
    high: float | tuple[float, float] | None = None,
    title: str = "Loss surface",
) -> Picture:
    """Contours of ``f`` (a vector of two parameters to a scalar) and paths across them.

    ``steps`` maps a name ("gradient", "Newton") to its path, an array (k, 2) with the start
    first. ``low`` and ``high`` bound both axes; by default the paths with some room. Levels
    are spaced so that a narrow valley shows. Raises ValueError for paths of another shape.
    """
    paths = {name: np.asarray(path, np.float64) for name, path in (steps or {}).items()}
    _check(paths)
    (x0, y0), (x1, y1) = _bounds(paths, low, high)
    x, y = np.linspace(x0, x1, GRID_SIZE), np.linspace(y0, y1, GRID_SIZE)
    z = heights(f, x, y)
    with house_style():
        figure, (axis,) = panels(5.6, 4.6, 1, 1, Margins())
        head(figure, title)
        axis.grid(False)
        levels = _levels(z)
        axis.contourf(x, y, z, levels, colors=_shades(len(levels) - 1), extend="both")
        axis.contour(x, y, z, levels, colors=[SOFT.light], linewidths=0.6, linestyles="solid")
        for k, (name, path) in enumerate(paths.items()):
            _path(axis, path, name, k)
        axis.set(xlabel="w₀", ylabel="w₁", xlim=(x0, x1), ylim=(y0, y1))
        if paths:
            axis.legend(loc="lower left", bbox_to_anchor=(-0.015, 1.0), ncols=4, borderpad=0.1)
    ends = {name: (path.shape[0] - 1, _at(f, path[-1])) for name, path in paths.items()}
    return Picture(figure, title, captions.surface_alt(title, float(np.nanmin(z)), ends))


def _check(paths: dict[str, Array]) -> None:
    for name, path in paths.items():
        if path.ndim != 2 or path.shape[1] != 2:
            raise ValueError(f"the path {name!r} has shape {path.shape}; it must be (steps, 2)")


def heights(f: Callable[[Any], Any], x: Array, y: Array) -> Array:
    """f at every point of the grid, shape (y, x); f sees one point at a time."""
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = _traced(f, points)
    if values is None:
        values = np.array([_at(f, point) for point in points])
    return values.reshape(y.size, x.size)


def _traced(f: Callable[[Any], Any], points: Array) -> Array | None:
    """All points in one traced loop, which is ten times as fast; None where f has none of it."""
    if "tensorflow" not in sys.modules:
        return None
    import tensorflow as tf

    def height(point: Any) -> Any:
        return tf.reshape(tf.cast(f(point), tf.float32), [])

    run = tf.function(lambda given: tf.map_fn(height, given), autograph=False)
    try:
        return np.asarray(run(tf.constant(points, tf.float32)), np.float64)
    except Exception:
        # NumPy inside, or values that a trace has not: point by point it can still work.
        return None


def _at(f: Callable[[Any], Any], point: Array) -> float:
    if "tensorflow" in sys.modules:
        import tensorflow as tf

        return float(np.squeeze(np.asarray(f(tf.constant(point, tf.float32)))))
    return float(np.squeeze(np.asarray(f(point))))


Pair = tuple[float, float]


def _bounds(
    paths: dict[str, Array], low: float | Pair | None, high: float | Pair | None
) -> tuple[Pair, Pair]:
    every = np.concatenate([*paths.values(), np.empty((0, 2))])
    if every.size == 0:
        every = np.array([[-2.0, -2.0], [2.0, 2.0]])
    room = 0.25 * max(float(np.ptp(every, axis=0).max()), 1e-3)
    least, most = every.min(axis=0) - room, every.max(axis=0) + room
    least = least if low is None else np.broadcast_to(low, 2)
    most = most if high is None else np.broadcast_to(high, 2)
    if not np.all(least < most):
        raise ValueError(f"the square from {low} to {high} is empty")
    return (float(least[0]), float(least[1])), (float(most[0]), float(most[1]))


def _levels(z: Array) -> Array:
    # Even steps of the root: rings of a quadratic bowl come evenly spaced. The least of them is
    # no narrower than a few steps of the grid, which would cut it into islands.
    low, high = float(np.nanmin(z)), float(np.nanpercentile(z, 97))
    return np.asarray(low + (high - low or 1.0) * np.linspace(0.05, 1, 14) ** 2)


def _shades(count: int) -> list[tuple[str, float]]:
    # One role in many strengths: the paper shines through, so that it serves in both themes.
    return [(GRID.light, float(a)) for a in np.linspace(0.0, 0.95, count + 2)]


def _path(axis: Axes, path: Array, name: str, k: int) -> None:
    k %= 4
    colour = _COLOURS[k].light
    axis.plot(
        path[:, 0], path[:, 1], color=colour, ls=_STYLES[k], marker=_MARKS[k], ms=4, label=name
    )
    axis.plot(*path[-1], marker=_MARKS[k], ms=8, color=colour)
