"""Families of surrogates with a knob or two, in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from grader.plots.curve import Array


@dataclass(frozen=True)
class Slider:
    """A knob: its range, where it starts, and how many positions it has.

    The positions are even, or in equal ratios when the range spans more than a factor of 15.
    """

    low: float
    high: float
    start: float
    positions: int = 41

    def values(self) -> Array:
        """The positions in rising order, ``start`` among them, in three significant digits."""
        ratio = self.low > 0 and self.high / self.low > 15
        spaced = np.geomspace if ratio else np.linspace
        even = spaced(self.low, self.high, self.positions)
        rounded = {float(f"{v:.3g}") for v in even} | {float(f"{self.start:.3g}")}
        return np.array(sorted(rounded))


@dataclass(frozen=True)
class Family:
    """A forward function and its surrogate gradient, which depends on the sliders.

    ``surrogate(x, *values)`` takes the sliders' values in their order.
    """

    title: str
    forward: Callable[[Array], Array]
    surrogate: Callable[..., Array]
    sliders: dict[str, Slider]
    look_for: str


def _sigmoid(z: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(z / 2)))


def _noise(x: Array, width: float) -> Array:
    return np.where(np.abs(x) <= width, 1 / width, 0.0)


def _temperature(x: Array, temperature: float) -> Array:
    s = _sigmoid(x / temperature)
    return np.asarray(s * (1 - s) / temperature)


def _sharpness(x: Array, sharpness: float) -> Array:
    steps = np.arange(np.floor(x.min()) - 2, np.ceil(x.max()) + 3)
    s = _sigmoid(sharpness * (x[:, None] - steps))
    return np.asarray(sharpness * np.sum(s * (1 - s), axis=1))


def _clip(x: Array, low: float, high: float) -> Array:
    return np.where((x >= low) & (x <= high), 1.0, 0.0)


FAMILIES: dict[str, Family] = {
    "noise width": Family(
        "Sign under uniform noise",
        np.sign,
        _noise,
        {"width": Slider(0.2, 2.0, 1.0)},
        "The narrower the noise, the closer the smooth function comes to sign, "
        "and the fewer inputs get any gradient.",
    ),
    "temperature": Family(
        "A step seen through a sigmoid",
        lambda x: np.heaviside(x, 0.0),
        _temperature,
        {"temperature": Slider(0.05, 2.0, 0.5)},
        "Low temperature: the right function, a gradient that vanishes almost everywhere. "
        "High temperature: gradient everywhere, of another function.",
    ),
    "sharpness": Family(
        "Floor as a sum of sigmoids",
        np.floor,
        _sharpness,
        {"sharpness": Slider(1.0, 40.0, 8.0)},
        "Move it: at 1 the staircase is a ramp and the surrogate nearly 1 everywhere, above 20 "
        "there are steps and peaks.",
    ),
    "clip range": Family(
        "Sign with a gradient that passes inside a range",
        np.sign,
        _clip,
        {"lower": Slider(-2.0, 0.0, -1.0, 11), "upper": Slider(0.0, 2.0, 1.0, 11)},
        "Only a range of width 2 gives a function that rises as far as sign does, "
        "and only the one from −1 to 1 rises in the right place.",
    ),
}
