from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.plots.trace import trace

JUMPS = {
    "floor": (np.floor, [(k, k - 1, k, k) for k in range(-2, 3)]),
    "ceil": (np.ceil, [(k, k, k, k + 1) for k in range(-2, 3)]),
    "round": (np.round, [(-1.5, -2, -2, -1), (-0.5, -1, 0, 0), (0.5, 0, 0, 1), (1.5, 1, 2, 2)]),
    "sign": (np.sign, [(0, -1, 0, 1)]),
    "threshold": (lambda x: (x > np.float32(0.3)) * 2.0, [(0.3, 0, 0, 2)]),
    "window": (lambda x: (np.abs(x) <= 1) * 1.0, [(-1, 0, 1, 1), (1, 1, 1, 0)]),
    "lone point": (lambda x: (x == 0.5) * 3.0, [(0.5, 0, 3, 0)]),
    "relu": (lambda x: np.maximum(x, 0), []),
    "clip": (lambda x: np.clip(x, -1, 1), []),
    "root": (lambda x: np.sqrt(np.abs(x)), []),
    "cube root": (np.cbrt, []),
    "steep": (lambda x: np.tanh(300 * x), []),
    "constant": (np.ones_like, []),
}


def in_float32(f: Callable) -> Callable:
    # What a learner's function computes in.
    return lambda x: np.asarray(f(x.astype(np.float32)), np.float64)


@pytest.mark.parametrize("name", JUMPS)
def test_finds_every_jump_with_its_limits_and_value(name: str) -> None:
    f, expected = JUMPS[name]
    found = trace(in_float32(f), -2.5, 2.5).jumps
    got = [(j.x, j.left, j.at, j.right) for j in found]
    assert len(got) == len(expected)
    if expected:
        np.testing.assert_allclose(got, expected, atol=1e-6)


@settings(max_examples=60)
@given(
    place=st.floats(-2, 2),
    mass=st.floats(0.1, 5),
    slope=st.floats(-2, 2),
    sign=st.sampled_from([1, -1]),
)
def test_a_jump_anywhere_is_found_with_its_mass(
    place: float, mass: float, slope: float, sign: int
) -> None:
    found = trace(in_float32(lambda x: slope * x + sign * mass * (x > place)), -2.5, 2.5).jumps
    assert len(found) == 1
    assert found[0].x == pytest.approx(place, abs=1e-5)
    assert found[0].mass == pytest.approx(sign * mass, abs=1e-3)


def test_kinks_are_sampled_closely() -> None:
    curve = trace(lambda x: np.abs(x - 0.123), -1, 1)
    even = np.linspace(-1, 1, 3001)
    assert np.max(np.abs(curve.at(even) - np.abs(even - 0.123))) < 1e-3


def test_a_pole_breaks_the_line_and_is_no_jump() -> None:
    curve = trace(lambda x: 1 / np.where(x == 0.1234567, np.nan, x - 0.1234567), -1, 1)
    assert curve.jumps == ()
    assert curve.gaps == pytest.approx([0.1234567], abs=1e-5)
    x, y = curve.line()
    assert x[np.isnan(y)] == pytest.approx([0.1234567], abs=1e-5)


def test_known_places_are_taken_at_their_word() -> None:
    curve = trace(np.floor, -1.5, 1.5, known=[1.0])
    assert [j.x for j in curve.jumps] == [1.0]


def test_values_that_are_nowhere_finite() -> None:
    curve = trace(lambda x: np.full(x.shape, np.nan), 0, 1)
    assert np.isnan(curve.y).all()
    assert curve.jumps == ()
