"""The recorder hears every operation, leaves no trace, and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context, record
from tensorflow.python.eager.polymorphic_function import concrete_function
from tensorflow.python.framework import ops
from tensorflow.python.ops import resource_variable_ops, script_ops

from grader.xray import explain
from grader.xray.recorder import Recorder

X = tf.constant([1.5, -2.25])


def seams() -> list[object]:
    base = ops._EagerTensorBase
    return [
        *(getattr(base, n) for n in ("numpy", "__array__", "__float__", "__int__", "__bool__")),
        record.record_operation,
        concrete_function.ConcreteFunction._call_flat,
        script_ops.py_func_common,
        ops.Graph.gradient_override_map,
        vars(resource_variable_ops.BaseResourceVariable).get("_handle"),
        list(context.context().op_callbacks),
    ]


def raises(x):
    raise ValueError("no")


@pytest.mark.parametrize("f", [lambda x: x * 2.0, raises, tf.function(lambda x: x * 2.0)])
def test_everything_is_put_back(f):
    before = seams()
    explain(f, X)
    assert seams() == before


def types(f, *inputs):
    recorder = Recorder()
    with tf.GradientTape() as tape, recorder.listening():
        tape.watch(list(inputs))
        f(*inputs)
    return [node.type for node in recorder.recording.nodes]


def test_operations_in_order():
    assert types(lambda x: tf.sin(x) * 2.0, X) == ["Sin", "Mul"]


def test_variables_read_in_c():
    v = tf.Variable([1.0, 2.0])
    assert types(lambda x: x * v, X) == ["ReadVariableOp", "Mul"]
    assert types(lambda x: (v + v) * x, X).count("ReadVariableOp") == 2


def test_a_constant_is_no_variable():
    v = tf.Variable([1.0, 2.0])
    shown = explain(lambda x: (v * 0.0 + x) * tf.constant([1.0, 2.0]), X)
    assert shown.status == {"x": "alive", "v": "zero"}
    assert [b.kind for b in shown.blame["v"]] == ["times_zero"]


def test_reading_a_value_is_noted():
    recorder = Recorder()
    with recorder.listening():
        assert float(X[0]) == 1.5
        assert X.numpy().tolist() == [1.5, -2.25]
        assert bool(X[0] > 1.0)
        v = tf.Variable(2.0)
        assert float(v) == v.numpy() == 2.0
    words = [d.word for d in recorder.recording.detours]
    assert words == ["float()", ".numpy()", "a Python condition", "float()", ".numpy()"]


def test_the_value_is_what_it_would_be():
    shown = explain(lambda x: tf.constant(np.sin(x)) + x * float(x[0]), X)
    plain = np.sin([1.5, -2.25]) + np.array([1.5, -2.25]) * 1.5
    np.testing.assert_allclose(shown.run.result.numpy(), plain, rtol=1e-6)


def test_a_tape_of_the_caller_still_works():
    with tf.GradientTape() as tape:
        tape.watch(X)
        explain(tf.sin, X)
        y = X * X
    np.testing.assert_allclose(tape.gradient(y, X), 2 * X)
