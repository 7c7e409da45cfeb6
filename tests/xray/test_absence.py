"""Ways out of TensorFlow that leave no operation behind."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from numpy import exp

from grader.xray import explain
from grader.xray.absence import numpy_calls

X = tf.constant([1.5, -2.25])


def two_calls(x):
    y = np.sin(x)

    def inner(z):
        return exp(z)

    return inner(y) + np.pi


def test_numpy_names_in_the_bytecode():
    found = numpy_calls(two_calls)
    assert [word for _, word in found] == ["np.sin", "np.pi", "exp"]
    assert found[0][0].text == "y = np.sin(x)"


def test_builtins_have_no_code():
    assert numpy_calls(len) == []
    assert numpy_calls(tf.function(two_calls)) == numpy_calls(two_calls)


def test_the_line_is_named():
    def f(x):
        y = np.tanh(x)
        return tf.constant(y)

    (found,) = explain(f, X).blame["x"]
    assert (found.kind, found.detail, found.line.text) == (
        "numpy_call",
        "np.tanh",
        "y = np.tanh(x)",
    )


def test_predict():
    import keras

    model = keras.Sequential([keras.layers.Dense(1)])
    x = tf.ones((2, 3))
    model(x)
    shown = explain(lambda x: tf.constant(model.predict(x, verbose=0)), x)
    assert set(shown.status.values()) == {"none"}
    assert shown.blame["x"][0].detail == ".predict()"


def test_assigning_in_place():
    v = tf.Variable([0.0, 0.0])

    def f(x):
        v[0].assign(x[0])
        return v * 2.0

    (found,) = explain(f, X).blame["x"]
    assert (found.kind, found.op) == ("assigned", "ResourceStridedSliceAssign")


def test_a_variable_that_starts_as_zeros_like_x_is_not_to_blame_but_what_is_written_into_it():
    def doubled(x):
        result = tf.Variable(tf.zeros_like(x))
        for i in range(2):
            result[i].assign(2.0 * x[i])
        return tf.convert_to_tensor(result)

    shown = explain(doubled, X)
    (found,) = shown.blame["x"]
    assert (found.op, found.line.text) == (
        "ResourceStridedSliceAssign",
        "result[i].assign(2.0 * x[i])",
    )
    assert "x ....> assign (to entries) -None-> Variable" in str(shown)

    def zeros(x):
        return tf.convert_to_tensor(tf.Variable(tf.zeros_like(x)))

    (found,) = explain(zeros, X).blame["x"]
    assert (found.kind, found.op) == ("assigned", "AssignVariableOp")
