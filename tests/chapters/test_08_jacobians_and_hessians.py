"""Chapter 08, proved a second time: derivatives at 50 digits, and every claim by running."""

from pathlib import Path
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest

from grader.course import Course
from grader.telling import cases_for
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find(Path(__file__)).chapter("08_jacobians_and_hessians")
TRIED = Tried(CHAPTER)
EXERCISES = CHAPTER.exercises()
REFERENCE = CHAPTER.load("reference")
CASES = [(e, c) for e in EXERCISES.values() for s in (1, 2) for c in cases_for(e, s)]
mp.mp.dps = 50
STEP = mp.mpf(10) ** -12


def of(name):
    rows = [(e, c) for e, c in CASES if e.id == name and c.part != "memory"]
    return pytest.mark.parametrize(("exercise", "case"), rows, ids=[c.name for _, c in rows])


def each(f):
    return np.vectorize(f, otypes=[object])


def exact(array):
    return each(mp.mpf)(np.asarray(array, np.float64))


def floats(array):
    return np.asarray(array, dtype=object).astype(np.float64)


exp, sin, tanh = each(mp.exp), each(mp.sin), each(mp.tanh)


def with_step(x, index, step):
    moved = x.copy()
    moved[index] += step
    return moved


def jacobian(f, x):
    """Central differences of f (arrays of mpf) at x: f's shape, then x's."""
    columns = [
        (f(with_step(x, i, STEP)) - f(with_step(x, i, -STEP))) / (2 * STEP)
        for i in np.ndindex(x.shape)
    ]
    stacked = np.stack([np.asarray(c, dtype=object) for c in columns], axis=-1)
    return stacked.reshape(stacked.shape[:-1] + x.shape)


def second(f, x):
    """The (n, n) matrix of second differences of the scalar f."""
    flat = x.ravel()

    def at(*moves):
        moved = flat.copy()
        for i, step in moves:
            moved[i] += step
        return f(moved.reshape(x.shape))

    n, h = flat.size, STEP
    return np.array(
        [
            [
                (
                    at((i, h), (j, h))
                    - at((i, h), (j, -h))
                    - at((i, -h), (j, h))
                    + at((i, -h), (j, -h))
                )
                / (4 * h * h)
                for j in range(n)
            ]
            for i in range(n)
        ],
        dtype=object,
    )


W = REFERENCE.W
FUNCTIONS = {
    REFERENCE.MIXED: lambda x: np.array(
        [x[0] * x[1], mp.exp(x[2]), x[0] + x[2] ** 2, mp.sin(x[1])]
    ),
    REFERENCE.GRAM: lambda x: x @ x.T,
    REFERENCE.OF_SCALAR: lambda x: np.array([x.item() ** 2, mp.sin(x.item()), 3 * x.item()]),
    REFERENCE.TO_SCALAR: lambda x: np.array(np.sum(x**3), dtype=object),
    REFERENCE.UNCONNECTED: lambda x: exact(np.ones((2, 2))),
    REFERENCE.LAYER: lambda x: exp(x) @ exact(W),
    REFERENCE.CUBIC: lambda x: np.sum(x**3) + np.sum(x) ** 2,
    REFERENCE.LOGSUMEXP: lambda x: mp.log(np.sum(exp(x))) + np.sum(x * x),
    REFERENCE.QUARTIC: lambda x: np.sum(x * x) ** 2 / 4,
    REFERENCE.LINEAR: lambda x: 3 * np.sum(x),
    REFERENCE.WAVES: lambda x: np.sum(sin(5 * x)) + np.sum(x) ** 2,
}


def function(case):
    return FUNCTIONS[case.inputs["f"].text]


def close(got, want, rtol=1e-9):
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, floats(want), rtol=rtol, atol=1e-10)


@of("jacobian_by_rows")
def test_jacobian_by_rows(exercise, case):
    close(exercise.truth(case)["value"], jacobian(function(case), exact(case.arrays["x"])))


@of("kernel_jacobian")
def test_kernel_jacobian(exercise, case):
    a = {k: exact(v) for k, v in case.arrays.items()}
    act = {"tanh": tanh, "softmax": lambda z: exp(z) / np.sum(exp(z), axis=1, keepdims=True)}

    def layer(kernel):
        return act[case.options["activation"]](a["x"] @ kernel + a["bias"])

    close(exercise.truth(case)["value"], jacobian(layer, a["kernel"]))


@of("per_example_jacobian")
def test_per_example_jacobian(exercise, case):
    full = jacobian(function(case), exact(case.arrays["x"]))
    blocks = np.stack([full[b, :, b] for b in range(len(full))])
    close(exercise.truth(case)["value"], blocks)
    full[np.arange(len(full)), :, np.arange(len(full))] = 0
    assert not np.any(full)


