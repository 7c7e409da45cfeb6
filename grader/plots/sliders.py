"""Surrogate cards with sliders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

from grader.plots import words
from grader.plots.card import Card
from grader.plots.drawing import draw_card
from grader.plots.families import FAMILIES, Family, Slider
from grader.plots.frames import Frames, frames_spec
from grader.plots.moving import Moving
from grader.plots.sample import left_end, sample_card, true_slope
from grader.plots.tape import Mode
from grader.plots.trace import trace

Range = Slider | tuple[float, float] | tuple[float, float, float]
MOST_FRAMES = 200


def interactive(
    family: str | Callable[..., Any],
    low: float = -2.5,
    high: float = 2.5,
    *,
    forward: Callable[[Any], Any] | None = None,
    title: str | None = None,
    mode: Mode = "auto",
    **sliders: Range,
) -> Moving:
    """A surrogate card whose surrogate follows sliders; drawn in the browser, without a kernel.

    ``family``: "noise width", "temperature", "sharpness" or "clip range", or a TensorFlow
    function ``f(x, *values)``, whose gradient is taken from the tape at every position of the
    sliders, given as ``name=(low, high)``, ``(low, high, start)`` or a
    :class:`~grader.plots.families.Slider`, in the order of ``values``. ``forward`` is then what
    stays (by default ``f`` at the start). A slider cannot be called low or high: these are the
    interval. Raises ValueError for an unknown family, a function without sliders, or more than
    200 positions in all.
    """
    if isinstance(family, str):
        frames = _of_family(_known(family), low, high, {k: _slider(v) for k, v in sliders.items()})
    else:
        if not sliders:
            raise ValueError("a function needs at least one slider, as in sharpness=(1, 40)")
        room = 31 if len(sliders) == 1 else 11
        knobs = {name: _slider(given, room) for name, given in sliders.items()}
        frames = _of_function(family, low, high, knobs, forward, mode)
    if title:
        frames = replace(frames, title=title)
    still = draw_card(_still(frames))
    return Moving(still, frames_spec(frames), "sliders")


def _known(name: str) -> Family:
    if name not in FAMILIES:
        raise ValueError(f"no family {name!r}; there are {', '.join(FAMILIES)}")
    return FAMILIES[name]


def _slider(given: Range, positions: int = 41) -> Slider:
    if isinstance(given, Slider):
        return given
    low, high = float(given[0]), float(given[1])
    start = float(given[2]) if len(given) == 3 else (low + high) / 2
    if not low <= start <= high or low == high:
        raise ValueError(f"a slider from {low} to {high} cannot start at {start}")
    return Slider(low, high, start, positions)


def _settings(sliders: dict[str, Slider]) -> tuple[list[tuple[float, ...]], int]:
    settings = list(product(*(slider.values() for slider in sliders.values())))
    if len(settings) > MOST_FRAMES:
        raise ValueError(f"{len(settings)} positions in all; {MOST_FRAMES} are the most")
    starts = tuple(float(f"{slider.start:.3g}") for slider in sliders.values())
    return settings, settings.index(starts)


def _of_family(family: Family, low: float, high: float, given: dict[str, Slider]) -> Frames:
    if not set(given) <= set(family.sliders):
        raise ValueError(f"this family has the sliders {', '.join(family.sliders)}")
    sliders = family.sliders | given
    settings, start = _settings(sliders)
    steps = trace(family.forward, low, high)
    slope = true_slope(family.forward, steps, low, high)
    anchor = left_end(family.forward, low, high)
    cards = []
    for values in settings:
        curve = trace(_fixed(family.surrogate, values), low, high)
        smooth = curve.integral(anchor)
        card = Card(low, high, steps, slope, curve, smooth, surrogate_name=words.FORMULA)
        cards.append(card)
    return Frames(family.title, sliders, cards, start, family.look_for)


def _fixed(f: Callable[..., Any], values: tuple[float, ...]) -> Callable[[Any], Any]:
    return lambda x: f(x, *values)


def _of_function(
    f: Callable[..., Any],
    low: float,
    high: float,
    sliders: dict[str, Slider],
    forward: Callable[[Any], Any] | None,
    mode: Mode,
) -> Frames:
    settings, start = _settings(sliders)
    first = forward or _fixed(f, settings[start])
    cards = [
        sample_card(_fixed(f, values), low, high, forward=first, mode=mode) for values in settings
    ]
    return Frames(words.card_title(f), sliders, cards, start)


def _still(frames: Frames) -> Card:
    said = ", ".join(f"{name} {words.number(s.start)}" for name, s in frames.sliders.items())
    return replace(frames.cards[frames.start], title=f"{frames.title} ({said})")
