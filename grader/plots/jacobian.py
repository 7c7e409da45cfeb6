"""Jacobians as heat maps, the wrong entries framed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grader.plots import captions
from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.fit import wrapped
from grader.plots.theme import PAPER, WRONG, house_style, readable_on
from grader.plots.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

MOST_NUMBERS = 10
"""Up to so many rows and columns the numbers are written into the cells."""
MOST_FRAMES = 60
SIGNED = ("#0a4a8c", "#5b9bd5", "#f7f7f7", "#e8a15c", "#8f3d00")  # blue below 0, orange above


def jacobian_map(
    got: ArrayLike,
    expected: ArrayLike | None = None,
    *,
    rtol: float = 1e-4,
    title: str = "Jacobian",
) -> Picture:
    """Heat maps of ``got``, ``expected`` and their ratio; rows are outputs, columns inputs.

    Arrays of any rank above 2 are laid out as (outputs, inputs) when ``got`` is square in rank
    (target + source of equal rank), else by the last axis. Entries that differ by more than
    ``rtol`` of the largest expected one are framed. Shapes that differ are said, not broadcast.
    """
    one = as_matrix(got)
    other = None if expected is None else as_matrix(expected)
    if other is None:
        return _side_by_side([("", one)], title, captions.heat_key(_largest(one)))
    if other.shape != one.shape:
        note = captions.shapes_differ(one.shape, other.shape)
        pair = [(captions.GOT, one), (captions.EXPECTED_ARRAY, other)]
        return _side_by_side(pair, title, note)
    wrong = wrong_entries(one, other, rtol)
    top = max(_largest(one), _largest(other))
    framed = wrong.sum() <= MOST_FRAMES
    width = 7.8 if one.shape[1] <= 6 else 9.0  # a narrow page shrinks what is wide
    note = wrapped(captions.heat_note(wrong, framed, top, none=not np.all(other)), width - 0.3, 8.5)
    below = 0.15 * note.count("\n")
    room = replace(_WITH_NOTE, bottom=_WITH_NOTE.bottom + below)
    with house_style():
        figure, axes = panels(width, _height(one) + 0.3 + below, 1, 3, room)
        head(figure, title, note)
        _heat(axes[0], one, captions.GOT, top)
        _heat(axes[1], other, captions.EXPECTED_ARRAY, top)
        _heat(axes[2], ratio(one, other), captions.RATIO, 2.0, centre=1.0)
        for axis in (axes[0], axes[2]) if framed else ():
            _frame(axis, wrong)
    return Picture(figure, title, captions.jacobian_alt(title, one.shape, wrong))


_WITH_NOTE = Margins(left=0.6, right=0.2, top=0.72, bottom=0.8, between=0.55)


def as_matrix(array: ArrayLike) -> Array:
    """(outputs, inputs): an even rank is split in half, an odd one before its last axis."""
    values = np.asarray(array, np.float64)
    if values.ndim < 2:
        return values.reshape(1, -1)
    half = values.ndim // 2 if values.ndim % 2 == 0 else values.ndim - 1
    return values.reshape(int(np.prod(values.shape[:half])), -1)


def wrong_entries(got: Array, expected: Array, rtol: float) -> NDArray[np.bool_]:
    """Where two matrices of one shape disagree; NaN agrees with NaN only."""
    room = rtol * float(np.nanmax(np.abs(expected), initial=0.0)) + 1e-12
    return ~np.isclose(got, expected, rtol=0.0, atol=room, equal_nan=True)


def ratio(got: Array, expected: Array) -> Array:
    """got / expected; NaN, which is drawn as none, where 0 is expected."""
    return np.divide(got, expected, out=np.full_like(expected, np.nan), where=expected != 0)


def _side_by_side(shown: Sequence[tuple[str, Array]], title: str, note: str) -> Picture:
    """The arrays alone, each under its name; the title and the note get the lines they need."""
    top = max(_largest(array) for _, array in shown)
    width = 3.4 * len(shown) + 0.4
    head_lines, note_lines = wrapped(title, width - 0.3), wrapped(note, width - 0.3, 8.5)
    above = 0.19 * head_lines.count("\n") - 0.2 * (not any(name for name, _ in shown))
    below = 0.15 * note_lines.count("\n")
    room = replace(_WITH_NOTE, top=_WITH_NOTE.top + above, bottom=_WITH_NOTE.bottom + below)
    with house_style():
        tall = max(_height(array) for _, array in shown) + 0.3 + above + below
        figure, axes = panels(width, tall, 1, len(shown), room)
        head(figure, head_lines, note_lines)
        for axis, (name, array) in zip(axes, shown, strict=True):
            _heat(axis, array, name, top)
    alt = captions.jacobian_alt(title, shown[0][1].shape, None)
    return Picture(figure, title, f"{alt} {note}")


def _largest(array: Array) -> float:
    return float(np.nanmax(np.abs(array), initial=1e-12))


def _height(array: Array) -> float:
    return float(np.clip(1.3 + 2.5 * array.shape[0] / array.shape[1], 1.9, 4.0))


def signed_colours() -> Colormap:
    """Blue below zero, orange above, grey where there is no number."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("grader", SIGNED).with_extremes(bad="#c9ccd1")


def _heat(axis: Axes, array: Array, title: str, reach: float, centre: float = 0.0) -> None:
    axis.set_title(title, loc="left")
    axis.grid(False)
    many = max(array.shape) > MOST_NUMBERS  # shapes by the hundred make a slow page
    span: dict[str, Any] = {"vmin": centre - reach, "vmax": centre + reach}
    mesh = axis.pcolormesh(array, cmap=signed_colours(), rasterized=many, **span)
    axis.invert_yaxis()
    axis.set_xlabel("input")
    axis.set_ylabel("output")
    for ticks, count in ((axis.set_xticks, array.shape[1]), (axis.set_yticks, array.shape[0])):
        shown = range(0, count, max(1, -(-count // 8)))
        ticks([i + 0.5 for i in shown], [str(i) for i in shown])
    if not many:
        _numbers(axis, array, mesh.to_rgba(array))


def _numbers(axis: Axes, array: Array, colours: Array) -> None:
    from matplotlib.colors import to_hex

    size = 8.0 if array.shape[1] <= 6 else 6.5
    for (i, j), value in np.ndenumerate(array):
        text = "–" if np.isnan(value) else number(float(value), 2)
        ink = readable_on(to_hex(tuple(colours[i, j])))
        axis.text(j + 0.5, i + 0.5, text, ha="center", va="center", color=ink, fontsize=size)


def _frame(axis: Axes, wrong: NDArray[np.bool_]) -> None:
    from matplotlib.patches import Rectangle

    for i, j in np.argwhere(wrong):
        for colour, width, style in ((PAPER, 3.6, "-"), (WRONG, 2.0, "--")):
            box = Rectangle((j + 0.07, i + 0.07), 0.86, 0.86, fill=False, ls=style, lw=width)
            box.set_edgecolor(colour.light)
            axis.add_patch(box)
