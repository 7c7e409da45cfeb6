import numpy as np

from grader import draw, narrow
from grader.contract import Case


def test_what_float32_cannot_hold():
    values = draw.normal(np.random.default_rng(2), (50,), "float64", 1000.0)
    moved = narrow.between(values)
    below = moved.astype(np.float32)
    steps = np.abs(np.spacing(below))
    assert np.array_equal(np.abs(moved - below), steps / 2)
    assert np.all(np.abs(moved - values) <= 1.5 * steps)
    with np.errstate(over="ignore"):
        assert np.all(np.isinf(narrow.beyond(values).astype(np.float32)))
    assert narrow.beyond(below) is below
    assert narrow.beyond(values[0]).shape == ()


def test_what_is_left_of_a_gradient_in_float32():
    mistake = narrow.in_float32(lambda case: {"gradient:x": case.arrays["x"]})
    lost = mistake.answer(Case("wide", {"x": np.array([1e50, 0.0, -1e50])}))["gradient:x"]
    infinite, unknown = lost.options
    assert np.array_equal(infinite, [np.inf, 0.0, -np.inf])
    assert np.all(np.isnan(unknown))
    small = mistake.answer(Case("small", {"x": np.float32([1.0])}))
    assert np.array_equal(small["gradient:x"], [1.0])
