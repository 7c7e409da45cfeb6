"""The user's function runs once, or as often as is said, and leaves no double traces."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from grader.xray import explain
from grader.xray.record_types import KEPT

X = tf.constant([1.5, -2.25])


def test_a_plain_function_runs_once():
    calls = []

    def f(x):
        calls.append(1)
        return tf.round(x)

    shown = explain(f, X)
    str(shown)
    shown._repr_mimebundle_()
    assert len(calls) == shown.runs == 1


def test_a_custom_gradient_runs_once():
    calls = []

    @tf.custom_gradient
    def own(x):
        def grad(upstream):
            calls.append(1)
            return upstream

        return tf.round(x), grad

    explain(lambda x: own(x), X)
    assert len(calls) == 1


def test_a_graph_runs_no_more_often_than_said():
    python, graph = [], []

    def count(x):
        graph.append(1)
        return x

    @tf.function
    def f(x):
        python.append(1)
        return x + tf.numpy_function(count, [x], tf.float32)

    shown = explain(f, X)
    assert len(python) + len(graph) <= shown.runs
    python.clear()
    graph.clear()
    shown = explain(f, X)
    assert python == []
    assert len(graph) <= shown.runs == 2


def test_what_needs_a_graph_says_so():
    calls = []

    def f(x):
        calls.append(1)
        return tf.gradients(tf.square(x), x)[0]

    shown = explain(f, X)
    assert len(calls) <= shown.runs
    assert "inside tf.function" in shown.warnings[0]


def test_variables_end_as_after_one_run():
    total = tf.Variable([0.0, 0.0])

    @tf.function
    def f(x):
        total.assign_add(x)
        return total * x

    explain(f, X)
    np.testing.assert_allclose(total.numpy(), X)


def test_a_long_run_is_looked_at_from_its_end():
    def f(x):
        for _ in range(KEPT):
            x = x * 1.0 + 0.0
        return tf.round(x) * 2.0

    shown = explain(f, X)
    assert shown.status == {"x": "none"}
    assert shown.blame["x"][0].op == "Round"
    assert "the last" in shown.left_out[0]


def test_a_cause_before_the_kept_end():
    def f(x):
        x = tf.sign(x)
        for _ in range(KEPT + 100):
            x = x * 1.0 + 0.0
        return x

    shown = explain(f, X)
    assert shown.status == {"x": "zero"}
    assert [b.kind for b in shown.blame["x"]] == ["earlier"]
    assert "earlier operations" in str(shown)


def test_a_model_with_layers_in_between():
    import keras

    model = keras.Sequential(
        [
            keras.layers.Dense(4, activation="tanh"),
            keras.layers.Lambda(lambda t: tf.round(t)),
            keras.layers.Dense(1),
        ]
    )
    x = tf.random.normal((2, 3), seed=1)
    model(x)
    shown = explain(model, x)
    assert list(shown.status.values()) == ["none", "none", "none", "alive", "alive"]
    assert {b.op for bs in shown.blame.values() for b in bs} == {"Round"}
    assert "inputs" in shown.status
    assert any(name.endswith("kernel") for name in shown.status)


def test_an_lstm_in_eager_and_in_a_graph():
    import keras

    model = keras.Sequential([keras.layers.LSTM(3), keras.layers.Dense(1)])
    x = tf.random.normal((2, 4, 3), seed=1)
    model(x)
    for f in (model, tf.function(lambda x: model(x))):
        shown = explain(f, x)
        assert set(shown.status.values()) == {"alive"}
        assert len(shown.status) == 6
        assert shown.left_out == []
    cut = explain(tf.function(lambda x: model(tf.floor(x))), x)
    assert cut.status["x"] == "none"
    assert cut.blame["x"][0].op == "Floor"


def test_a_loop_too_long_to_open():
    def turn(i, a):
        return i + 1, tf.round(a) * 1.01 + 0.1

    @tf.function
    def f(x):
        return tf.while_loop(lambda i, a: i < 4000, turn, [0, x])[1]

    shown = explain(f, X)
    assert shown.status == {"x": "zero"}
    assert "it holds Round" in shown.finding
    assert "more than 20000 operations" in shown.left_out[0]


def test_a_gradient_that_is_zero_but_for_rounding():
    from grader.xray.replay import Part
    from grader.xray.walk import blame

    shown = explain(lambda x: x * 0.0, X)
    key = shown.run.sources[0].key
    shown.flow.total[key] = tf.constant([3e-9, 0.0])
    shown.flow.state[key] = "alive"
    shown.flow.parts[key] = [Part(0, 0, shown.flow.total[key], "alive")]
    (found,) = blame(shown.run, shown.flow)["x"]
    assert found.kind == "rounding"


def test_second_derivatives():
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(3.0 * x)
        return tape.gradient(y, x)

    shown = explain(slope, X)
    assert shown.status == {"x": "none"}
    assert shown.blame["x"][0].kind == "shape_only"
