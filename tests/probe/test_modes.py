"""Modes must agree where TensorFlow does, and differ exactly where it does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.contract import Case, Source
from grader.probe.modes import MODES, compile_source
from grader.probe.outcome import Outcome, of
from grader.probe.targets import NOTHING
from grader.words import COMPLEX

ALL = tuple(MODES)
TAPES = tuple(mode for mode in ALL if mode != "graph")
X = np.array([[0.3, -1.2], [2.0, 0.7]], np.float32)
UP = np.array([[2.0, -1.0], [0.5, 3.0]], np.float32)


def ask(f, mode, **changes):
    given = {"inputs": {"x": X}, "upstream": UP, "wants": ("value", "gradient")}
    case = Case("c", **{**given, **changes})
    return {key: of(value) for key, value in MODES[mode](f, case).items()}


@pytest.mark.parametrize("mode", ALL)
def test_value_and_gradient_of_a_cube(tf, mode):
    got = ask(lambda x: x**3, mode)
    assert np.allclose(got["value"].array, X**3)
    assert np.allclose(got["gradient:x"].array, 3 * X**2 * UP, rtol=1e-5)
    assert got["value"].array.dtype == np.float32


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_every_kind_of_float_is_differentiated_and_no_other_number(tf, dtype):
    """To NumPy a bfloat16 is of no kind that it knows."""
    x = X.astype(tf.as_dtype(dtype).as_numpy_dtype)
    got = ask(lambda x, n: x * n, "eager", inputs={"x": x, "n": np.array(2).astype(x.dtype)},
              upstream=np.ones_like(x))  # fmt: skip
    assert got["gradient:x"].array.dtype.name == dtype
    assert set(got) == {"value", "gradient:x", "gradient:n"}
    got = ask(lambda x, i: tf.gather(x, i), "eager", inputs={"x": x, "i": np.array([0])},
              upstream=np.ones_like(x[:1]))  # fmt: skip
    assert set(got) == {"value", "gradient:x"}


@pytest.mark.parametrize("mode", TAPES)
def test_second_derivative(tf, mode):
    got = ask(lambda x: x**3, mode, wants=("second",))
    assert set(got) == {"gradient:x", "second:x"}
    assert np.allclose(got["second:x"].array, 6 * X * UP, rtol=1e-5)
    got = ask(tf.round, mode, wants=("second",))
    assert (got["gradient:x"].kind, got["second:x"].kind) == ("none", "none")


@pytest.mark.parametrize("mode", ALL)
def test_no_gradient_is_none_and_not_zero(tf, mode):
    assert ask(tf.round, mode)["gradient:x"].kind == "none"
    assert np.array_equal(ask(tf.sign, mode)["gradient:x"].array, np.zeros_like(X))


@pytest.mark.parametrize("mode", ALL)
def test_a_gradient_that_comes_in_slices_is_their_sum(tf, mode):
    got = ask(lambda x: tf.gather(x, [1, 1]), mode)
    assert np.allclose(got["gradient:x"].array, [[0, 0], UP.sum(0)])


@pytest.mark.parametrize("mode", ALL)
def test_a_forgotten_return_is_told_from_a_lost_gradient(tf, mode):
    assert ask(lambda x: None, mode)["gradient:x"] == Outcome("none", text=NOTHING)
    assert ask(tf.round, mode)["gradient:x"].text == ""
    assert ask(lambda x: tf.argmax(x), mode)["gradient:x"] == Outcome("none")


@pytest.mark.parametrize("mode", ["eager", "outside", "inside"])
def test_a_loop_into_a_tensor_array_has_a_gradient_though_tracing_knows_no_length(tf, mode):
    def running(x):
        rows = tf.TensorArray(x.dtype, size=0, dynamic_size=True)
        for i in tf.range(tf.shape(x)[0]):
            rows = rows.write(i, x[i] ** 2)
        return rows.stack()

    got = ask(running, mode)
    assert np.allclose(got["gradient:x"].array, 2 * X * UP)
    short = ask(lambda x: x[:1], mode)["gradient:x"]
    assert (short.kind, short.text) == ("skipped", "(1, 2) instead of (2, 2)")


def test_xla_is_not_asked_for_a_gradient_that_would_end_the_process(tf):
    def chosen(x):
        return tf.boolean_mask(x, tf.constant([True, False]))

    with pytest.raises(ValueError, match=r"known before it runs; this one is \(None, 2\)"):
        ask(chosen, "xla")


@pytest.mark.parametrize("mode", ALL)
def test_what_has_no_gradient_since_it_is_no_answer_is_told_by_its_type(tf, mode):
    def complex_numbers(x):
        return tf.complex(x, x)

    assert ask(complex_numbers, mode, wants=("gradient",))["gradient:x"].text == COMPLEX
    if mode in ("eager", "graph"):  # a tf.function refuses it itself
        odd = ask(lambda x: object(), mode, wants=("gradient",))["gradient:x"]
        assert (odd.kind, odd.text) == ("type", "object")


@pytest.mark.parametrize("mode", ALL)
def test_several_outputs_inputs_variables_and_plain_parameters(tf, mode):
    case = Case(
        "c",
        {"x": X, "k": 3.0, "i": np.array([1, 0]), "v": X[0]},
        (UP, UP[0]),
        variables=("v",),
    )

    def f(x, k, i, v):
        return k * x * v, tf.gather(v, i)

    got = {key: of(value) for key, value in MODES[mode](f, case).items()}
    assert np.allclose(got["value[0]"].array, 3 * X * X[0])
    assert np.allclose(got["value[1]"].array, X[0][::-1])
    assert np.allclose(got["gradient:x"].array, 3 * X[0] * UP)
    expected = 3 * (X * UP).sum(0) + UP[0][::-1]
    assert np.allclose(got["gradient:v"].array, expected, rtol=1e-5)
    assert "gradient:i" not in got


@pytest.mark.parametrize("mode", ALL)
def test_a_variable_is_handed_over_as_one_and_nothing_else_is(tf, mode):
    kinds = []

    def f(x, v):
        kinds.append((isinstance(x, tf.Variable), isinstance(v, tf.Variable)))
        return x * v

    got = ask(f, mode, inputs={"x": X, "v": X[0]}, variables=("v",))
    assert set(kinds) == {(False, True)}
    assert np.allclose(got["gradient:v"].array, (X * UP).sum(0), rtol=1e-5)


@pytest.mark.parametrize("mode", ALL)
def test_where_the_value_alone_is_asked_for_nothing_is_differentiated(tf, mode):
    @tf.custom_gradient
    def f(x):
        def gradient(up):
            raise AssertionError("asked for a gradient")

        return 2.0 * x, gradient

    got = ask(f, mode, wants=("value",))
    assert set(got) == {"value"}
    assert np.allclose(got["value"].array, 2 * X)


def test_an_override_acts_where_tensorflow_lets_it(tf):
    tf.RegisterGradient("test-modes-five")(lambda op, grad: 5.0 * grad)

    def f(x):
        with tf.compat.v1.get_default_graph().gradient_override_map(
            {"Identity": "test-modes-five"}
        ):
            return tf.identity(x)

    factor = {mode: float(ask(f, mode)["gradient:x"].array[0, 0] / UP[0, 0]) for mode in ALL}
    assert factor == {"eager": 1, "outside": 5, "inside": 1, "graph": 5, "xla": 1}


def test_xla_compiles_the_gradient_too(tf):
    """The kernel of sqrt's gradient gives 0 for a zero upstream; XLA computes 0 · ∞."""

    def f(x):
        return tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x))

    zero = {"inputs": {"x": np.zeros(1, "float32")}, "upstream": np.ones(1, "float32")}
    assert ask(f, "inside", **zero)["gradient:x"].array == 0
    assert np.isnan(ask(f, "xla", **zero)["gradient:x"].array)


