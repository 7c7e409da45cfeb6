"""The learner's word for a surrogate card: measured, then drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from grader.plots.curve import Array
from grader.plots.drawing import draw_card
from grader.plots.figure import Picture
from grader.plots.sample import sample_card
from grader.plots.tape import Mode


def surrogate_card(
    f: Callable[[Any], Any],
    low: float = -2.5,
    high: float = 2.5,
    *,
    forward: Callable[[Any], Any] | None = None,
    jumps: Iterable[float] | None = None,
    title: str | None = None,
    noise: float | Array | None = None,
    mode: Mode = "auto",
    small: bool = False,
) -> Picture:
    """Draw ``f`` with its true derivative, its surrogate from the tape, and what that means.

    ``f`` works entry by entry on a float32 tensor of shape (n,). Above: the forward function
    (filled dots are values, open dots limits) and, dashed, the function which the surrogate
    differentiates. Below: the true derivative, a jump being an arrow as high as its mass, and
    the surrogate. The other arguments are those of :func:`~grader.plots.sample.sample_card`.
    """
    card = sample_card(
        f, low, high, forward=forward, jumps=jumps, title=title, noise=noise, mode=mode
    )
    return draw_card(card, small=small)
