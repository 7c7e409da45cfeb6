"""Chapter 05: its closed forms by another method, and every fact that its prose claims."""

import subprocess
import sys
import textwrap

import mpmath
import numpy as np
import pytest

from grader.course import Course
from grader.telling import cases_for
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find().chapter("05_custom_gradient")
TRIED = Tried(CHAPTER)
EXERCISES = CHAPTER.exercises()
SEEDS = (1, 2)
mpmath.mp.dps = 50


def cases(name):
    drawn = [case for seed in SEEDS for case in cases_for(EXERCISES[name], seed)]
    return [case for case in drawn if case.part != "card"]  # which shows kinks, and is not judged


def on_cases_of(name):
    """Runs a test on every case of an exercise, for several seeds."""
    found = cases(name)
    ids = [f"{i} {case.name}" for i, case in enumerate(found)]
    return pytest.mark.parametrize("case", found, ids=ids)


def by_mpmath(f, x, order=0):
    """f or a derivative of it at every entry of x, to 50 digits, as float64."""

    def at(v):
        """In units of v, where that is large: mpmath's step is small beside 1."""
        unit = max(mpmath.mpf(1), abs(v))
        return mpmath.diff(lambda t: f(unit * t), v / unit, order) / unit**order

    flat = [float(at(mpmath.mpf(float(v)))) for v in np.ravel(x)]
    return np.reshape(flat, np.shape(x))


def differences(f, x, h=1e-3):
    """The gradient of the scalar f at x by central differences of fourth order."""
    h *= max(1.0, np.abs(x).max())
    slope = np.zeros(x.size)
    for i in range(x.size):
        e = np.zeros(x.size)
        e[i] = h
        e = e.reshape(x.shape)
        slope[i] = (8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * h)
    return slope.reshape(x.shape)


def close(got, wanted, rtol=1e-9):
    scale = max(float(np.max(np.abs(wanted), initial=0.0)), 1e-30)
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * scale)


@on_cases_of("log1pexp")
def test_log1pexp(case):
    x, truth = case.arrays["x"], EXERCISES["log1pexp"].truth(case)

    def smooth(v):
        return mpmath.log1p(mpmath.exp(v))

    if case.options:
        close(truth["second:x"], case.upstream * by_mpmath(lambda v: smooth(v) ** 2, x, 2))
        return
    close(truth["value"], by_mpmath(smooth, x))
    close(truth["gradient:x"], case.upstream * by_mpmath(smooth, x, 1))
    # Far out the second derivative is far below what a difference of 50 digits resolves.
    near = np.abs(x) < 50
    wanted = np.where(near, case.upstream * by_mpmath(smooth, np.where(near, x, 0), 2), 0.0)
    np.testing.assert_allclose(truth["second:x"], wanted, rtol=1e-9, atol=1e-12)


def test_clip_gradient_norm():
    seen = set()
    for case in cases("clip_gradient_norm"):
        up = [mpmath.mpf(float(v)) for v in np.ravel(case.upstream)]
        size, most = mpmath.norm(mpmath.matrix(up)), mpmath.mpf(case.inputs["max_norm"])
        factor = most / size if size > most else mpmath.mpf(1)
        wanted = np.reshape([float(factor * v) for v in up], case.upstream.shape)
        close(EXERCISES["clip_gradient_norm"].truth(case)["gradient:x"], wanted)
        seen.add((bool(size > most), bool(size == 0)))
    assert seen == {(True, False), (False, False), (False, True)}


@on_cases_of("clip_value_passthrough")
def test_clip_value_passthrough(case):
    low, high = case.inputs["low"], case.inputs["high"]
    truth = EXERCISES["clip_value_passthrough"].truth(case)
    close(truth["value"], by_mpmath(lambda v: min(max(v, low), high), case.arrays["x"]))
    # The surrogate is the derivative of the identity.
    close(truth["gradient:x"], case.upstream * by_mpmath(lambda v: v, case.arrays["x"], 1))


@on_cases_of("cube")
def test_cube(case):
    x, truth = case.arrays["x"], EXERCISES["cube"].truth(case)
    if case.options:
        close(truth["second:x"], case.upstream * by_mpmath(lambda v: v**6, x, 2))
        return
    for key, order in (("gradient:x", 1), ("second:x", 2)):
        close(truth[key], case.upstream * by_mpmath(lambda v: v**3, x, order))
    close(truth["value"], by_mpmath(lambda v: v**3, x))


@on_cases_of("scaled_dense")
def test_scaled_dense(case):
    x, kernel, up = case.arrays["x"], case.arrays["kernel"], case.upstream.astype("float64")
    truth, scale = EXERCISES["scaled_dense"].truth(case), case.inputs["scale"]
    to_x = differences(lambda v: np.sum(up * np.einsum("bn,nm->bm", v, kernel)), x)
    to_kernel = differences(lambda v: np.sum(up * np.einsum("bn,nm->bm", x, v)), kernel)
    close(truth["gradient:x"], scale * to_x, 1e-8)
    close(truth["gradient:kernel"], scale * to_kernel, 1e-8)