IN_MPMATH = SimpleNamespace(
    exp=exp,
    einsum=np.einsum,
    ones_like=lambda x: 0 * x + 1,
    constant=lambda value, dtype: exact(np.array(value)),
)


@of("rows_are_independent")
def test_rows_are_independent(exercise, case):
    f = eval(case.inputs["f"].text, {"tf": IN_MPMATH})
    full = floats(jacobian(f, exact(case.arrays["x"])))
    off = np.abs(full).max(axis=(1, 3))
    np.fill_diagonal(off, 0)
    assert exercise.truth(case)["value"] == (off.max() < 1e-20)
    assert off.max() < 1e-20 or off.max() >= 1e-4


@of("hessian")
def test_hessian(exercise, case):
    x = exact(case.arrays["x"])
    close(exercise.truth(case)["value"], second(function(case), x).reshape(x.shape + x.shape))


@of("hessian_matrix")
def test_hessian_matrix(exercise, case):
    arrays = {k: exact(case.arrays[k]) for k in case.options["order"]}

    def loss(flat):
        found, at = {}, 0
        for name, array in arrays.items():
            found[name] = flat[at : at + array.size].reshape(array.shape)
            at += array.size
        if "b" not in found:
            return np.sum(exp(found["w"])) + np.sum(exp(found["u"]))
        w, b, u = (np.sum(found[name] ** 2) / 2 for name in "wbu")
        return w * b + u

    flat = np.concatenate([a.ravel() for a in arrays.values()])
    close(exercise.truth(case)["value"], second(loss, flat))


@of("newton_step")
def test_newton_step(exercise, case):
    """The step solves the system, and a parabola's minimum is reached in one."""
    a, n = case.arrays, case.arrays["x"].size
    moved = (a["x"] - exercise.truth(case)["value"]).ravel()
    matrix = a["hessian"].reshape(n, n) + case.inputs["damping"] * np.eye(n)
    want = mp.lu_solve(mp.matrix(matrix.tolist()), mp.matrix(a["gradient"].ravel().tolist()))
    np.testing.assert_allclose(moved, [float(v) for v in want], rtol=1e-10)


@of("hvp")
def test_hvp(exercise, case):
    """The derivative, along v, of the gradient taken by differences."""
    x, v = exact(case.arrays["x"]), exact(case.arrays["v"])
    product = second(function(case), x) @ v.ravel()
    close(exercise.truth(case)["value"], np.asarray(product, dtype=object).reshape(v.shape))


@of("hessian_norm")
def test_hessian_norm(exercise, case):
    x, h = exact(case.arrays["x"]), mp.mpf(case.inputs["h"])
    f = each_point(function(case))
    total = mp.mpf(0)
    for z in exact(case.arrays["directions"]):
        up, down = (np.asarray(x + s * h * z, dtype=object) for s in (1, -1))
        d = (jacobian(f, up) - jacobian(f, down)) / (2 * h)
        total += np.sum(d * d)
    want = mp.sqrt(total / len(case.arrays["directions"]))
    assert exercise.truth(case)["value"] == pytest.approx(float(want), rel=1e-9)


def each_point(f):
    return lambda x: np.array(f(x), dtype=object)


@of("hutchinson_trace")
def test_hutchinson_trace(exercise, case):
    h = second(function(case), exact(case.arrays["x"]))
    probes = exact(case.arrays["probes"])
    forms = [z @ h @ z for z in probes.reshape(len(probes), -1)]
    want = float(sum(forms) / len(forms))
    assert exercise.truth(case)["value"] == pytest.approx(want, rel=1e-9, abs=1e-9)


def penalty(a):
    """‖d mean((model(x) − y)²) / dx‖ with the input gradient by the chain rule, in mpf."""
    hidden = tanh(a["x"] @ a["w1"] + a["b1"])
    error = hidden @ a["w2"] + a["b2"] - a["y"]
    back = (2 * error / error.size) @ a["w2"].T * (1 - hidden**2)
    return mp.sqrt(np.sum((back @ a["w1"].T) ** 2))


@of("input_gradient_penalty")
def test_input_gradient_penalty(exercise, case):
    a, truth = {k: exact(v) for k, v in case.arrays.items()}, exercise.truth(case)
    for i, name in enumerate(("w1", "b1", "w2", "b2")):
        by_name = each_point(lambda value, name=name: penalty({**a, name: value}))
        close(truth[f"gradient[{i}]"], jacobian(by_name, a[name]))


