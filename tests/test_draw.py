import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grader import draw


def test_draws_are_repeatable_and_typed():
    one, two = (draw.normal(np.random.default_rng(3), (2, 2), "float64") for _ in range(2))
    assert np.array_equal(one, two)
    assert one.dtype == np.float64
    assert draw.normal(np.random.default_rng(3)).shape == ()


def test_an_upstream_gradient_is_never_one_sized_or_zero():
    up = draw.upstream(np.random.default_rng(0), (500,))
    assert np.abs(up).min() >= 0.5
    assert {-1.0, 1.0} == set(np.sign(up))
    assert not np.any(up == 1)


@given(arrays(np.float32, 20, elements=st.floats(-3, 3, width=32)))
def test_away_leaves_a_gap_and_moves_nothing_else(values):
    moved = draw.away(values, (-1, 0, 1), 0.1)
    assert moved.dtype == values.dtype
    for point in (-1, 0, 1):
        assert np.all(np.abs(moved - point) > 0.1 - 1e-6)
    far = np.all(np.abs(values[:, None] - np.array([-1, 0, 1])) >= 0.1, axis=1)
    assert np.array_equal(moved[far], values[far])


def test_what_is_not_good_is_drawn_again_and_not_for_ever():
    rng = np.random.default_rng(5)
    drawn = [draw.until(lambda: draw.normal(rng, (6,)), draw.clear) for _ in range(200)]
    assert all(abs(terms.sum()) >= 0.1 * np.abs(terms).sum() for terms in drawn)
    assert not draw.clear(np.array([1.0, -1.05]))
    assert draw.clear(np.array([[1.0, 2.0], [-1.0, 2.0]]), (2,))
    assert not draw.clear(np.array([[1.0, 2.0], [-1.0, -2.0]]), (2,))
    with pytest.raises(ValueError, match="none of 1000 draws is good"):
        draw.until(lambda: 1, lambda drawn: drawn > 1)


@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (2, 1), (2, 3)])
def test_reduce_to_is_the_transpose_of_broadcasting(shape):
    rng = np.random.default_rng(1)
    gradient, small = rng.normal(size=(4, 2, 3)), rng.normal(size=shape)
    reduced = draw.reduce_to(gradient, shape)
    assert reduced.shape == shape
    assert np.sum(reduced * small) == pytest.approx(np.sum(gradient * small))
