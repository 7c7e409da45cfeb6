import numpy as np
import pytest

from grader import ____
from grader.probe.outcome import flatten, of


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "none"),
        (1.5, "array"),
        (np.float32(2), "array"),
        (np.ones((2, 2), bool), "array"),
        ([1.0, [2.0]], "type"),
        ("none", "word"),
        (True, "word"),
        (["Sign", "Mul"], "word"),
        (object(), "type"),
        (np.array([None]), "type"),
        (____, "blank"),
    ],
)
def test_every_value_has_an_outcome(value, kind):
    assert of(value).kind == kind


def test_tensors_variables_and_slices_are_arrays(tf):
    slices = tf.IndexedSlices(tf.ones((2, 2)), tf.constant([1, 1]), tf.constant([3, 2]))
    assert np.array_equal(of(slices).array, [[0, 0], [2, 2], [0, 0]])
    assert of(tf.Variable(2.0)).array == 2
    assert of(tf.constant(1, tf.bfloat16)).array.dtype.name == "bfloat16"


def test_a_symbolic_tensor_is_a_type_not_a_number(tf):
    leaked = []
    tf.function(lambda x: leaked.append(x) or x)(tf.constant(1.0))
    assert of(leaked[0]).kind == "type"


def test_structures_become_flat_keys():
    assert flatten({"a": (1, [2.0, 3.0])}, "value") == {
        "value[a][0]": 1,
        "value[a][1]": [2.0, 3.0],
    }
    assert flatten(["x", "y"], "value") == {"value": ["x", "y"]}
    assert flatten(7, "value") == {"value": 7}
    assert flatten({0: "x"}, "value") == {"value[key 0]": "x"}


@pytest.mark.parametrize("dtype", ["longdouble", "clongdouble", "i4,f4", "U3", "S3"])
def test_numbers_that_tensorflow_lacks_are_no_answer(dtype):
    assert of(np.zeros(2, dtype)).kind == "type"
