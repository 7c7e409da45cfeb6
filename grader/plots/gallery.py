"""Small images in rows: digits, kernels, gradients to an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.fit import wide
from grader.plots.jacobian import signed_colours
from grader.plots.theme import house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK = ("#fefefe", "#000000")


def images(
    title: str,
    rows: Sequence[Sequence[ArrayLike]],
    *,
    names: Sequence[str] = (),
    titles: Sequence[str] = (),
    low: float = 0.0,
    high: float = 1.0,
    signed: bool = False,
    axes: tuple[str, str] = ("", ""),
    size: float = 0.58,
    note: str = "",
) -> Picture:
    """Rows of matrices (height, width) as images of ``size`` inches.

    ``names`` stand at the left of the rows, ``titles`` above the columns. Ink is dark on light
    paper in both themes, ``low`` white and ``high`` black; when ``signed``, each image has a
    scale of its own, blue below zero and orange above. ``axes`` labels x and y.
    """
    count = max(len(row) for row in rows)
    room = _room(names, titles, axes, bool(note))
    across = size * count + room.between * (count - 1) + room.left
    width = max(across + room.right, wide(title) + 0.3, wide(note, 8.5) + 0.3)
    tall = size * len(rows) + room.between * (len(rows) - 1) + room.top + room.bottom
    room = Margins(room.left, width - across, room.top, room.bottom, room.between)
    with house_style():
        figure, cells = panels(width, tall, len(rows), count, room)
        head(figure, title, note)
        for place, axis in enumerate(cells):
            r, c = divmod(place, count)
            _frame(
                axis,
                axes,
                names[r] if names and c == 0 else "",
                titles[c] if titles and r == 0 else "",
            )
            if c < len(rows[r]):
                _draw(axis, np.asarray(rows[r][c], np.float64), low, high, signed)
    return Picture(figure, title, _alt(title, rows, (*names, *titles), note))


def _room(
    names: Sequence[str], titles: Sequence[str], axes: tuple[str, str], note: bool
) -> Margins:
    labelled = any(axes)
    side = max((wide(name, 9.0) + 0.12 for name in names), default=0.0)
    return Margins(
        left=0.15 + side + 0.45 * labelled,
        right=0.15,
        top=0.45 + 0.22 * bool(titles),
        bottom=0.1 + 0.2 * note + 0.42 * labelled,
        between=0.6 if labelled else 0.06 + 0.14 * bool(titles),
    )


def _frame(axis: Axes, axes: tuple[str, str], name: str, title: str) -> None:
    axis.grid(False)
    if any(axes):
        axis.set(xlabel=axes[0], ylabel=axes[1])
    else:
        axis.set_axis_off()
    axis.set_title(title, loc="left", fontsize=9)
    axis.annotate(name, (0, 0.5), (-6, 0), "axes fraction", "offset points", ha="right",
                  va="center", fontsize=9)  # fmt: skip


def _draw(axis: Axes, image: Array, low: float, high: float, signed: bool) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    if signed:
        high = float(np.nanmax(np.abs(image), initial=0.0)) or 1.0
        low = -high
    colours = signed_colours() if signed else LinearSegmentedColormap.from_list("ink", _INK)
    axis.imshow(image, cmap=colours, vmin=low, vmax=high)


def _alt(title: str, rows: Sequence[Sequence[ArrayLike]], words: Sequence[str], note: str) -> str:
    how_many = f"{len(rows)} {'row' if len(rows) == 1 else 'rows'} of {len(rows[0])} images"
    return " ".join(
        filter(None, (f"{title}: {how_many}.", ", ".join(words) + "." * bool(words), note))
    )