def test_the_penalty_differentiates_the_right_gradient():
    """The chain rule in `penalty` against differences of the loss itself."""
    case = next(c for e, c in CASES if e.id == "input_gradient_penalty")
    a = {k: exact(v) for k, v in case.arrays.items()}

    def loss(x):
        error = tanh(x @ a["w1"] + a["b1"]) @ a["w2"] + a["b2"] - a["y"]
        return np.array(np.sum(error**2) / error.size, dtype=object)

    size = mp.sqrt(np.sum(jacobian(loss, a["x"]) ** 2))
    assert float(penalty(a)) == pytest.approx(float(size), rel=1e-10)


MEMORY = ("per_example_jacobian", "hvp", "hutchinson_trace")


@pytest.mark.parametrize("name", MEMORY)
def test_no_large_tensor_is_no_merit_where_nothing_right_is_computed(tf, name):
    """The part memory pays for the right value without the large tensor, and for nothing else."""
    from grader import evaluate

    right = TRIED.given(name, TRIED.solutions[name])

    def spare(f, x, z=None, more=1):
        return right(f, x, *([] if z is None else [z]))

    def collected(*given):
        return right(*given)

    for good in (right, spare, collected):
        assert evaluate(name, good, part="memory").passed
    worthless = {
        "a word": lambda *a, **k: "x",
        "a number": lambda *a, **k: 1.0,
        "a tensor of another shape": lambda *a, **k: tf.zeros([1]),
        "zeros of the right shape": lambda *a: tf.zeros_like(right(*a)),
        "another dtype": lambda *a: tf.cast(right(*a), tf.float64),
        "twice the right value": lambda *a: 2.0 * right(*a),
        "nothing": lambda *a, **k: None,
        "the input": lambda f, x, *more: x,
    }
    for what, given in worthless.items():
        verdict = evaluate(name, given, part="memory")
        assert not verdict.passed, what
        assert verdict.fraction == 0, what


# Wrong answers that once passed, and right ones that once did not -------------------------------

INDEPENDENT = """
def rows_are_independent(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    jacobian = tape.jacobian(y, x, unconnected_gradients="zero")
    {}
    np.fill_diagonal(strength, 0)
    return bool(strength.max() < {})
"""
SUMMED_BATCH = """
def rows_are_independent(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    jacobian = tape.jacobian(y, x, unconnected_gradients="zero")
    blocks = tape.batch_jacobian(y, x, unconnected_gradients="zero")
    return np.allclose(tf.reduce_sum(jacobian, 2), blocks, atol=1e-5)
"""
SWAPPED = """
def rows_are_independent(f, x):
    order = {}
    y, again = f(x), f(tf.gather(x, order))
    return bool(np.allclose(tf.gather(y, order), again, atol=1e-5))
"""
NEWTON = """
def newton_step(x, gradient, hessian, damping):
    n = int(np.size(x))
    sizes, basis = np.linalg.eigh(np.reshape(hessian, (n, n)))
    step = basis @ (basis.T @ np.reshape(gradient, n) / ({} + damping))
    return x - np.reshape(step, x.shape).astype(x.dtype.name)
"""
KERNEL = """
def kernel_jacobian(layer, x):
    with tf.GradientTape() as tape:
        z = x @ layer.kernel + layer.bias
        tape.watch(z)
        y = layer.activation(z)
    {}
"""
HVP = """
def hvp(f, x, v):
    def g(point):
        with tf.GradientTape() as tape:
            tape.watch(point)
            y = f(point)
        return tape.gradient(y, point)
    h = 1e-5 if x.dtype == tf.float64 else {}
    return (g(x + h * v) - g(x - h * v)) / (2 * h)
"""
TWO_AXES = "strength = np.abs(jacobian).max(axis=(1, 3))"
ELEMENTWISE = """d = tape.gradient(y, z)
    return tf.einsum("oj,bo,bi->boij", tf.eye(layer.units, dtype=x.dtype), d, x)"""
