"""Chapter 02, proved a second time: truths by differences and mpmath, facts by TensorFlow."""

import uuid

import mpmath
import numpy as np
import pytest

from grader.course import Course
from grader.draw import reduce_to
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find().chapter("02")
TRIED = Tried(CHAPTER)
REFERENCE = CHAPTER.load("reference")
EXERCISES = CHAPTER.exercises()
mpmath.mp.dps = 50


def cases(name, seed=11):
    return EXERCISES[name].cases(np.random.default_rng(seed))


def differences(loss, arrays, name, step=1e-3):
    """The gradient of a scalar loss to one of its arrays, by a stencil of fourth order."""
    found = np.zeros_like(arrays[name])
    step *= max(1.0, np.abs(arrays[name]).max())
    for index in np.ndindex(found.shape):

        def at(shift, index=index):
            moved = arrays[name].copy()
            moved[index] += shift
            return loss(**(arrays | {name: moved}))

        near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
        found[index] = (8 * near - far) / (12 * step)
    return found


def assert_truth(case, name, loss, rtol=1e-8):
    """The truth of every gradient of a case against differences of the loss."""
    truth = EXERCISES[name].truth(case)
    for key in (key for key in truth if key.startswith("gradient:")):
        numeric = differences(loss, case.arrays, key.removeprefix("gradient:"))
        assert truth[key].shape == numeric.shape
        scale = max(1.0, np.abs(numeric).max())
        np.testing.assert_allclose(truth[key], numeric, rtol=rtol, atol=1e-8 * scale)


def by_mpmath(function, x, order=1):
    def at(v):
        """In units of v, where that is large: mpmath's step is small beside 1."""
        unit = max(mpmath.mpf(1), abs(v))
        return mpmath.diff(lambda t: function(unit * t), v / unit, order) / unit**order

    return np.array([float(at(mpmath.mpf(float(v)))) for v in x.ravel()]).reshape(x.shape)


def test_square_grad_is_the_derivative_of_the_square():
    for case in cases("square_grad"):
        order, power = 2 if case.part == "second" else 1, 4 if "again" in case.inputs else 2
        exact = by_mpmath(lambda v, p=power: v**p, case.arrays["x"], order) * case.upstream
        (truth,) = EXERCISES["square_grad"].truth(case).values()
        np.testing.assert_allclose(truth, exact, rtol=1e-12)


def test_multiply_grad_is_the_derivative_of_the_broadcast_product():
    for case in cases("multiply_grad"):
        assert_truth(case, "multiply_grad", lambda x, y, c=case: np.sum(c.upstream * (x * y)))


def test_top_k_grad_is_the_derivative_of_the_largest_k():
    for case in cases("top_k_grad"):

        def loss(x, case=case):
            return np.sum(case.upstream * -np.sort(-x, axis=-1)[..., : case.inputs["k"]])

        assert_truth(case, "top_k_grad", loss)


def test_numpy_sine_is_the_derivative_of_the_sine():
    for case in cases("numpy_sine"):
        truth = EXERCISES["numpy_sine"].truth(case)
        exact = by_mpmath(mpmath.sin, case.arrays["x"]) * case.upstream
        np.testing.assert_allclose(truth["gradient:x"], exact, rtol=1e-12)
        np.testing.assert_allclose(truth["value"], by_mpmath(mpmath.sin, case.arrays["x"], 0))


def test_add_backprop_is_the_derivative_of_the_sum():
    for case in cases("add_backprop"):

        def loss(c, k, d, case=case):
            return np.sum(case.upstream * (c + k)) + 0 * np.sum(d)

        assert_truth(case, "add_backprop", loss)


def test_the_published_triple_is_the_derivative_of_another_node():
    """(d, d, e) belongs to a = d (c + k); the e that is added to the first one is counted twice."""
    case = cases("add_backprop")[0]
    triple = REFERENCE.published(case)

    def loss(c, k, d):
        return np.sum(case.upstream * d * (c + k))

    for name in ("k", "d"):
        numeric = differences(loss, case.arrays, name)
        np.testing.assert_allclose(triple[f"gradient:{name}"], numeric, rtol=1e-8)
    total = differences(loss, case.arrays, "c") + differences(loss, case.arrays, "d")
    np.testing.assert_allclose(triple["gradient:c"], total, rtol=1e-8)


def test_reduce_to_is_the_transpose_of_broadcasting():
    rng = np.random.default_rng(4)
    for shape, wide in (((3,), (2, 3)), ((2, 1), (3, 2, 4)), ((), (2, 2)), ((1, 1), (1, 3))):
        small, large = rng.normal(size=shape), rng.normal(size=wide)
        spread = np.broadcast_to(small, wide)
        assert np.sum(spread * large) == pytest.approx(np.sum(small * reduce_to(large, shape)))


