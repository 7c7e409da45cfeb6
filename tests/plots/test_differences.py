from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.plots.differences import STEPS, difference_errors, v_curve

X = np.array([1.0, 0.5])


@pytest.mark.parametrize(("dtype", "best"), [("float32", 5e-3), ("float64", 6e-6)])
def test_the_v_has_its_tip_at_the_cube_root_of_eps(dtype: str, best: float) -> None:
    errors = difference_errors(np.sin, X, np.cos(X), STEPS, dtype)
    tip = STEPS[np.argmin(errors)]
    assert best / 12 < tip < best * 12
    assert errors[0] > 100 * errors.min()
    # On the right side the error is h²/6 times the third derivative.
    wide = STEPS >= 0.05
    np.testing.assert_allclose(errors[wide], STEPS[wide] ** 2 / 6, rtol=0.08)


def test_the_tape_gives_the_exact_derivative_by_default(tf: Any) -> None:
    def cubes(x: Any) -> Any:
        return x * x * x

    picture = v_curve(cubes, 1.3)
    assert picture.alt == v_curve(cubes, 1.3, exact=3 * 1.3**2).alt
    assert picture.alt != v_curve(cubes, 1.3, exact=3.1 * 1.3**2).alt
    assert "in float32 near" in picture.alt
    assert "in float64 near" in picture.alt


def test_axes_are_logarithmic_and_labelled() -> None:
    axis = v_curve(np.exp, X, exact=np.exp(X), dtypes=["float64"])._figure.axes[0]
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("step h", "relative error")
    assert len(axis.get_legend().get_texts()) == 1


def test_without_a_gradient_the_derivative_is_asked_for(tf: Any) -> None:
    with pytest.raises(ValueError, match="exact="):
        v_curve(tf.floor, 1.5)


def test_no_error_at_all_is_drawn_too() -> None:
    assert v_curve(lambda x: 2 * x, 0.0, exact=2.0).png
