"""Adam from the inside: both moments and the motion of every entry, frozen times marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grader.plots import captions
from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.theme import INK, LEARNER, SOFT, TRUE, WRONG, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ENTRIES = 4
_COLOURS = (TRUE, LEARNER, INK, SOFT)
_STYLES = ("-", (0, (4, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)))
_MARKS = "os^D"


@dataclass(frozen=True)
class History:
    """What Adam held after each step: arrays of shape (steps, entries)."""

    first: Array
    second: Array
    motion: Array


def adam_history(
    gradients: ArrayLike,
    *,
    lr: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-7,
) -> History:
    """Adam in NumPy float64 on ``gradients`` (steps, entries), eps outside the root, as Keras.

    Kingma and Ba, "Adam", 2015, section 2 (the efficient form). ``motion`` is the change of the
    weights in each step.
    """
    g = np.asarray(gradients, np.float64)
    m, v = np.zeros_like(g), np.zeros_like(g)
    for t in range(g.shape[0]):
        before = (m[t - 1], v[t - 1]) if t else (0.0, 0.0)
        m[t] = beta1 * before[0] + (1 - beta1) * g[t]
        v[t] = beta2 * before[1] + (1 - beta2) * g[t] ** 2
    step = np.arange(1.0, g.shape[0] + 1)[:, None]
    size = lr * np.sqrt(1 - beta2**step) / (1 - beta1**step)
    return History(m, v, -size * m / (np.sqrt(v) + eps))


def adam_moments(
    first: ArrayLike,
    second: ArrayLike,
    motion: ArrayLike | None = None,
    *,
    frozen: ArrayLike | None = None,
    title: str = "Adam's moments",
) -> Picture:
    """First and second moments over steps, and the motion of the weights below them.

    All arrays (steps, entries), at most four entries; ``frozen`` is a mask of that shape or
    (entries,), true where an entry must not move. Frozen steps are shaded and their samples
    crossed where the entry moved all the same. Raises ValueError for other shapes.
    """
    rows = [np.asarray(a, np.float64) for a in (first, second, motion) if a is not None]
    if any(a.shape != rows[0].shape or a.ndim != 2 for a in rows):
        raise ValueError(f"shapes {[a.shape for a in rows]}: all must be one (steps, entries)")
    if rows[0].shape[1] > MOST_ENTRIES:
        raise ValueError(f"{rows[0].shape[1]} entries; {MOST_ENTRIES} are the most")
    mask = np.broadcast_to(np.zeros(1, bool) if frozen is None else np.asarray(frozen, bool),
                           rows[0].shape)  # fmt: skip
    with house_style():
        figure, axes = panels(6.8, 0.9 + 1.45 * len(rows), len(rows), 1, _MARGINS)
        head(figure, title)
        for axis, array, name in zip(axes, rows, captions.MOMENTS, strict=False):
            _lines(axis, array, mask, name)
        if motion is not None:
            _crosses(axes[2], rows[2], mask)
        _legend(axes[0], mask, axes[-1])
    return Picture(figure, title, captions.adam_alt(title, rows, mask))


_MARGINS = Margins(left=0.85, top=0.68, between=0.22)


def _lines(axis: Axes, array: Array, mask: NDArray[np.bool_], name: str) -> None:
    steps = np.arange(1, array.shape[0] + 1)
    for k in range(array.shape[1]):
        colour = _COLOURS[k].light
        style: dict[str, Any] = {
            "color": colour,
            "ls": _STYLES[k],
            "marker": _MARKS[k],
            "ms": 3.5,
            "lw": 1.4,
        }
        axis.plot(steps, array[:, k], label=captions.ENTRY.format(k), **style)
        held = mask[:, k]
        axis.plot(steps[held], array[held, k], ls="none", marker=_MARKS[k], ms=6.5,
                  mfc="none", mec=colour)  # fmt: skip
    _shade(axis, mask)
    axis.axhline(0, color=SOFT.light, lw=0.8)
    axis.set_ylabel(name)
    axis.set_xlim(0.5, array.shape[0] + 0.5)
    axis.ticklabel_format(axis="y", scilimits=(-3, 4), useMathText=True)


def _shade(axis: Axes, mask: NDArray[np.bool_]) -> None:
    for start, end in spans(np.asarray(mask.any(axis=1))):
        axis.axvspan(start + 0.5, end + 0.5, facecolor=SOFT.light, alpha=0.2, lw=0)


def spans(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of true entries as (first, one past the last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _crosses(axis: Axes, motion: Array, mask: NDArray[np.bool_]) -> None:
    steps, entries = np.nonzero(mask & (motion != 0))
    if steps.size:
        axis.plot(steps + 1, motion[steps, entries], ls="none", marker="x", ms=8, mew=1.8,
                  color=WRONG.light, label=captions.MOVED, zorder=6)  # fmt: skip


def _legend(axis: Axes, mask: NDArray[np.bool_], last: Axes) -> None:
    from matplotlib.patches import Patch

    handles, labels = axis.get_legend_handles_labels()
    if mask.any():
        handles.append(Patch(facecolor=SOFT.light, alpha=0.2, lw=0))
        labels.append(captions.FROZEN)
    for handle, label in zip(*last.get_legend_handles_labels(), strict=True):
        if label == captions.MOVED:
            handles.append(handle)
            labels.append(label)
    axis.legend(handles, labels, loc="lower left", bbox_to_anchor=(-0.015, 1.0), ncols=6,
                borderpad=0.1, columnspacing=1.0)  # fmt: skip
    for other in axis.figure.axes[:-1]:
        other.tick_params(labelbottom=False)
    last.set_xlabel("step")