# What the prose and the tables say of TensorFlow --------------------------------------------------


@pytest.fixture(scope="module")
def taught(tf):
    def make(op_type, rule, f):
        name = f"test-{uuid.uuid4()}"
        tf.RegisterGradient(name)(rule)

        def overridden(*inputs):
            with tf.compat.v1.get_default_graph().gradient_override_map({op_type: name}):
                return f(*inputs)

        return tf.function(overridden, autograph=False)

    return make


def gradient(tf, f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


RETURNED = {
    "the int 0": lambda tf, grad: 0,
    "a NumPy array": lambda tf, grad: np.ones(2, "float32"),
    "None": lambda tf, grad: None,
    "[tensor]": lambda tf, grad: [grad],
    "two tensors": lambda tf, grad: (grad, grad),
    "a tensor of shape ()": lambda tf, grad: tf.reduce_sum(grad),
}


@pytest.mark.parametrize("entry", RETURNED)
def test_return_contract_is_what_tensorflow_does(tf, taught, entry):
    rule = RETURNED[entry]
    f = taught("Identity", lambda op, grad: rule(tf, grad), tf.identity)
    try:
        found = gradient(tf, f, tf.constant([1.0, 2.0]))
        word = "none" if found is None else "number"
    except (AttributeError, ValueError) as error:
        word = type(error).__name__.lower()
    assert REFERENCE.RETURNED[entry].answer == word


def test_the_table_has_exactly_these_entries():
    assert set(REFERENCE.RETURNED) == set(RETURNED)


def test_a_gradient_of_another_dtype_passes(tf, taught):
    f = taught("Identity", lambda op, grad: tf.cast(grad, tf.float64), tf.identity)
    assert gradient(tf, f, tf.constant([1.0, 2.0])).dtype == tf.float64


def test_op_types_cannot_be_registered_again(tf):
    with pytest.raises(KeyError, match="Registering two gradient with name 'Square'"):
        tf.RegisterGradient("Square")(lambda op, grad: grad)


def test_the_published_square_has_no_second_derivative(tf, taught):
    x = tf.constant([-1.0, 0.5, 2.0])
    f = taught("Square", lambda op, grad: grad * 2, tf.square)
    with tf.GradientTape() as tape:
        tape.watch(x)
        first = gradient(tf, f, x)
    np.testing.assert_array_equal(first, [2, 2, 2])
    assert tape.gradient(first, x) is None


def test_tensorflows_own_square_conjugates(tf):
    x = tf.constant([1 + 2j])
    np.testing.assert_allclose(gradient(tf, tf.square, x), 2 * np.conj(x))


def test_op_types_of_python_functions(tf):
    with tf.Graph().as_default():
        v = tf.constant([1.0])
        made = [
            tf.compat.v1.py_func(np.exp, [v], tf.float32),
            tf.compat.v1.py_func(np.exp, [v], tf.float32, stateful=False),
            tf.numpy_function(np.exp, [v], tf.float32),
            tf.py_function(tf.exp, [v], tf.float32),
        ]
        types = [y.op.type for y in made]
        assert types == ["PyFunc", "PyFuncStateless", "PyFunc", "EagerPyFunc"]
        assert all(y.shape.rank is None for y in made)


def test_the_map_must_name_the_type_that_is_emitted(tf, taught):
    def stateless(x):
        return tf.compat.v1.py_func(np.sin, [x], x.dtype, stateful=False)

    x = tf.constant([1.0, 2.0])

    def rule(op, grad):
        return grad * tf.cos(op.inputs[0])

    assert gradient(tf, taught("PyFunc", rule, stateless), x) is None
    np.testing.assert_allclose(
        gradient(tf, taught("PyFuncStateless", rule, stateless), x), np.cos(x), rtol=1e-6
    )


def test_tensorflow_code_runs_inside_a_numpy_function(tf):
    f = tf.function(lambda x: tf.numpy_function(lambda a: tf.square(a).numpy(), [x], tf.float32))
    x = tf.constant([3.0])
    assert f(x).numpy() == [9.0]
    assert gradient(tf, f, x) is None
    g = tf.function(lambda x: tf.py_function(tf.square, [x], tf.float32))
    assert gradient(tf, g, x).numpy() == [6.0]


def test_top_k_has_two_inputs_and_two_outputs(tf):
    with tf.Graph().as_default():
        op = tf.math.top_k(tf.constant([1.0, 3.0, 2.0]), k=2).values.op
    assert op.type == "TopKV2"
    assert (len(op.inputs), len(op.outputs)) == (2, 2)


def test_counts_are_named_in_the_errors(tf, taught):
    x = tf.constant([3.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=r"(?s)Num gradients 1 .* do not match num inputs 2"):
        gradient(tf, taught("Mul", lambda op, grad: grad, lambda x: x * x), x)
    f = taught("TopKV2", lambda op, grad: (grad, None), lambda x: tf.math.top_k(x, 2).values)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        gradient(tf, f, x)


# Answers that were once judged wrongly ------------------------------------------------------------

SINGLE = {
    "square_grad": "lambda op, grad: back(2.0 * single(op.inputs[0]) * single(grad))",
    "multiply_grad": "lambda op, grad: (back(reduced(single(grad) * single(op.inputs[1]), op, 0)), "
    "back(reduced(single(grad) * single(op.inputs[0]), op, 1)))",
    "top_k_grad": "lambda op, grad, _: (back(tf.einsum('...kn,...k->...n', tf.one_hot("
    "op.outputs[1], op.inputs[0].shape[-1]), single(grad))), None)",
    "add_backprop": "lambda op, grad: (back(single(grad)),) * 2 + (0 * op.inputs[2],)",
}
# A cast to float32, and one back to what was cast last.
CASTS = """
def single(t):
    single.dtype = t.dtype
    return tf.cast(t, tf.float32)
def back(t):
    return tf.cast(t, single.dtype)
def reduced(t, op, i):
    shapes = [tf.shape(v) for v in op.inputs]
    axes = tf.raw_ops.BroadcastGradientArgs(s0=shapes[0], s1=shapes[1])[i]
    return tf.reshape(tf.reduce_sum(t, axes), shapes[i])
"""
SINE = """
import uuid
def rule(op, grad):
    return {rule}
tf.RegisterGradient(name := "sine-" + str(uuid.uuid4()))(rule)
def numpy_sine(x):
    with tf.compat.v1.get_default_graph().gradient_override_map({{"PyFunc": name}}):
        y = {value}
    y.set_shape(x.shape)
    return {result}
"""
BY_NUMPY = "tf.numpy_function(np.sin, [x], x.dtype)"
NARROW = "tf.cast(tf.numpy_function(np.sin, [tf.cast(x, tf.float32)], tf.float32), x.dtype)"
COSINE = "grad * tf.cos(op.inputs[0])"
NARROW_COSINE = "grad * tf.cast(tf.cos(tf.cast(op.inputs[0], tf.float32)), grad.dtype)"
DROPPED = {"rule": COSINE, "value": BY_NUMPY, "result": "tf.sin(x)"}
WRONG = [
    ("numpy_sine", SINE.format(**DROPPED)),
    ("numpy_sine", SINE.format(**DROPPED).replace("def numpy", "@tf.function\ndef numpy")),
    *((name, f"{CASTS}\n{name} = {rule}") for name, rule in SINGLE.items()),
    (
        "square_grad",
        "lambda op, grad: 2 * grad * tf.cast(tf.cast(op.inputs[0], 'float32'), grad.dtype)",
    ),
    (
        "numpy_sine",
        CASTS
        + SINE.format(
            rule="back(single(grad) * tf.cos(single(op.inputs[0])))", value=BY_NUMPY, result="y"
        ),
    ),
    ("numpy_sine", SINE.format(rule=NARROW_COSINE, value=BY_NUMPY, result="y")),
    ("numpy_sine", SINE.format(rule=COSINE, value=NARROW, result="y")),
    ("square_grad", "lambda op, grad: 2.0 * op.inputs[0] * tf.stop_gradient(grad)"),
    ("fresh_gradient", "lambda fn: tf.RegisterGradient(str(id(fn)))(fn) and str(id(fn))"),
    (
        "top_k_grad",
        "lambda op, grad_values, grad_indices: ("
        "sum(tf.one_hot(op.outputs[1][..., j], op.inputs[0].shape[-1], dtype=grad_values.dtype)"
        " * grad_values[..., j : j + 1] for j in range(2)), None)",
    ),
]
RIGHT = [
    *TRIED.solved(WRONG),
    (
        "multiply_grad",
        CASTS.replace("tf.float32", "t.dtype") + f"multiply_grad = {SINGLE['multiply_grad']}",
    ),
    ("numpy_sine", SINE.format(rule=COSINE, value=BY_NUMPY, result="y")),
    ("numpy_sine", CHAPTER.load("answers").ANSWERS["numpy_sine"]["ok_traced_itself"]),
]


@on_draws(WRONG)
def test_refused(name, source, seed):
    TRIED.refuses(name, source, seed)


@on_draws(RIGHT)
def test_accepted(name, source, seed):
    TRIED.accepts(name, source, seed)


def test_k_is_one_two_and_three():
    for seed in range(4):
        found = [case.inputs["k"] for case in cases("top_k_grad", seed)]
        assert found[0] > 1
        assert sorted(found[1:]) == [1, 2, 3]
