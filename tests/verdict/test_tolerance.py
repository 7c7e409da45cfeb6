import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.verdict.tolerance import agree, allowed, relative


@given(st.floats(1e-6, 1e6), st.sampled_from(["float16", "float32", "float64", "bfloat16"]))
def test_the_tolerance_follows_the_magnitude(scale, dtype):
    expected = scale * np.array([1.0, -2.0])
    rtol = relative(dtype, 1.0)
    assert agree(expected * (1 + 0.4 * rtol), expected, rtol)
    assert not agree(expected * (1 + 3 * rtol), expected, rtol)


def test_a_small_element_beside_a_large_one_may_be_off_by_rounding_of_the_large_one():
    expected = np.array([0.0, 1000.0])
    assert agree(np.array([0.4e-2, 1000.0]), expected, 1e-5)
    assert not agree(np.array([0.6e-2, 1000.0]), expected, 1e-5)
    assert allowed(np.zeros(2), 1e-5) == pytest.approx(0.5e-5)


def test_nan_and_infinity_agree_only_with_themselves():
    nan, inf = float("nan"), float("inf")
    expected = np.array([nan, inf, -inf, 1.0])
    assert agree(expected, expected, 1e-6)
    for other in ([0.0, inf, -inf, 1.0], [nan, -inf, -inf, 1.0], [nan, 1e300, -inf, 1.0]):
        assert not agree(np.array(other), expected, 1e-6)


def test_shapes_must_be_equal_not_broadcastable():
    assert not agree(np.ones((2, 1)), np.ones((1, 2)), 1e-6)


@pytest.mark.parametrize(
    ("dtype", "right", "wrong"),
    [("float16", 3e-3, 6e-3), ("bfloat16", 2e-2, 5e-2), ("float32", 1e-5, 4e-5),
     ("float64", 5e-7, 2e-6), ("complex64", 1e-5, 4e-5)],
)  # fmt: skip
def test_a_few_roundings_are_right_and_more_are_wrong(dtype, right, wrong):
    """A step of float16 is 1e-3, of bfloat16 8e-3; what is not listed is held to float32's."""
    one = np.ones(1)
    assert agree(one + right, one, relative(dtype, 1.0))
    assert not agree(one + wrong, one, relative(dtype, 1.0))
    assert agree(one + wrong, one, relative(dtype, 4.0))