@on_cases_of("solve_cached")
def test_solve_cached(case):
    if case.options:
        return
    matrix, rhs = case.arrays["matrix"], case.arrays["rhs"]
    up, truth = case.upstream.astype("float64"), EXERCISES["solve_cached"].truth(case)
    close(matrix @ truth["value"], rhs, 1e-8)
    to_matrix = differences(lambda v: np.sum(up * (np.linalg.inv(v) @ rhs)), matrix)
    to_rhs = differences(lambda v: np.sum(up * (np.linalg.inv(matrix) @ v)), rhs)
    close(truth["gradient:matrix"], to_matrix, 1e-7)
    close(truth["gradient:rhs"], to_rhs, 1e-7)


@on_cases_of("fixed_point")
def test_fixed_point(case):
    module = CHAPTER.load("reference")
    truth, rule = EXERCISES["fixed_point"].truth(case), case.options["rule"]

    def settle(theta):
        z = case.arrays["x0"]
        for _ in range(120):
            z = module.step(rule, z, theta)
        return z

    theta = case.arrays["theta"]
    z = settle(theta)
    close(module.step(rule, z, theta), z)
    if "value" in truth:
        close(truth["value"], z)
    if "gradient:theta" in truth:
        up = case.upstream.astype("float64")
        steep = module.STEEP if rule == "a steep wave" else 1.0
        wanted = differences(lambda v: np.sum(up * settle(v)), theta, 1e-3 / steep)
        close(truth["gradient:theta"], wanted, 1e-8)


def test_the_functions_iterated_are_those_of_the_reference(tf):
    from grader.probe.modes import compile_source

    module = CHAPTER.load("reference")
    for case in cases("fixed_point"):
        f = compile_source(case.inputs["f"])
        x0, theta = (tf.constant(case.inputs[n], tf.float64) for n in ("x0", "theta"))
        wanted = module.step(case.options["rule"], case.arrays["x0"], case.arrays["theta"])
        close(f(x0, theta).numpy(), wanted)


@on_cases_of("numpy_softsign")
def test_numpy_softsign(case):
    x, truth = case.arrays["x"], EXERCISES["numpy_softsign"].truth(case)
    close(truth["value"], by_mpmath(lambda v: v / (1 + abs(v)), x))
    wanted = case.upstream * by_mpmath(lambda v: v / (1 + abs(v)), x, 1)
    close(truth["gradient:x"], wanted)


# --- what the prose says ---------------------------------------------------------------------


