import os
import subprocess
import sys

import numpy as np
import pytest

from grader import direct

OPERATIONS = {
    "add": lambda tf, x: x + 2.0 * x,
    "matrix product": lambda tf, x: tf.matmul(x, x, transpose_b=True),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "sum": lambda tf, x: tf.reduce_sum(tf.exp(x), axis=0),
    "convolution": lambda tf, x: tf.nn.conv1d(
        x[None, :, :], tf.ones((2, 8, 3), x.dtype), 1, "SAME"
    ),
    "where": lambda tf, x: tf.where(x > 0, tf.sqrt(tf.abs(x)), tf.zeros_like(x)),
    "gather": lambda tf, x: tf.gather(x, [2, 0]),
}
ALWAYS = """
import tensorflow as tf
from grader import direct

def message():
    try:
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    except tf.errors.InvalidArgumentError as error:
        return str(error)

direct.always()
direct.always()
print("__wrapped__" in message(), flush=True)
with direct.directly():
    print("__wrapped__" in message())
print("__wrapped__" in message(), float(tf.constant(1.0) + 2.0))
"""


def wrapped(tf):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    assert "Incompatible shapes: [2] vs. [3]" in str(caught.value)
    return "__wrapped__" in str(caught.value)


def test_for_a_while_no_operation_is_wrapped(tf):
    assert wrapped(tf)
    with direct.directly():
        assert not wrapped(tf)
    assert wrapped(tf)


def test_what_the_learners_code_raises_ends_it(tf):
    with pytest.raises(KeyError), direct.directly():
        raise KeyError("theirs")
    assert wrapped(tf)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_the_numbers_and_gradients_are_the_same_to_the_last_bit(tf, name, dtype):
    x = tf.cast(np.random.default_rng(3).normal(size=(5, 8)), dtype)

    def both():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = OPERATIONS[name](tf, x)
        return y.numpy().tobytes(), tf.convert_to_tensor(tape.gradient(y, x)).numpy().tobytes()

    usual = both()
    with direct.directly():
        assert both() == usual


def test_always_holds_for_a_process_whose_runtime_starts_later():
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "-c", ALWAYS], env=environment, capture_output=True,
                          text=True)  # fmt: skip
    assert done.stdout.split("\n")[:3] == ["False", "False", "False 3.0"], done.stderr


def test_another_build_of_tensorflow_is_no_fault(tf, monkeypatch):
    from tensorflow.python import pywrap_tfe

    monkeypatch.delattr(pywrap_tfe, direct.SWITCH)
    monkeypatch.delattr(pywrap_tfe, direct.OPTION)
    direct.always()
    with direct.directly():
        assert wrapped(tf)
