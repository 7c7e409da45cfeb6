from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.plots import words
from grader.plots.sample import sample_card

X = np.linspace(-2.5, 2.5, 401)


def masses(card: Any) -> list[tuple[float, float]]:
    return [(jump.x, jump.mass) for jump in card.forward.jumps]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("floor", [(k, 1) for k in range(-2, 3)]),
        ("round", [(k - 0.5, 1) for k in range(-1, 3)]),
        ("sign", [(0, 2)]),
        ("abs", []),
    ],
)
def test_jumps_of_tensorflows_own(name: str, expected: list, tf: Any) -> None:
    found = masses(sample_card(getattr(tf, name)))
    np.testing.assert_allclose(np.reshape(found, (-1, 2)), np.reshape(expected, (-1, 2)), atol=1e-5)


def test_true_derivative_of_relu_and_clip(tf: Any) -> None:
    relu = sample_card(tf.nn.relu).slope
    assert [(j.x, j.left, j.right) for j in relu.jumps] == [
        (0, pytest.approx(0, abs=1e-6), pytest.approx(1, abs=1e-6))
    ]
    assert np.isnan(relu.jumps[0].at)
    clip = sample_card(lambda x: tf.clip_by_value(x, -1.0, 1.0)).slope
    assert [j.x for j in clip.jumps] == pytest.approx([-1, 1], abs=1e-4)


def test_true_derivative_between_jumps(tf: Any) -> None:
    card = sample_card(lambda x: tf.floor(x) + x * x)
    away = np.abs(X - np.round(X)) > 1e-3
    np.testing.assert_allclose(card.slope.at(X)[away], 2 * X[away], atol=0.01)


def test_a_function_of_float32_alone_is_drawn_too(tf: Any) -> None:
    card = sample_card(lambda x: tf.sin(x) * tf.constant(2.0))
    np.testing.assert_allclose(card.slope.at(X), 2 * np.cos(X), atol=0.01)


def test_surrogate_and_what_it_differentiates(binarize: Callable[[Any], Any]) -> None:
    card = sample_card(binarize)
    assert [(j.x, j.left, j.at, j.right) for j in card.surrogate.jumps] == [
        (-1, 0, 1, 1),
        (1, 1, 1, 0),
    ]
    np.testing.assert_allclose(card.smooth.at(X), np.clip(X, -1, 1), atol=1e-4)


@pytest.mark.parametrize(("low", "high"), [(-2.5, 2.5), (-2, 2), (-1.25, 3)])
def test_the_integral_starts_at_the_forward(low: float, high: float, tf: Any) -> None:
    def passthrough(x: Any) -> Any:
        return tf.stop_gradient(tf.floor(x)) + (x - tf.stop_gradient(x))

    smooth = sample_card(passthrough, low, high).smooth
    start = low - 0.5 if low == -2 else np.floor(low)  # the middle of a jump at the end
    np.testing.assert_allclose(smooth.at([low, high]), [start, start + high - low], atol=1e-4)


def test_noise_gives_what_the_surrogate_claims(binarize: Callable[[Any], Any]) -> None:
    card = sample_card(binarize, noise=1.0)
    np.testing.assert_allclose(card.averaged.at(X), card.smooth.at(X), atol=1e-3)
    inner = np.abs(np.abs(X) - 1) > 1e-3
    np.testing.assert_allclose(card.expected.at(X)[inner], card.surrogate.at(X)[inner], atol=1e-3)


def test_none_nan_and_coupling_are_said(tf: Any) -> None:
    none = sample_card(tf.round)
    assert (none.surrogate, none.smooth, none.note) == (None, None, words.NO_GRADIENT)
    log = sample_card(lambda x: tf.where(x > 0, tf.math.log(x), 0.0))
    assert "NaN: at x = 0" in log.note
    assert log.smooth is None
    half = sample_card(lambda x: tf.sqrt(x))
    assert "NaN: −2.5 ≤ x ≤" in half.note
    assert sample_card(lambda x: x / tf.reduce_sum(tf.abs(x))).note == words.COUPLED


def test_a_nan_at_a_point_is_said_and_leaves_the_integral(tf: Any) -> None:
    def transfer(x: Any) -> Any:
        return tf.where(x < 0, 1 / (1 - x), tf.math.log(1 + x))

    card = sample_card(transfer)
    assert card.note == "The tape returns NaN: at x = −1, at x = 1."
    assert card.smooth.at([0.0]) == pytest.approx(1.0, abs=1e-3)


def test_the_slope_is_blind_to_jumps_at_the_ends(tf: Any) -> None:
    assert np.nanmax(np.abs(sample_card(tf.floor, -2, 2).slope.y)) < 1e-6


def test_poles_carry_no_arrow(tf: Any) -> None:
    card = sample_card(tf.tan)
    assert card.forward.jumps == ()
    assert card.forward.gaps == pytest.approx([-np.pi / 2, np.pi / 2], abs=1e-4)


def test_a_gradient_that_only_tracing_shows_is_said(tf: Any) -> None:
    @tf.RegisterGradient("TestPlotsPassFloor")
    def _pass(op: Any, grad: Any) -> Any:
        return grad

    def floor(x: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        with graph.gradient_override_map({"Floor": "TestPlotsPassFloor"}):
            return tf.floor(x)

    card = sample_card(floor)
    assert np.all(card.surrogate.y == 1)
    assert "outside" in card.note
    assert "None" in card.note
    assert sample_card(floor, mode="eager").note == words.NO_GRADIENT


def test_forward_and_jumps_can_be_given(tf: Any) -> None:
    card = sample_card(tf.sigmoid, forward=lambda x: tf.cast(x > 0, tf.float32), jumps=[0.0])
    assert masses(card) == [(0.0, 1.0)]
    assert card.surrogate.at([0.0]) == pytest.approx(0.25)


def test_an_empty_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="from 1 to 1 is empty"):
        sample_card(abs, 1, 1)
