"""Lines over one, two or a few axes: losses, errors, costs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from grader.plots.curve import Array
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.theme import INK, LEARNER, SOFT, TRUE, WRONG, Colour, house_style
from grader.plots.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST = 7.8  # inches; in a narrow JupyterLab a wider chart shrinks until its ticks are no words
Look = tuple[Colour, Any, str]
LOOKS: dict[str, Look] = {
    "true": (TRUE, "-", "o"),
    "learner": (LEARNER, (0, (4, 2)), "s"),
    "soft": (SOFT, (0, (1, 1)), "^"),
    "ink": (INK, (0, (6, 2, 1, 2)), "D"),
    "wrong": (WRONG, (0, (2, 1)), "x"),
}
"""Colour, line style and mark by role; never colour alone."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes: ``lines`` are values by name.

    A value is y, its x counted from ``first``; or a pair (x, y); or one number, drawn as a level
    line. ``log`` names the logarithmic axes: "x", "y" or "xy". ``shaded`` is a span of x. Lines
    named in ``marks`` get a mark at each value, those in ``points`` marks only.
    """

    lines: Mapping[str, ArrayLike | tuple[ArrayLike, ArrayLike] | float]
    x: str = ""
    y: str = ""
    title: str = ""
    log: str = ""
    ylim: tuple[float | None, float | None] = (None, None)
    shaded: tuple[float, float] | None = None
    marks: Collection[str] = ()
    points: Collection[str] = ()
    first: int = 0


def lines(
    title: str,
    *shown: Panel,
    looks: Mapping[str, str] | None = None,
    note: str = "",
    size: tuple[float, float] | None = None,
) -> Picture:
    """Line charts side by side, one per :class:`Panel`.

    The same name looks the same in every panel. ``looks`` gives a name a role of ``LOOKS``; the
    others take the roles in turn, level lines the soft one. ``size`` is in inches.
    """
    roles = _roles(shown, looks or {})
    shared = _shared(shown)
    titled = any(panel.title for panel in shown)
    above = 0.42 + 0.27 * any(len(p.lines) > 1 for p in shown) + 0.24 * titled
    room = Margins(left=0.75, top=above, bottom=0.5 + 0.15 * bool(note), between=0.75)
    width, height = size or (min(WIDEST, 2.6 + 3.0 * len(shown)), 2.4 + above)
    with house_style():
        figure, axes = panels(width, height, 1, len(shown), room)
        head(figure, title, note)
        for axis, panel in zip(axes, shown, strict=True):
            _panel(axis, panel, roles)
            if len(panel.lines) > 1 and (not shared or axis is axes[0]):
                _legend(axis, 0.24 * titled / (height - above - room.bottom))
    return Picture(figure, title, _alt(title, shown, note))


def _roles(shown: Sequence[Panel], looks: Mapping[str, str]) -> dict[str, Look]:
    """A look for every name, in the order in which the names come."""
    turn = [role for role in LOOKS if role not in looks.values()]
    roles: dict[str, Look] = {}
    for panel in shown:
        own = iter(role for role in turn)
        for name, value in panel.lines.items():
            level = np.ndim(np.asarray(_pair(value)[1])) == 0
            role = looks.get(name) or ("soft" if level else next(own, "ink"))
            roles.setdefault(name, LOOKS[role])
    return roles


def _pair(value: Any) -> tuple[Array | None, Array]:
    """x and y of a line; x is None where it is counted, or where the line is level."""
    if isinstance(value, tuple):
        return np.asarray(value[0], np.float64), np.asarray(value[1], np.float64)
    return None, np.asarray(value, np.float64)


def _shared(shown: Sequence[Panel]) -> bool:
    """Whether the first panel's names serve for all: then one legend is enough."""
    return all(set(panel.lines) <= set(shown[0].lines) for panel in shown)


def _panel(axis: Axes, panel: Panel, roles: Mapping[str, Look]) -> None:
    if panel.shaded:
        axis.axvspan(*panel.shaded, facecolor=SOFT.light, alpha=0.2, lw=0)
    # Earlier lines are wider: a line that lies on another leaves it to be seen.
    widths = np.linspace(max(1.8, 0.9 * len(panel.lines)), 1.8, len(panel.lines))
    for (name, value), width in zip(panel.lines.items(), widths, strict=True):
        (colour, style, mark), (x, y) = roles[name], _pair(value)
        look: dict[str, Any] = {"color": colour.light, "ls": style, "lw": width, "label": name}
        if y.ndim == 0:
            axis.axhline(float(y), **look | {"lw": 1.2})
            continue
        if name in panel.points:
            look |= {"ls": "none", "mfc": "none"}
        marked = name in panel.points or name in panel.marks
        places = np.arange(panel.first, panel.first + y.size) if x is None else x
        axis.plot(places, y, marker=mark * marked, ms=5, **look)
    for which in panel.log:
        getattr(axis, f"set_{which}scale")("log")
    if "x" not in panel.log and _counts(panel):
        axis.locator_params(axis="x", integer=True)
    axis.set(xlabel=panel.x, ylabel=panel.y, ylim=panel.ylim)
    axis.set_title(panel.title, loc="left")


def _counts(panel: Panel) -> bool:
    """Whether x is a count in every line: there is no epoch 2.5."""
    places = [_pair(value)[0] for value in panel.lines.values()]
    return all(x is None or np.array_equal(x, np.round(x)) for x in places)


def _legend(axis: Axes, lift: float) -> None:
    many = len(axis.get_legend_handles_labels()[0])
    axis.legend(ncols=many, loc="lower left", bbox_to_anchor=(-0.03, 1.0 + lift), borderpad=0.1,
                columnspacing=1.2)  # fmt: skip


def _alt(title: str, shown: Sequence[Panel], note: str) -> str:
    says = [f"{title}.", note]
    for panel in shown:
        what = " over ".join(filter(None, (panel.y, panel.x)))
        ends = "; ".join(f"{name} {_run(_pair(value)[1])}" for name, value in panel.lines.items())
        says.append(f"{': '.join(filter(None, (panel.title, what)))}: {ends}.")
    return " ".join(filter(None, says))


def _run(y: Array) -> str:
    if y.ndim == 0 or not y.size:
        return f"at {number(float(y))}" if y.size else "is empty"
    return f"from {number(float(y[0]))} to {number(float(y[-1]))}"
