from __future__ import annotations

import numpy as np
import pytest

from grader.plots.families import FAMILIES, Slider
from grader.plots.trace import trace

# What each family's surrogate differentiates, in closed form, and the sliders' values.
CLOSED = {
    "noise width": ((0.7,), lambda x: np.clip(x / 0.7, -1, 1)),
    "temperature": ((0.3,), lambda x: 1 / (1 + np.exp(-x / 0.3))),
    "sharpness": (
        (6.0,),
        lambda x: sum(1 / (1 + np.exp(-6 * (x - k))) for k in range(-9, 10)) - 10,
    ),
    "clip range": ((-0.5, 1.0), lambda x: np.clip(x, -0.5, 1)),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_each_surrogate_differentiates_its_closed_form(name: str) -> None:
    values, closed = CLOSED[name]
    x = np.linspace(-2.2, 2.2, 222)
    curve = trace(lambda x: FAMILIES[name].surrogate(x, *values), -2.2, 2.2)
    smooth = curve.integral(float(closed(np.array([-2.2]))[0]))
    np.testing.assert_allclose(smooth.at(x), closed(x), atol=2e-3)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_says_what_to_look_for(name: str) -> None:
    family = FAMILIES[name]
    assert family.look_for.endswith(".")
    assert len(family.sliders) == len(CLOSED[name][0])


def test_positions_of_a_slider() -> None:
    even = Slider(-1, 1, 0.123, 5).values()
    np.testing.assert_allclose(even, [-1, -0.5, 0, 0.123, 0.5, 1])
    wide = Slider(1, 100, 10, 3).values()
    np.testing.assert_allclose(wide, [1, 10, 100])