def gradient(tf, f, x, **tape_options):
    with tf.GradientTape(**tape_options) as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def first_and_second(tf, f, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        first = gradient(tf, f, x)
    return first.numpy(), outer.gradient(first, x).numpy()


def test_the_documented_rule_under_one_tape_and_under_a_persistent_one(tf):
    @tf.custom_gradient
    def documented(x):
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    traced = tf.function(documented)
    assert gradient(tf, documented, x) == gradient(tf, documented, x, persistent=True) == 1.0
    assert gradient(tf, traced, x) == 1.0
    assert np.isnan(gradient(tf, traced, x, persistent=True))
    assert first_and_second(tf, documented, x)[0] == 1.0
    assert np.isnan(
        [*first_and_second(tf, documented, x)[1:], *first_and_second(tf, traced, x)]
    ).all()


def test_the_solution_is_right_under_a_persistent_tape(tf):
    def log1pexp(x):
        @tf.custom_gradient
        def stable(x):
            return tf.nn.softplus(x), lambda upstream: upstream * tf.sigmoid(x)

        return stable(x)

    x = tf.constant([100.0, -1e4, 1e4])
    for f in (log1pexp, tf.function(log1pexp)):
        assert gradient(tf, f, x, persistent=True).numpy().tolist() == [1.0, 0.0, 1.0]


def test_keywords_and_forward_mode_skip_the_rule(tf):
    @tf.custom_gradient
    def thousand(x):
        return x**3, lambda upstream: 1000 * upstream

    one = tf.constant(1.0)
    assert gradient(tf, thousand, one) == 1000.0
    assert gradient(tf, lambda x: thousand(x=x), one) == 3.0
    with tf.autodiff.ForwardAccumulator(one, one) as forward:
        y = thousand(one)
    assert forward.jvp(y) == 3.0


def test_a_number_counts_as_an_input(tf):
    @tf.custom_gradient
    def with_number(x, factor):
        return x * 1.0, lambda upstream: factor * upstream

    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1"):
        gradient(tf, lambda x: with_number(x, 5.0), tf.constant(1.0))


def test_a_nested_rule_must_not_use_the_forward_pass(tf):
    def nested(own_only):
        def f(x):
            @tf.custom_gradient
            def slope(own):
                return 2 * own, lambda upstream: upstream * (2 + 0 * (own if own_only else x))

            @tf.custom_gradient
            def squared(x):
                argument = tf.identity(x) if own_only else x
                return x**2, lambda upstream: upstream * slope(argument)

            return squared(x)

        return f

    def second(f):
        x = tf.constant(3.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            first = gradient(tf, f, x)
        return outer.gradient(first, x)

    assert second(nested(own_only=False)) == 2.0
    with pytest.raises(TypeError, match="out of scope"):
        second(tf.function(nested(own_only=False)))


def test_solve_factorises_twice(tf):
    probes = {}
    exec(compile(CHAPTER.probes, "<probes>", "exec"), probes)
    matrix, rhs = tf.constant([[0.1, 2.0], [2.0, 0.3]]), tf.ones((2, 1))
    undecided = tf.autograph.experimental.do_not_convert(probes["factorisations"])
    assert undecided(tf.linalg.solve, matrix, rhs) == ["MatrixSolve"] * 2
    assert undecided(tf.function(tf.linalg.solve), matrix, rhs) == ["MatrixSolve"] * 2
    assert undecided(tf.linalg.cholesky_solve, matrix, rhs) == []


def test_numpy_function_loses_shape_gradient_and_xla(tf):
    outside = tf.autograph.experimental.do_not_convert(
        lambda x: tf.numpy_function(np.tanh, [x], tf.float32)
    )
    x = tf.constant([0.5])
    assert gradient(tf, outside, x) is None
    traced = tf.function(outside).get_concrete_function(x)
    assert traced.output_shapes.rank is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="PyFunc"):
        tf.function(outside, jit_compile=True)(x)


def test_the_tools_do_what_the_table_says(tf):
    v1 = tf.compat.v1
    tf.RegisterGradient("chapter 05, five times")(lambda op, grad: 5 * grad)
    with pytest.raises(KeyError, match="Registering two gradient"):
        tf.RegisterGradient("Sign")(lambda op, grad: grad)
    with tf.Graph().as_default() as made:
        tf.sign(v1.placeholder(tf.float32, [2], name="x"), name="y")
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0])
        with graph.gradient_override_map({"Sign": "chapter 05, five times"}):
            (y,) = tf.import_graph_def(made.as_graph_def(), {"x": x}, ["y:0"])
        (slope,) = v1.gradients(y, x)
        with v1.Session() as session:
            assert session.run(slope).tolist() == [5.0, 5.0]


FRESH = """
    import sys, tensorflow as tf
    x = tf.constant([1.0])
    for path in sys.argv[1:]:
        try:
            loaded = tf.saved_model.load(path)
            value = loaded(x).numpy().tolist()
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = loaded(x)
            print(value, tape.gradient(y, x).numpy().tolist())
        except Exception as error:
            print(type(error).__name__, str(error).splitlines()[0], "pyfunc" in str(error))
"""