def test_a_custom_rule_is_called_by_position(tf):
    @tf.custom_gradient
    def f(x):
        return x, lambda up: 1000.0 * up

    assert np.allclose(ask(f, "eager")["gradient:x"].array, 1000 * UP)


def test_a_wrong_shape_of_the_value_skips_the_gradient(tf):
    assert ask(tf.reduce_sum, "eager")["gradient:x"].kind == "skipped"


def test_functions_come_as_source(tf):
    got = ask(lambda f, x: f(x), "outside", inputs={"f": Source("lambda x: tf.exp(x)"), "x": X})
    assert np.allclose(got["gradient:x"].array, np.exp(X) * UP, rtol=1e-5)
    assert float(compile_source("lambda x: np.pi * x")(1.0)) == np.pi


@settings(max_examples=15)
@given(st.floats(-3, 3), st.floats(-3, 3), st.sampled_from(TAPES))
def test_the_gradient_is_linear_in_the_upstream_gradient(tf, a, b, mode):
    def gradient(up):
        return ask(tf.math.tanh, mode, upstream=np.full_like(X, up))["gradient:x"].array

    together = gradient(a + b)
    assert np.allclose(together, gradient(a) + gradient(b), atol=1e-5)


@pytest.mark.parametrize("mode", ["outside", "inside", "xla"])
@pytest.mark.parametrize("kind", ["function", "lambda", "object"])
def test_the_learners_own_if_and_for_are_traced_as_in_a_tf_function(tf, mode, kind):
    def double_or_halve(x):
        if tf.reduce_sum(x) > 0:  # noqa: SIM108
            x = 2.0 * x
        else:
            x = 0.5 * x
        for _ in tf.range(3):
            x = x + 1.0
        return x

    class Layer:
        def __call__(self, x):
            return double_or_halve(x)

    asked = {"function": double_or_halve, "lambda": lambda x: double_or_halve(x),
             "object": Layer()}[kind]  # fmt: skip
    for x, slope in ((X, 2.0), (-X, 0.5)):
        got = ask(asked, mode, inputs={"x": x})
        assert np.allclose(got["value"].array, slope * x + 3)
        assert np.allclose(got["gradient:x"].array, slope * UP)
        same = tf.function(double_or_halve)(tf.constant(x))
        assert np.allclose(got["value"].array, same)
