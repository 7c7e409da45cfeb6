from __future__ import annotations

import numpy as np
import pytest

from grader.plots.curve import Curve, curve_from_samples, spread
from grader.plots.trace import trace


def test_integral_of_a_jumping_curve_is_exact() -> None:
    window = trace(lambda x: (np.abs(x) <= 1) * 1.0, -2.5, 2.5)
    smooth = window.integral(-1.0)
    assert smooth is not None
    x = np.linspace(-2.5, 2.5, 777)
    np.testing.assert_allclose(smooth.at(x), np.clip(x, -1, 1), atol=1e-5)


def test_integral_undoes_a_derivative() -> None:
    smooth = trace(np.cos, -2, 2).integral(float(np.sin(-2)))
    assert smooth is not None
    x = np.linspace(-2, 2, 101)
    np.testing.assert_allclose(smooth.at(x), np.sin(x), atol=1e-4)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_no_integral_over_what_is_not_finite(bad: float) -> None:
    assert Curve(np.arange(3.0), np.array([0.0, bad, 1.0])).integral(0.0) is None


def test_a_single_nan_has_no_area_but_a_singularity_has() -> None:
    x = np.linspace(-1, 1, 2001)
    y = np.where(x == 0, np.nan, 3.0)
    assert Curve(x, y).integral(0.0).y[-1] == pytest.approx(6.0)
    with np.errstate(divide="ignore"):
        assert Curve(x, 1 / np.abs(np.round(x, 9))).integral(0.0) is None


def test_no_integral_over_a_pole() -> None:
    assert Curve(np.arange(3.0), np.ones(3), gaps=(1.5,)).integral(0.0) is None


def test_the_line_breaks_at_a_jump_and_nowhere_else() -> None:
    x, y = trace(np.sign, -1, 1).line()
    assert np.isnan(y).sum() == 1
    assert x[np.isnan(y)] == [0.0]


def test_simplified_stays_within_its_tolerance_and_keeps_the_jump() -> None:
    curve = trace(lambda x: np.sin(3 * x) + (x > 0.5), -2, 2)
    less = curve.simplified(0.01)
    assert less.x.size < curve.x.size / 4
    assert np.sum(np.diff(less.x) == 0) == 1
    x = np.linspace(-2, 2, 500)
    assert np.max(np.abs(less.at(x) - curve.at(x))) <= 0.0101


def test_samples_in_any_order_become_a_curve_with_its_jump() -> None:
    x = np.linspace(-2, 2, 201)[::-1]
    curve = curve_from_samples(x, np.sign(x))
    assert [(j.x, j.left, j.at, j.right) for j in curve.jumps] == [(0.0, -1.0, 0.0, 1.0)]
    assert np.all(np.diff(curve.x) >= 0)


def test_smooth_samples_have_no_jump(rng: np.random.Generator) -> None:
    x = rng.uniform(-2, 2, 200)
    assert curve_from_samples(x, np.tanh(x)).jumps == ()


def test_samples_of_unequal_number_are_refused() -> None:
    with pytest.raises(ValueError, match="x has 3 entries and y has 2"):
        curve_from_samples([1, 2, 3], [1, 2])


def test_spread_is_not_stretched_by_a_pole() -> None:
    values = np.concatenate([np.linspace(0, 1, 400), [1e9]])
    assert spread(values) == pytest.approx(1.0, abs=0.1)
    assert spread(np.array([np.nan])) == 1.0


def test_a_jump_between_samples_stands_at_the_roundest_number_there():
    x = np.linspace(-2.5, 2.5, 201)
    curve = curve_from_samples(x, np.floor(x))
    assert [jump.x for jump in curve.jumps] == [-2.0, -1.0, 0.0, 1.0, 2.0]
    assert np.all(np.diff(curve.x) >= 0)
    assert set(curve.y) == {-3.0, -2.0, -1.0, 0.0, 1.0, 2.0}
    assert [jump.x for jump in curve_from_samples(x, np.ceil(x)).jumps] == [-2, -1, 0, 1, 2]
