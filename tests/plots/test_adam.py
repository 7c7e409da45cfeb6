from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.plots.adam import adam_history, adam_moments, spans


@pytest.fixture
def gradients(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(12, 3)) + 0.3


def test_history_is_that_of_keras(gradients: np.ndarray, tf: Any) -> None:
    variable = tf.Variable(np.zeros(3, np.float32))
    optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-3)
    history = adam_history(gradients, lr=0.1, eps=1e-3)
    for t, gradient in enumerate(gradients):
        before = variable.numpy()
        optimizer.apply_gradients([(tf.constant(gradient, tf.float32), variable)])
        np.testing.assert_allclose(variable.numpy() - before, history.motion[t], atol=2e-6)
    np.testing.assert_allclose(optimizer._momentums[0].numpy(), history.first[-1], atol=1e-6)
    np.testing.assert_allclose(optimizer._velocities[0].numpy(), history.second[-1], atol=1e-6)


def test_frozen_entries_that_move_are_crossed(gradients: np.ndarray) -> None:
    mask = np.zeros((12, 3), bool)
    mask[4:7, 1] = True
    gradients[mask] = 0
    history = adam_history(gradients)
    picture = adam_moments(history.first, history.second, history.motion, frozen=mask)
    assert "Frozen at times: 1." in picture.alt
    assert "Moved although frozen: 3 times." in picture.alt
    names = [text.get_text() for text in picture._figure.axes[0].get_legend().get_texts()]
    assert names == ["entry 0", "entry 1", "entry 2", "frozen", "moved all the same"]
    assert [axis.get_ylabel() for axis in picture._figure.axes] == [
        "first moment m",
        "second moment v",
        "change of w",
    ]


def test_entries_that_stay_are_not_crossed(gradients: np.ndarray) -> None:
    frozen = np.array([True, False, False])
    gradients[:, 0] = 0
    history = adam_history(gradients)
    picture = adam_moments(history.first, history.second, history.motion, frozen=frozen)
    assert "Moved although frozen: 0 times." in picture.alt
    assert not [line for line in picture._figure.axes[2].lines if line.get_marker() == "x"]


def test_moments_alone(gradients: np.ndarray) -> None:
    history = adam_history(gradients)
    picture = adam_moments(history.first, history.second)
    assert len(picture._figure.axes) == 2
    assert "None is frozen." in picture.alt


def test_what_does_not_fit_is_refused(gradients: np.ndarray) -> None:
    with pytest.raises(ValueError, match="one"):
        adam_moments(gradients, gradients[:3])
    with pytest.raises(ValueError, match="5 entries; 4 are the most"):
        adam_moments(np.zeros((3, 5)), np.zeros((3, 5)))


def test_spans() -> None:
    assert spans(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert spans(np.zeros(3, bool)) == []
