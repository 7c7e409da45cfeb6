"""Draw a surrogate card from its arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.plots import words
from grader.plots.card import Card, limits
from grader.plots.curve import Jump
from grader.plots.figure import Margins, Picture, head, panels
from grader.plots.theme import EXPECTED, INK, LEARNER, PAPER, TRUE, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ARROWS = 40
BAND = 5.0  # the width of what is expected, under the learner's line
_FEW_SAMPLES = 64


def draw_card(card: Card, *, small: bool = False) -> Picture:
    """Draw a card: two panels, one above the other, or side by side when ``small``."""
    spoken = card.note if card.surrogate is not None else ""
    with house_style():
        figure, axes = _small_panels(card, spoken) if small else _large_panels(spoken)
        head(figure, card.title, spoken)
        _draw_values(axes[0], card)
        _draw_derivatives(axes[1], card)
        for axis in axes:
            axis.set_xlim(card.low, card.high)
            axis.set_xlabel("x")
            _legend(axis, small)
            axis.locator_params(nbins=4 if small else 7)
    return Picture(figure, card.title, words.card_alt(card))


def _large_panels(note: str) -> tuple[Figure, list[Axes]]:
    under = 0.25 if note else 0.0
    margins = Margins(top=0.62, bottom=0.5 + under, between=0.8)
    return panels(6.8, 5.4 + under, 2, 1, margins)


def _small_panels(card: Card, note: str) -> tuple[Figure, list[Axes]]:
    values = 1 + (card.smooth is not None) + (card.averaged is not None)
    slopes = sum(c is not None for c in (card.slope, card.surrogate, card.expected))
    top, under = 0.4 + 0.17 * max(values, slopes), 0.25 if note else 0.0
    margins = Margins(top=top, bottom=0.45 + under, between=0.62)
    return panels(7.2, 1.45 + margins.top + margins.bottom, 1, 2, margins)


def _legend(axis: Axes, small: bool) -> None:
    handles, labels = axis.get_legend_handles_labels()
    # What lies beneath is drawn first and named last.
    if handles and labels[0] in words.BANDS:
        handles, labels = [*handles[1:], handles[0]], [*labels[1:], labels[0]]
    place: dict[str, Any] = {"bbox_to_anchor": (-0.015, 1.0), "borderpad": 0.1}
    shape: dict[str, Any] = {"ncols": 1 if small else 3, "labelspacing": 0.15, "columnspacing": 0.9}
    axis.legend(
        handles, labels, loc="lower left", handlelength=2.3, handletextpad=0.6, **place, **shape
    )


def _draw_values(axis: Axes, card: Card) -> None:
    axis.set_ylabel("value")
    if card.averaged is not None:
        label = words.AVERAGED if card.slope is not None else words.EXPECTED_FORWARD
        axis.plot(*card.averaged.line(), color=EXPECTED.light, lw=BAND, alpha=0.55, label=label)
    axis.plot(*card.forward.line(), color=TRUE.light, label=words.FORWARD)
    _dots(axis, card.forward.jumps, TRUE.light)
    if card.smooth is not None:
        x, y = card.smooth.line()
        axis.plot(x, y, color=LEARNER.light, ls=(0, (4, 2)), label=words.SMOOTH)
    axis.set_ylim(limits([card.forward, card.smooth, card.averaged]))


def _draw_derivatives(axis: Axes, card: Card) -> None:
    axis.set_ylabel("derivative")
    if card.expected is not None:
        of_noise = card.averaged is not None and card.slope is not None
        label = words.AVERAGED_SLOPE if of_noise else words.EXPECTED
        axis.plot(*card.expected.line(), color=EXPECTED.light, lw=BAND, alpha=0.55, label=label)
    arrows = [j for j in card.forward.jumps if np.isfinite(j.at) and j.mass != 0.0]
    if card.slope is not None:
        label = words.TRUE_WITH_JUMPS if arrows else words.TRUE
        axis.plot(*card.slope.line(), color=TRUE.light, label=label)
        _dots(axis, card.slope.jumps, TRUE.light)
        _arrows(axis, arrows)
    if card.surrogate is not None:
        x, y = card.surrogate.line()
        few = "s" if x.size < _FEW_SAMPLES else None  # then every sample is seen
        style: dict[str, Any] = {"ls": (0, (4, 2)), "lw": 2.2, "marker": few, "ms": 4}
        axis.plot(x, y, color=LEARNER.light, label=card.surrogate_name, **style)
        _dots(axis, card.surrogate.jumps, LEARNER.light, marker="s")
    if card.surrogate is None:
        _say(axis, card.note)
    masses = [jump.mass for jump in arrows] if card.slope is not None else []
    axis.set_ylim(limits([card.slope, card.surrogate, card.expected], [0.0, *masses]))


def _dots(axis: Axes, jumps: tuple[Jump, ...], colour: str, marker: str = "o") -> None:
    """Open dots at the limits, a filled one at the value."""
    if len(jumps) > MOST_ARROWS:
        return
    places = [j.x for j in jumps]
    style: dict[str, Any] = {
        "ls": "none",
        "marker": marker,
        "ms": 5,
        "mec": colour,
        "clip_on": False,
        "zorder": 4,
    }
    for ends in ([j.left for j in jumps], [j.right for j in jumps]):
        axis.plot(places, ends, mfc=PAPER.light, **style)
    axis.plot(places, [j.at for j in jumps], mfc=colour, **{**style, "zorder": 5})


def _arrows(axis: Axes, jumps: list[Jump]) -> None:
    if len(jumps) > MOST_ARROWS:
        # Heads would hide each other.
        axis.vlines([j.x for j in jumps], 0, [j.mass for j in jumps], colors=TRUE.light, lw=0.8)
        return
    for jump in jumps:
        style = {"arrowstyle": "-|>", "color": TRUE.light, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
        axis.annotate("", (jump.x, jump.mass), (jump.x, 0.0), arrowprops=style, zorder=6)
    labelled = jumps if len(jumps) <= 12 else []
    for jump in labelled:
        axis.annotate(
            words.mass(jump),
            (jump.x, jump.mass),
            (4, -2 if jump.mass > 0 else 2),
            textcoords="offset points",
            color=TRUE.light,
            va="top" if jump.mass > 0 else "bottom",
            bbox={"facecolor": PAPER.light, "edgecolor": "none", "pad": 0.4, "alpha": 0.85},
            zorder=6,  # a surrogate may run through it
        )


def _say(axis: Axes, note: str) -> None:
    box = {"facecolor": PAPER.light, "edgecolor": INK.light, "pad": 3.0, "linewidth": 0.6}
    axis.text(0.5, 0.5, note, transform=axis.transAxes, ha="center", va="center", bbox=box,
              wrap=True, zorder=9, fontsize=8.5)  # fmt: skip