BY_ROWS = 'return tf.einsum("boj,bi->boij", tape.batch_jacobian(y, z), x)'
REFUSED = [
    ("rows_are_independent", INDEPENDENT.format(TWO_AXES, 1e-3)),
    ("rows_are_independent", SUMMED_BATCH),
    *(
        ("rows_are_independent", SWAPPED.format(order))
        for order in ("range(len(x))[::-1]", "np.random.permutation(len(x))")
    ),
    *(
        ("rows_are_independent", INDEPENDENT.format(f"{TWO_AXES}[{seen}]", 1e-5))
        for seen in (":, [0, 1, -1]][[0, 1, -1]", "[0, -1]][:, [0, -1]")
    ),
    *(
        ("rows_are_independent", INDEPENDENT.format(f"strength = {summed}", 1e-5))
        for summed in (
            "np.abs(np.sum(jacobian, axis=(1, 3)))",
            "np.abs(np.sum(jacobian, axis=1)).max(axis=2)",
            "np.abs(np.sum(jacobian, axis=3)).max(axis=1)",
            "np.max(jacobian, axis=(1, 3))",
        )
    ),
    ("newton_step", NEWTON.format("np.abs(sizes)")),
    ("kernel_jacobian", KERNEL.format(ELEMENTWISE)),
    *(("hvp", HVP.format(h)) for h in (3e-2, 1e-2, 3e-3, 1e-3)),
]
OTHERWISE = [
    ("rows_are_independent", INDEPENDENT.format(TWO_AXES, 5e-5)),
    ("newton_step", NEWTON.format("sizes")),
    ("kernel_jacobian", KERNEL.format(BY_ROWS)),
]
RIGHT = [*TRIED.solved(REFUSED), *OTHERWISE]


@on_draws(REFUSED)
def test_refused(name, source, seed):
    TRIED.refuses(name, source, seed)


@on_draws(RIGHT)
def test_still_right(name, source, seed):
    TRIED.accepts(name, source, seed)


# What the chapter says about TensorFlow --------------------------------------------------------


def test_a_gradient_of_a_vector_is_that_of_its_sum(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x[0] * x[1], -x[0] * x[1]])
    assert not np.any(tape.gradient(y, x))


def test_shapes_of_a_layer(tf):
    layer, batch = tf.keras.layers.Dense(10), tf.random.normal([7, 5])
    with tf.GradientTape() as tape:
        y = layer(batch)
    assert y.shape == (7, 10)
    assert tape.jacobian(y, layer.kernel).shape == (7, 10, 5, 10)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.jacobian(y, layer.bias)


def test_what_jacobian_refuses(tf):
    x = tf.random.normal([4, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, total = x * 2.0, tf.reduce_sum(x, axis=1)
    with pytest.raises(AttributeError, match="'list' object has no attribute 'shape'"):
        tape.jacobian([y, y], x)
    with pytest.raises(ValueError, match="must have rank at least 2"):
        tape.batch_jacobian(total, x)


def test_batch_normalisation_couples_in_training_mode_only(tf):
    layer, x = tf.keras.layers.BatchNormalization(), tf.random.normal([4, 2])
    layer(x)

    def coupled(**mode):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, **mode)
        blocks = np.abs(tape.jacobian(y, x)).max(axis=(1, 3))
        np.fill_diagonal(blocks, 0)
        return blocks.max() > 1e-3

    assert coupled(training=True)
    assert not coupled(training=False)
    assert not coupled()


def test_two_nones(tf):
    """The inner gradient after the outer tape, and a linear function."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x**3)
    assert outer.jacobian(inner.gradient(y, x), x) is None
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(3.0 * x)
        g = inner.gradient(y, x)
    assert outer.jacobian(g, x) is None


def test_gradient_at_a_moved_point_is_none(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x**3)
    assert tape.gradient(y, x + 0.1) is None


def test_jacobian_by_a_loop_needs_a_persistent_tape(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.jacobian(y, x, experimental_use_pfor=False)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    slow = tape.jacobian(y, x, experimental_use_pfor=False)
    assert np.array_equal(slow, np.diag([2.0, 4.0]).astype("float32"))


def test_tf_hessians_in_a_function(tf):
    x = tf.constant([1.0, 2.0])
    found = tf.function(lambda x: tf.hessians(tf.reduce_sum(x**3), x)[0])(x)
    assert np.array_equal(found, np.diag([6.0, 12.0]).astype("float32"))


def test_a_norm_at_zero_poisons_and_the_double_where_does_not(tf):
    """Told of below the last exercise: a kernel of zeros makes the input gradient zero."""
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.set_weights([np.zeros((2, 1)), np.zeros(1)])
    x, y = tf.constant([[1.0, 2.0]]), tf.constant([[1.0]])

    def safe_norm(g):
        squared = tf.reduce_sum(g**2)
        return tf.where(squared > 0, tf.sqrt(tf.where(squared > 0, squared, 1.0)), 0.0)

    def penalised(norm):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                loss = tf.reduce_mean((model(x) - y) ** 2)
            size = norm(inner.gradient(loss, x))
        found = outer.gradient(size, model.trainable_variables, unconnected_gradients="zero")
        return [g.numpy() for g in found]

    assert all(np.isnan(g).all() for g in penalised(tf.norm))
    assert not any(np.any(g) for g in penalised(safe_norm))
    model.set_weights([np.array([[1.0], [2.0]]), np.zeros(1)])
    for one, other in zip(penalised(tf.norm), penalised(safe_norm), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
