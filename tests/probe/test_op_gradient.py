"""A learner's gradient function stands in for an op's own; what it returned is told."""

import numpy as np
import pytest

from grader.contract import Case
from grader.probe.op_gradient import probe

X = np.array([1.0, 3.0, 4.0], np.float32)
UP = np.array([2.0, 5.0, 7.0], np.float32)
SQUARE = {"op": "Square", "forward": "lambda x: tf.square(x)"}


def ask(answer, mode="graph", options=SQUARE, upstream=UP):
    return probe(options)(answer, Case("c", {"x": X}, upstream), mode)


@pytest.mark.parametrize("factor", [5.0, 7.0])
def test_each_answer_is_registered_as_if_there_were_no_other(tf, factor):
    """TensorFlow's registry takes a name only once."""
    got = ask(lambda op, grad: factor * grad)
    assert np.allclose(got["gradient:x"], factor * UP)
    assert np.allclose(got["value"], X**2)
    assert got["gradient returns"] == "tensor"


def test_what_is_no_function_is_told_by_its_type(tf):
    assert set(ask(3.0)) == {"error"}
    assert ask(3.0)["error"].kind == "type"


def test_a_function_that_was_never_called_returned_nothing(tf):
    """In eager mode an override map has no say."""
    got = ask(lambda op, grad: 5.0 * grad, "eager")
    assert np.allclose(got["gradient:x"], 2 * X * UP)
    assert "gradient returns" not in got


@pytest.mark.parametrize("kind", [list, tuple])
def test_each_of_several_parts_is_told(tf, kind):
    options = {"op": "Mul", "forward": "lambda x: x * tf.constant([1.0, 2.0, 3.0])"}
    assert ask(lambda op, grad: kind([grad, None]), options=options)["gradient returns"] == (
        "tensor, none"
    )


def test_slices_of_a_tensor_are_a_tensor(tf):
    options = {"op": "GatherV2", "forward": "lambda x: tf.gather(x, [0, 2])"}

    def slices(op, grad):
        rows = tf.IndexedSlices(3.0 * grad, op.inputs[1], tf.constant([3]))
        return rows, None, None

    got = ask(slices, options=options, upstream=UP[:2])
    assert got["gradient returns"] == "tensor, none, none"
    assert np.allclose(got["gradient:x"], [6.0, 0.0, 15.0])
