"""A Jacobian as ribbons that flow from inputs to outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grader.plots import captions
from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.jacobian import as_matrix, wrong_entries
from grader.plots.theme import EXPECTED, INK, LEARNER, TRUE, WRONG, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ribbons(
    got: ArrayLike,
    expected: ArrayLike | None = None,
    *,
    rtol: float = 1e-4,
    title: str = "How inputs reach outputs",
) -> Picture:
    """Ribbons from inputs (above) to outputs (below), as wide as the entry of the Jacobian.

    Blue is positive, orange and dotted negative; with ``expected`` of the same shape, what is
    wrong is red and dashed, and grey and dashed where a ribbon is missing. Raises ValueError
    for differing shapes.
    """
    one = as_matrix(got)
    other = one if expected is None else as_matrix(expected)
    if one.shape != other.shape:
        raise ValueError(captions.shapes_differ(one.shape, other.shape))
    wrong = wrong_entries(one, other, rtol)
    with house_style():
        figure, (axis,) = panels(6.4, 3.6, 1, 1, Margins(left=0.7, top=0.65, bottom=0.55))
        head(figure, title)
        _nodes(axis, one.shape)
        top = float(np.nanmax(np.abs([one, other]), initial=1e-12))
        for i, j in np.ndindex(one.shape):
            _ribbon(axis, one, other, (i, j), bool(wrong[i, j]), top)
        _ribbon_legend(axis, one, wrong)
    return Picture(figure, title, captions.ribbons_alt(title, one, wrong))


def _spots(count: int) -> Array:
    return (np.arange(count) + 0.5) / count


def _nodes(axis: Axes, shape: tuple[int, ...]) -> None:
    outputs, inputs = shape
    axis.grid(False)
    axis.set_xlim(0, 1)
    axis.set_ylim(-0.12, 1.12)
    axis.spines[:].set_visible(False)
    axis.set_yticks([0, 1], ["outputs", "inputs"])
    axis.tick_params(length=0)
    style: dict[str, Any] = {"ls": "none", "marker": "o", "color": INK.light, "ms": 5, "zorder": 5}
    axis.plot(_spots(inputs), np.ones(inputs), **style)
    axis.plot(_spots(outputs), np.zeros(outputs), **style)
    shown = range(0, outputs, -(-outputs // 12))
    axis.set_xticks(_spots(outputs)[shown], [str(k) for k in shown])
    axis.set_xlabel("index (outputs below, inputs above)")
    if inputs <= 12:
        for k, x in enumerate(_spots(inputs)):
            axis.text(x, 1.07, str(k), ha="center", fontsize=8)


def _ribbon(
    axis: Axes, got: Array, expected: Array, place: tuple[int, int], wrong: bool, top: float
) -> None:
    value = got[place] if got[place] != 0 or not wrong else expected[place]
    if value == 0 and not wrong:
        return
    missing = wrong and got[place] == 0
    colour = EXPECTED if missing else WRONG if wrong else TRUE if value > 0 else LEARNER
    style = (0, (3, 1.6)) if wrong else "-" if value > 0 else (0, (1, 0.7))
    size = 1.0 if np.isnan(value) else abs(float(value)) / top
    t = np.linspace(0, 1, 24)
    bend = t * t * (3 - 2 * t)
    start, end = _spots(got.shape[1])[place[1]], _spots(got.shape[0])[place[0]]
    width: dict[str, Any] = {"lw": 1.0 + 5.0 * size, "alpha": 0.85, "solid_capstyle": "butt"}
    over = 3 if wrong else 2
    x = start + (end - start) * bend
    axis.plot(x, 1 - t, color=colour.light, ls=style, zorder=over, **width)


def _ribbon_legend(axis: Axes, got: Array, wrong: NDArray[np.bool_]) -> None:
    kinds = [
        (captions.POSITIVE, TRUE, "-", np.any((got > 0) & ~wrong)),
        (captions.NEGATIVE, LEARNER, (0, (1, 0.7)), np.any((got < 0) & ~wrong)),
        (captions.WRONG_RIBBON, WRONG, (0, (3, 1.6)), np.any(wrong & (got != 0))),
        (captions.MISSING, EXPECTED, (0, (3, 1.6)), np.any(wrong & (got == 0))),
    ]
    for name, colour, style, there in kinds:
        if there:
            axis.plot([], [], color=colour.light, ls=style, lw=3, label=name)
    axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderpad=0.1)
