"""The local test of one operation agrees with the tape on that operation alone."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from grader.xray.local import array, state, vjp
from grader.xray.recorder import Recorder

X = tf.constant([[1.5, -2.25], [0.5, 3.0]])
UPSTREAM = tf.constant([[2.0, -1.0], [0.25, 3.0]])


def only_node(f):
    recorder = Recorder()
    with tf.GradientTape() as tape, recorder.listening():
        tape.watch(X)
        f(X)
    return recorder.recording.nodes[-1]


@pytest.mark.parametrize("f", [tf.sin, tf.nn.softmax, tf.nn.relu, tf.transpose, tf.sign, tf.floor])
def test_against_the_tape(f):
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = f(X)
    expected = tape.gradient(y, X, output_gradients=UPSTREAM)
    found = vjp(only_node(f), [UPSTREAM])[0]
    if expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_unregistered():
    with pytest.raises(LookupError):
        vjp(only_node(lambda x: tf.bitcast(x, tf.float32)), [UPSTREAM])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (None, "none"),
        ([0.0, -0.0], "zero"),
        ([0.0, 1e-45], "alive"),
        ([np.nan, 1.0], "nan"),
        ([np.inf, 0.0], "alive"),
        ([], "alive"),
    ],
)
def test_states(values, expected):
    assert state(None if values is None else tf.constant(values, tf.float32)) == expected


def test_states_of_small_dtypes():
    assert state(tf.constant([0.0, 1.0], tf.bfloat16)) == "alive"
    assert state(tf.constant([np.nan], tf.bfloat16)) == "nan"
    assert state(tf.IndexedSlices(tf.zeros((1, 2)), tf.constant([0]))) == "zero"
    assert array(tf.constant("text")) is None
