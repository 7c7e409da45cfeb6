"""The colours of every picture, by the part they play, in a light and a dark theme.

A picture is drawn once, in the light colours. In its SVG each of these colours becomes a CSS
variable, so that the picture follows the theme of the page it stands in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Colour:
    """One colour in two themes, as ``#rrggbb``."""

    light: str
    dark: str


PAPER = Colour("#ffffff", "#111111")
INK = Colour("#1f2430", "#e6e8eb")
SOFT = Colour("#57606a", "#a9b1ba")
GRID = Colour("#d9dee4", "#343a41")
TRUE = Colour("#0b5cad", "#6cb6ff")
LEARNER = Colour("#b0500a", "#ffa657")
EXPECTED = Colour("#7f8791", "#878f99")
WRONG = Colour("#bf1b2c", "#ff8078")

ROLES: dict[str, Colour] = {
    "paper": PAPER,
    "ink": INK,
    "soft": SOFT,
    "grid": GRID,
    "true": TRUE,
    "learner": LEARNER,
    "expected": EXPECTED,
    "wrong": WRONG,
}


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two ``#rrggbb`` colours, 1 to 21 (WCAG 2.2, relative luminance)."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def readable_on(background: str) -> str:
    """Near-black or white, whichever reads better on ``background``; the same in both themes."""
    return max(("#000000", "#fefefe"), key=lambda ink: contrast(ink, background))


@contextmanager
def house_style() -> Iterator[None]:
    """Draw and render in the course's style, whatever ``rcParams`` the notebook has set.

    Everything is put back on leaving; pyplot is never touched.
    """
    import matplotlib as mpl

    style: Any = _defaults() | _STYLE
    with mpl.rc_context(style):
        yield


@cache
def _defaults() -> dict[str, Any]:
    import matplotlib as mpl

    # Touching the backend would start pyplot's machinery; the rest are not about drawing.
    kept = ("backend", "interactive", "toolbar", "timezone", "webagg", "savefig.directory", "tk.")
    return {k: v for k, v in mpl.rcParamsDefault.items() if not k.startswith(kept)}


_STYLE: dict[str, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "grader",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "figure.facecolor": PAPER.light,
    "savefig.facecolor": PAPER.light,
    "axes.facecolor": PAPER.light,
    "axes.edgecolor": SOFT.light,
    "axes.labelcolor": INK.light,
    "axes.titlecolor": INK.light,
    "text.color": INK.light,
    "xtick.color": SOFT.light,
    "ytick.color": SOFT.light,
    "xtick.labelcolor": INK.light,
    "ytick.labelcolor": INK.light,
    # The grid marks the places; tick marks would only add a fifth to the drawing time.
    "xtick.bottom": False,
    "ytick.left": False,
    "grid.color": GRID.light,
    "grid.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.color": SOFT.light,
    "lines.linewidth": 1.8,
}
