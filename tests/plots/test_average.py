from __future__ import annotations

import numpy as np
import pytest

from grader.plots.average import averaged

X = np.linspace(-1.99, 1.99, 333)


def test_sign_under_uniform_noise_is_hard_tanh() -> None:
    mean = averaged(np.sign, -2, 2, 0.8)
    np.testing.assert_allclose(mean.value.at(X), np.clip(X / 0.8, -1, 1), atol=1e-4)
    assert [j.x for j in mean.slope.jumps] == pytest.approx([-0.8, 0.8], abs=1e-5)
    assert mean.slope.at([0.0])[0] == pytest.approx(1 / 0.8)


def test_round_under_half_a_unit_is_the_identity() -> None:
    mean = averaged(np.round, -2, 2, 0.5)
    np.testing.assert_allclose(mean.value.at(X), X, atol=1e-4)
    np.testing.assert_allclose(mean.slope.at(X), 1.0, atol=1e-6)


def test_samples_of_normal_noise_give_the_error_function(rng: np.random.Generator) -> None:
    from math import erf, sqrt

    mean = averaged(np.sign, -2, 2, rng.standard_normal(4000))
    expected = [erf(x / sqrt(2)) for x in X]
    # The standard error of a mean of 1,000 signs is at most 0.032.
    np.testing.assert_allclose(mean.value.at(X), expected, atol=5 * 0.032)
    density = 2 / np.sqrt(2 * np.pi) * np.exp(-(X**2) / 2)
    assert np.mean(np.abs(mean.slope.at(X) - density)) < 0.1
    assert mean.value.x[0] == pytest.approx(-2)
    assert mean.value.x[-1] == pytest.approx(2)


@pytest.mark.parametrize("noise", [0.0, -1.0, float("nan"), []])
def test_noise_that_is_none_is_refused(noise: object) -> None:
    with pytest.raises(ValueError, match="noise"):
        averaged(np.sign, -2, 2, noise)
