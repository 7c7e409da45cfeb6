from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.plots import words
from grader.plots.tape import MODES, Sampler

X = np.linspace(-2, 2, 700)  # more than one batch
HARD = (np.abs(X.astype(np.float32)) <= 1) * 1.0


@pytest.fixture(scope="module")
def overridden(tf: Any) -> Callable[[Any], Any]:
    """Sign with hard-tanh gradient by an override map: it acts in graphs only."""
    name = "TestPlotsHardTanh"

    @tf.RegisterGradient(name)
    def _hard(op: Any, grad: Any) -> Any:
        return grad * tf.cast(tf.abs(op.inputs[0]) <= 1.0, grad.dtype)

    def sign(x: Any) -> Any:
        with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": name}):
            return tf.sign(x)

    return sign


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_gives_values_and_gradient(mode: Any, binarize: Callable[[Any], Any]) -> None:
    sampler = Sampler(binarize, mode)
    np.testing.assert_array_equal(sampler.values(X), np.sign(X))
    np.testing.assert_array_equal(sampler.gradient(X), HARD)


@pytest.mark.parametrize(
    ("mode", "acts"), [("eager", False), ("inside", False), ("outside", True), ("graph", True)]
)
def test_an_override_acts_where_tensorflow_lets_it(
    mode: Any, acts: bool, overridden: Callable[[Any], Any]
) -> None:
    gradient = Sampler(overridden, mode).gradient(X)
    np.testing.assert_array_equal(gradient, HARD if acts else 0 * X)


def test_auto_turns_to_tracing_when_eager_says_nothing(overridden: Any, tf: Any) -> None:
    for f, expected in ((overridden, "outside"), (tf.sin, "eager"), (tf.floor, "eager")):
        sampler = Sampler(f)
        sampler.settle(X)
        assert sampler.mode == expected


@pytest.mark.parametrize("mode", MODES)
def test_none_stays_none(mode: Any, tf: Any) -> None:
    assert Sampler(tf.floor, mode).gradient(X) is None


def test_what_leaves_tensorflow_has_no_gradient(tf: Any) -> None:
    for f in (lambda x: x.numpy() * 2, lambda x: tf.cast(x, tf.int32), lambda x: 3.0):
        sampler = Sampler(f)
        sampler.settle(X)
        assert sampler.values(X).shape == X.shape
        assert sampler.gradient(X) is None


def test_a_gradient_in_slices_is_read_as_a_vector(tf: Any) -> None:
    gradient = Sampler(lambda x: tf.gather(x, tf.range(tf.size(x)))).gradient(X)
    np.testing.assert_array_equal(gradient, np.ones_like(X))


def test_errors_of_the_learner_come_through(tf: Any) -> None:
    def broken(x: Any) -> Any:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        Sampler(broken).values(X)


def test_an_unknown_mode_is_named() -> None:
    with pytest.raises(ValueError, match="'xla'; it can be one of auto, eager"):
        Sampler(abs, "xla")


def test_words_cannot_be_drawn(tf: Any) -> None:
    with pytest.raises(TypeError, match="cannot be drawn"):
        Sampler(lambda x: tf.constant("a")).values(X)


def test_coupled_and_random_functions_are_noticed(tf: Any) -> None:
    assert Sampler(lambda x: x - tf.reduce_mean(x)).oddity(X) == words.COUPLED
    assert Sampler(lambda x: x + tf.random.normal(x.shape)).oddity(X) == words.RANDOM
    assert Sampler(tf.tanh).oddity(X) == ""
