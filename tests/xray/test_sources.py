"""Inputs become tensors, and inputs and variables get the names that the code gives them."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import tensorflow as tf

from grader.xray import explain
from grader.xray.sources import prepare

WEIGHT = tf.Variable([1.0, 2.0], name="other")
Pair = namedtuple("Pair", ["first", "second"])


def names(f, *inputs):
    return [s.name for s in prepare(f, inputs)[1]]


def test_parameters_name_the_inputs():
    assert names(lambda a, b: None, 1.0, np.ones(2)) == ["a", "b"]
    assert names(lambda *xs: None, 1.0, 2.0) == ["xs[0]", "xs[1]"]
    assert names(tf.function(lambda a: a), 1.0) == ["a"]


def test_structures():
    assert names(lambda p: None, Pair(1.0, [2.0, {"k": 3.0}])) == [
        "p[0]",
        "p[1][0]",
        "p[1][1]['k']",
    ]
    args, _ = prepare(lambda p: None, (Pair(1.0, 2.0),))
    assert isinstance(args[0], Pair)


def test_what_is_no_tensor_is_passed_on():
    args, sources = prepare(lambda *a: None, (2, "axis", None, True, len))
    assert args == [2, "axis", None, True, len]
    assert sources == []


def test_dtypes_are_kept():
    args, _ = prepare(lambda a, b: None, (np.float64(1), np.ones(2, np.float16)))
    assert [a.dtype for a in args] == [tf.float64, tf.float16]


def test_captured_variables_have_the_codes_names():
    local = tf.Variable(1.0)
    layers = {"w": tf.Variable(1.0)}
    shown = explain(lambda x: x * local * layers["w"] * WEIGHT, tf.ones(2))
    assert set(shown.status) == {"x", "local", "layers['w']", "WEIGHT"}


def test_a_keras_variable_is_an_input():
    import keras

    shown = explain(lambda w: tf.floor(w * 2.0), keras.Variable([1.0, 2.0]))
    assert shown.status == {"w": "none"}
    assert shown.blame["w"][0].op == "Floor"