@pytest.mark.filterwarnings("ignore")
def test_a_fresh_process_finds_the_rule_only_where_it_was_saved(tf, tmp_path):
    @tf.custom_gradient
    def thousand(x):
        return x**3, lambda upstream: 1000 * upstream

    class Bent(tf.Module):
        def __init__(self, f):
            super().__init__()
            self.call = tf.function(f, input_signature=[tf.TensorSpec([None])], autograph=False)

        @tf.function(input_signature=[tf.TensorSpec([None])], autograph=False)
        def __call__(self, x):
            return self.call(x)

    off = tf.saved_model.SaveOptions(experimental_custom_gradients=False)

    def by_numpy(x):
        return tf.ensure_shape(tf.numpy_function(np.tanh, [x], tf.float32), [None])

    tf.saved_model.save(Bent(thousand), str(tmp_path / "kept"))
    tf.saved_model.save(Bent(thousand), str(tmp_path / "off"), options=off)
    tf.saved_model.save(Bent(by_numpy), str(tmp_path / "numpy"))
    paths = [str(tmp_path / name) for name in ("kept", "off", "numpy")]
    command = [sys.executable, "-c", textwrap.dedent(FRESH), *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    kept, dropped, called = done.stdout.strip().splitlines()
    assert kept == "[1.0] [1000.0]"
    assert dropped.startswith("LookupError No gradient defined for operation'IdentityN'")
    assert "Error" in called
    assert called.endswith("True")


# --- answers that were once judged wrongly ---------------------------------------------------


def inner(value, rule):
    """An answer that decorates a function of x and calls it."""
    return f"lambda x, *numbers: tf.custom_gradient(lambda x: ({value}, {rule}))(x)"


CLIPPED = "tf.clip_by_value(x, -0.75, 0.5)"
LINE = "tf.where(x > 5, x, tf.math.log1p(tf.exp(tf.minimum(x, 5))))"
STOPPED = "lambda up: tf.stop_gradient(up) * "
QUARTER = "lambda up: 0.25 * up))(x @ kernel)"


def single(t):
    return f"tf.cast({t}, tf.float32)"


def back(t):
    return f"tf.cast({t}, x.dtype)"


# The solution, computed in float32 from beginning to end.
NARROWED = """{solution}
solution = {name}
def {name}(*given):
    floats = [v.dtype for v in given if tf.is_tensor(v)]
    narrow = [tf.cast(v, tf.float32) if tf.is_tensor(v) else v for v in given]
    return tf.cast(solution(*narrow), floats[0])
"""
PURE = ("log1pexp", "clip_gradient_norm", "clip_value_passthrough", "cube", "solve_cached",
        "fixed_point", "numpy_softsign")  # fmt: skip
SINGLE = (
    *((name, NARROWED.format(name=name, solution=TRIED.solutions[name])) for name in PURE),
    (
        "log1pexp",
        inner("tf.nn.softplus(x)", "lambda up: up * " + back(f"tf.sigmoid({single('x')})")),
    ),
    (
        "clip_gradient_norm",
        inner("1 * x", "lambda up: " + back(f"tf.clip_by_norm({single('up')}, numbers[0])")),
    ),
    (
        "clip_value_passthrough",
        inner("tf.clip_by_value(x, *numbers)", "lambda up: " + back(single("up"))),
    ),
    ("cube", inner("x**3", "lambda up: 3 * up * " + back(f"{single('x')} ** 2"))),
    (
        "scaled_dense",
        "lambda x, kernel, scale: tf.custom_gradient(lambda x, k: (x @ k, lambda up: "
        f"(scale * up @ {back('tf.transpose(' + single('k') + ')')}, "
        f"{back('tf.transpose(' + single('x') + ') @ ' + single('scale * up'))})))(x, kernel)",
    ),
)
WRITTEN = CHAPTER.load("answers")
LAST_STEP = "y = f(z, theta)\n            return"
DROPPED = """
def numpy_softsign(x):
    tf.numpy_function(lambda a: a / (1 + np.abs(a)), [x], x.dtype)
    return x / (1 + tf.abs(x))
"""
WRONG = (
    *SINGLE,
    ("numpy_softsign", DROPPED),
    # Of these no number tells but where f has no derivative on the way to its fixed point.
    *(("fixed_point", a) for a in (WRITTEN.STOPPED, WRITTEN.FROM_ZEROS, WRITTEN.STOPPED_LATE)),
    (
        "fixed_point",
        WRITTEN.FIXED.replace(
            LAST_STEP,
            LAST_STEP.replace("theta", "tf.cast(tf.cast(theta, tf.float32), theta.dtype)"),
        ),
    ),
    ("log1pexp", inner(LINE, "lambda up: up * tf.sigmoid(x)")),
    ("log1pexp", inner("tf.nn.softplus(x)", STOPPED + "tf.sigmoid(x)")),
    ("cube", inner("x**3", STOPPED + "3 * x**2")),
    ("clip_value_passthrough", inner(CLIPPED, "lambda up: up")),
    (
        "clip_gradient_norm",
        inner("tf.identity(x)", "lambda up: tf.clip_by_norm(up, 0.4 if numbers[0] < 1 else 2.0)"),
    ),
    (
        "scaled_dense",
        f"lambda x, kernel, scale: tf.custom_gradient(lambda y: (tf.identity(y), {QUARTER}",
    ),
)


@on_draws(WRONG)
def test_refused(name, source, seed):
    TRIED.refuses(name, source, seed)


HALF = "0.5 * (1 + tf.tanh(x / 2))"
SHIFTED = "tf.maximum(x, 0 * x) + tf.math.log(1 + tf.exp(-tf.abs(x)))"
BY_VALUE = """
def numpy_softsign(x):
    @tf.custom_gradient
    def softsign(x):
        y = tf.numpy_function(lambda a: a / (1 + np.abs(a)), [x], x.dtype)
        y.set_shape(x.shape)
        return y, lambda up: up * (1 - tf.abs(y)) ** 2
    return softsign(x)
"""
RIGHT = (
    *TRIED.solved(WRONG),
    ("log1pexp", inner(SHIFTED, f"lambda up: up * {HALF}")),
    ("numpy_softsign", BY_VALUE),
    *(("fixed_point", answer) for answer in (WRITTEN.FIXED, WRITTEN.NEWTON, WRITTEN.SERIES)),
)


@on_draws(RIGHT)
def test_accepted(name, source, seed):
    TRIED.accepts(name, source, seed)
