"""The V of finite differences: too large a step and too small a step are both wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from grader.plots import captions
from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.theme import LEARNER, SOFT, TRUE, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 10.0 ** np.arange(-12, 0.01, 0.25)
_FLOOR = 1e-17  # where an error of exactly 0 is drawn on the logarithmic axis


def v_curve(
    f: Callable[[Any], Any],
    x: ArrayLike,
    *,
    exact: ArrayLike | None = None,
    dtypes: Sequence[str] = ("float32", "float64"),
    steps: ArrayLike = STEPS,
    title: str | None = None,
) -> Picture:
    """The error of central differences of ``f`` at ``x`` over the step, on logarithmic axes.

    ``f`` works entry by entry (its result has x's shape), in TensorFlow or NumPy. ``exact`` is
    the derivative at x; by default the tape's, in float64. The error is the largest over the
    entries, relative to the largest derivative. The best step of each dtype is marked.
    """
    place = np.atleast_1d(np.asarray(x, np.float64))
    truth = _from_tape(f, place) if exact is None else np.asarray(exact, np.float64)
    h = np.asarray(steps, np.float64)
    errors = {dtype: difference_errors(f, place, truth, h, dtype) for dtype in dtypes}
    title = title or captions.V_TITLE
    with house_style():
        figure, (axis,) = panels(6.4, 3.6, 1, 1, Margins(left=0.75))
        head(figure, title)
        for k, (dtype, error) in enumerate(errors.items()):
            _v(axis, h, error, dtype, k)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("step h")
        axis.set_ylabel("relative error")
        axis.legend(loc="lower left", bbox_to_anchor=(-0.015, 1.0), ncols=2, borderpad=0.1)
    best = {dtype: float(h[_best(error)]) for dtype, error in errors.items()}
    return Picture(figure, title, captions.v_alt(title, best))


def difference_errors(
    f: Callable[[Any], Any], x: Array, exact: Array, steps: Array, dtype: str
) -> Array:
    """For each step the error of (f(x+h) − f(x−h)) / 2h, all taken in ``dtype``; NaN allowed."""
    scale = float(np.max(np.abs(exact))) or 1.0
    errors = []
    for h in steps:
        at, width = x.astype(dtype), np.asarray(h, dtype)
        with np.errstate(all="ignore"):
            two = width + width
            numeric = (_call(f, at + width) - _call(f, at - width)) / two
        errors.append(np.max(np.abs(numeric.astype(np.float64) - exact)) / scale)
    return np.array(errors)


def _call(f: Callable[[Any], Any], x: Array) -> Array:
    import sys

    # A function of NumPy alone should not wait for TensorFlow to load.
    if "tensorflow" in sys.modules:
        import tensorflow as tf

        return np.asarray(f(tf.constant(x)), x.dtype)
    return np.asarray(f(x), x.dtype)


def _from_tape(f: Callable[[Any], Any], x: Array) -> Array:
    from grader.plots.tape import Sampler

    found = Sampler(f, "eager", "float64").gradient(x)
    if found is None:
        raise ValueError(captions.NO_EXACT)
    return found


def _best(errors: Array) -> int:
    return int(np.nanargmin(errors))


def _v(axis: Axes, h: Array, errors: Array, dtype: str, k: int) -> None:
    colour = (TRUE, LEARNER, SOFT)[k % 3].light
    style = ("-", (0, (4, 2)), (0, (1, 1)))[k % 3]
    mark = "os^"[k % 3]
    shown = np.maximum(errors, _FLOOR)
    best = _best(errors)
    label = captions.v_line(dtype, float(h[best]))
    axis.plot(h, shown, color=colour, ls=style, marker=mark, ms=3, lw=1.4, label=label)
    axis.plot(h[best], shown[best], marker=mark, ms=9, color=colour)
