"""Chapter 06: its closed forms by another method, and every fact that its prose claims."""

import mpmath
import numpy as np
import pytest

from grader.course import Course
from grader.telling import cases_for
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find().chapter("06_where_and_cond")
TRIED = Tried(CHAPTER)
EXERCISES = CHAPTER.exercises()
SEEDS = (1, 2)
mpmath.mp.dps = 50


def on_cases_of(name):
    """Runs a test on every case of an exercise, for several seeds."""
    drawn = [case for seed in SEEDS for case in cases_for(EXERCISES[name], seed)]
    found = [case for case in drawn if case.part != "card"]  # which shows kinks, and is not judged
    ids = [f"{i} {case.name}" for i, case in enumerate(found)]
    return pytest.mark.parametrize("case", found, ids=ids)


def by_mpmath(f, x, order=0):
    """f or a derivative of it at every entry of x, to 50 digits, as float64."""
    flat = [float(mpmath.diff(f, mpmath.mpf(float(v)), order)) for v in np.ravel(x)]
    return np.reshape(flat, np.shape(x))


def differences(f, x, h=1e-3):
    """The gradient of the scalar f at x by central differences of fourth order."""
    slope = np.zeros(x.size)
    for i in range(x.size):
        e = np.zeros(x.size)
        e[i] = h
        e = e.reshape(x.shape)
        slope[i] = (8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * h)
    return slope.reshape(x.shape)


def close(got, wanted, rtol=1e-9):
    scale = max(float(np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))), 1e-30)
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * scale)


@on_cases_of("where_grad")
def test_where_grad(case):
    condition, up = case.arrays["condition"], case.arrays["upstream"]
    truth = EXERCISES["where_grad"].truth(case)
    finite = np.isfinite(up)
    known = np.where(finite, up, 1.0)
    branch = np.zeros(up.shape)
    to_x = differences(lambda v: np.sum(known * np.where(condition, v, 0.5)), branch)
    to_y = differences(lambda v: np.sum(known * np.where(condition, 0.5, v)), branch)
    for got, wanted in ((truth["value[0]"], to_x), (truth["value[1]"], to_y)):
        # What is not finite stays where it belongs, and is a zero elsewhere.
        close(np.where(finite, got, 0.0), np.where(finite, wanted, 0.0))
        stays = np.where(wanted != 0, up, 0.0)
        np.testing.assert_array_equal(got[~finite], stays[~finite])


@on_cases_of("where_grad_broadcast")
def test_where_grad_broadcast(case):
    a, truth = case.arrays, EXERCISES["where_grad_broadcast"].truth(case)
    c, up = a["condition"], a["upstream"]
    finite = np.isfinite(up)
    known, endless = np.where(finite, up, 0.0), np.where(finite, 0.0, np.sign(up))
    to_x, to_y = lambda v: np.where(c, v, a["y"]), lambda v: np.where(c, a["x"], v)
    for got, select, of in ((truth["value[0]"], to_x, "x"), (truth["value[1]"], to_y, "y")):
        # An entry whose sum holds an infinity is infinite, all others are as without any.
        wanted, sign = (
            differences(lambda v, w=w, s=select: np.sum(w * s(v)), a[of]) for w in (known, endless)
        )
        sign = np.rint(sign)
        close(np.where(sign, 0.0, got), np.where(sign, 0.0, wanted))
        np.testing.assert_array_equal(got[sign != 0], np.inf * np.sign(sign[sign != 0]))


def elementwise(name, f, case, flat):
    """Value and gradient against f; where `flat` holds the gradient is 0 by agreement."""
    x, truth = case.arrays["x"], EXERCISES[name].truth(case)
    still = flat(x)
    use = np.where(still, 0.7, x)
    close(np.where(still, 0.0, truth["value"]), np.where(still, 0.0, by_mpmath(f, use)))
    wanted = np.where(still, 0.0, case.upstream * by_mpmath(f, use, 1))
    close(truth["gradient:x"], wanted)
    return truth


@on_cases_of("safe_log")
def test_safe_log(case):
    truth = elementwise("safe_log", mpmath.log, case, lambda x: (x <= 0) | np.isinf(x))
    assert np.all(truth["value"][case.arrays["x"] <= 0] == 0)
    assert np.all(np.isinf(truth["value"][np.isinf(case.arrays["x"])]))


@on_cases_of("safe_ratio")
def test_safe_ratio(case):
    truth = elementwise("safe_ratio", lambda v: mpmath.sin(v) / v, case, lambda x: x == 0)
    assert np.all(truth["value"][case.arrays["x"] == 0] == 1)
    assert float(mpmath.limit(lambda v: mpmath.sin(v) / v, 0)) == 1


@on_cases_of("transfer")
def test_transfer(case):
    def f(v):
        return 1 / (1 - v) if v < 0 else mpmath.log(1 + v)

    if case.name == "0, where the branches meet":
        options = EXERCISES["transfer"].truth(case)["gradient:x"].options
        assert np.isfinite(options).all()
        left = mpmath.diff(lambda v: 1 / (1 - v), 0)
        assert any(abs(float(o) - float(left * case.upstream)) < 1e-9 for o in options)
    else:
        elementwise("transfer", f, case, lambda x: np.zeros(x.shape, bool))


@on_cases_of("cond_grad")
def test_cond_grad(case):
    a, truth = case.arrays, EXERCISES["cond_grad"].truth(case)
    f = (lambda x, y: x * x) if a["predicate"] else (lambda x, y: 3 * y)
    close(truth["value[0]"], differences(lambda v: np.sum(a["upstream"] * f(v, a["y"])), a["x"]))
    close(truth["value[1]"], differences(lambda v: np.sum(a["upstream"] * f(a["x"], v)), a["y"]))


@on_cases_of("power_by_loop")
def test_power_by_loop(case):
    n, x = int(case.arrays["n"]), case.arrays["x"]
    truth = EXERCISES["power_by_loop"].truth(case)
    close(truth["value"], by_mpmath(lambda v: v**n, x))
    assert ("gradient:x" in truth) == ("gradient" in case.wants)
    if "gradient" in case.wants:
        close(truth["gradient:x"], case.upstream * by_mpmath(lambda v: v**n, x, 1))


@on_cases_of("piecewise")
def test_piecewise(case):
    def f(v):
        if v < -1:
            return v**2
        return -v if v < 1 else mpmath.log(v)

    elementwise("piecewise", f, case, lambda x: np.zeros(x.shape, bool))


@on_cases_of("learnable_threshold")
def test_learnable_threshold(case):
    x, level, s = case.arrays["x"], case.arrays["threshold"], case.inputs["sharpness"]
    up, truth = case.upstream.astype("float64"), EXERCISES["learnable_threshold"].truth(case)

    def soft(x, level):
        return np.sum(up * x / (1 + np.exp(-s * (x - level))))

    close(truth["gradient:x"], differences(lambda v: soft(v, level), x), 1e-7)
    close(truth["gradient:threshold"], differences(lambda v: soft(x, v), level), 1e-7)
    close(truth["value"], x * np.heaviside(x - level, 0.0))


# --- wrong answers that once passed -----------------------------------------------------------

CHOSEN = "tf.where(condition, upstream, zeros), tf.where(condition, zeros, upstream)"
REDUCED = """
def where_grad_broadcast(condition, x, y, upstream):
    zeros, mask = tf.zeros_like(upstream), tf.cast(condition, upstream.dtype)
    def leading(g, like):
        return tf.reshape(tf.reduce_sum(g, list(range(g.shape.rank - like.shape.rank))), like.shape)
    def stretched(g, like):
        ones = [i for i, n in enumerate(like.shape) if n == 1]
        return tf.reduce_sum(g, ones, keepdims=True)
    def either(g, like):
        return leading(g, like) if g.shape.rank > like.shape.rank else stretched(g, like)
    def both(g, like):
        extra = list(range(g.shape.rank - like.shape.rank))
        return stretched(tf.reduce_sum(g, extra), like)
    first, second = tf.where(condition, upstream, zeros), tf.where(condition, zeros, upstream)
    return {result}
"""
LOG = "def safe_log(x):\n    return tf.where(x > 0, tf.math.log({}), tf.zeros_like(x))\n"
RATIO = """
def safe_ratio(x):
    near = tf.abs(x) < {}
    safe = tf.where(near, tf.ones_like(x), x)
    return tf.where(near, tf.ones_like(x), tf.sin(safe) / safe)
"""
REFUSED = [
    ("where_grad", f"""
def where_grad(condition, upstream):
    zeros = tf.zeros_like(upstream)
    return {CHOSEN}, None, 17
"""),
    ("where_grad_broadcast", REDUCED.format(result="either(first, x), either(second, y)")),
    ("where_grad_broadcast", REDUCED.format(result="both(upstream * mask, x), both(second, y)")),
    ("where_grad_broadcast", REDUCED.format(result="both(first, x), both(upstream * (1 - mask), y)")),
    *(
        ("safe_log", LOG.format(inside))
        for inside in ("tf.nn.relu(x) + 1e-7", "tf.maximum(x, 1e-3)", "tf.maximum(x, 0.1)")
    ),
    *(("safe_ratio", RATIO.format(width)) for width in (0.1, 0.06)),
    ("power_by_loop", """
def power_by_loop(x, n):
    return tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), (tf.constant(1), x),
                         maximum_iterations=4)[1]
"""),
]  # fmt: skip
RIGHT = [
    *TRIED.solved(REFUSED),
    ("where_grad_broadcast", REDUCED.format(result="both(first, x), both(second, y)")),
    ("safe_log", LOG.format("tf.maximum(x, 1e-30)")),
    ("safe_ratio", RATIO.format("1e-3")),
]


@on_draws(REFUSED)
def test_refused(name, source, seed):
    TRIED.refuses(name, source, seed)


@pytest.mark.parametrize("what", ["_", "_2"])
def test_an_epsilon_for_a_where_is_refused_on_any_draw(what):
    """u/ε − u/ε is 0 for most u: there must be so many that it is not 0 for one of them."""
    source = CHAPTER.load("answers").ANSWERS["safe_ratio"][what]
    for seed in range(12):
        for part in ("gradient", "robust"):
            assert TRIED.verdict("safe_ratio", source, seed, part).outcome == "fail", (seed, part)


def test_a_stacked_pair_is_said_to_be_one_tensor():
    stacked = "lambda condition, upstream: tf.stack([upstream, upstream])"
    says = TRIED.verdict("where_grad", stacked, None).says
    assert says.startswith("A tuple of 2 is asked, one tensor of shape (2, ")


@on_draws(RIGHT)
def test_still_right(name, source, seed):
    TRIED.accepts(name, source, seed)


# --- what the prose says ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def ask(tf):
    """What a tape says of f at some inputs, in a setting, in the words of the exercise."""
    plain = tf.autograph.experimental.do_not_convert

    def ask(f, *inputs, setting="eager", to=0, word=True):
        inputs = [tf.constant(v) for v in inputs]
        traced = {"eager": lambda f: f, "traced": tf.function}
        traced["compiled by XLA"] = lambda f: tf.function(f, jit_compile=True)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = traced[setting](plain(f))(*inputs)
        found = tape.gradient(y, inputs[to])
        if not word:
            return found
        if found is None:
            return "none"
        if np.isnan(found):
            return "nan"
        return "number" if found else "zero"

    return ask


def functions(tf):
    """The expressions of the table, as the exercise says to read them."""
    return {
        "where(x > 0, log(x), 0.0)": lambda x: tf.where(x > 0, tf.math.log(x), 0.0),
        "where(x > 0, sqrt(x), 0.0)": lambda x: tf.where(x > 0, tf.sqrt(x), 0.0),
        "where(x > 0, x ** 0.5, 0.0)": lambda x: tf.where(x > 0, x**0.5, 0.0),
        "cond(x > 0, log(x), 2 * x)": lambda x: tf.cond(
            x > 0, lambda: tf.math.log(x), lambda: 2 * x
        ),
        "cond(a > 0, a * a, 3 * b)": lambda a, b: tf.cond(a > 0, lambda: a * a, lambda: 3 * b),
        "where(a > 0, a * a, 3 * b)": lambda a, b: tf.where(a > 0, a * a, 3 * b),
        "where(x > 0, 1.0, 0.0)": lambda x: tf.where(x > 0, 1.0, 0.0),
        "where(is_nan(x), 0.0, x * x)": lambda x: tf.where(tf.math.is_nan(x), 0.0, x * x),
    }


PREDICTIONS = EXERCISES["branch_predictions"].truth(None)


@pytest.mark.parametrize("entry", PREDICTIONS)
def test_branch_predictions(tf, ask, entry):
    line, setting = entry.removeprefix("entry:").rsplit(", ", 1)
    expression, at = line.split(" at ")
    expression, _, to = expression.partition(" to ")
    f, at = functions(tf)[expression], float(at.split("= ")[1])
    inputs = (at, at) if to else (at,)
    assert ask(f, *inputs, setting=setting, to=1 if to else 0) == PREDICTIONS[entry]


def test_the_guarded_softplus(tf, ask):
    def guarded(x):
        return tf.where(x > 30.0, x, tf.math.log(1.0 + tf.exp(x)))

    assert guarded(tf.constant(100.0)) == 100.0
    assert ask(guarded, 88.0) == "number"
    for setting in ("eager", "traced", "compiled by XLA"):
        assert ask(guarded, 100.0, setting=setting) == "nan"


def test_kernels_that_hide_the_nan_and_xla_that_does_not(tf, ask):
    hidden = {"sqrt": tf.sqrt, "rsqrt": tf.math.rsqrt}
    open_ = {"power": lambda x: x**0.5, "inverse": lambda x: 1 / x, "log": tf.math.log}
    for op, wanted in [(op, "zero") for op in hidden.values()] + [
        (o, "nan") for o in open_.values()
    ]:
        chosen = lambda x, op=op: tf.where(tf.constant(False), op(x), tf.zeros_like(x))  # noqa: E731
        assert ask(chosen, 0.0) == wanted
        assert ask(chosen, 0.0, setting="compiled by XLA") == "nan"


def test_repairs_after_the_op_do_not_help(tf, ask):
    repairs = (
        lambda x: tf.where(tf.math.is_finite(tf.math.log(x)), tf.math.log(x), 0.0),
        lambda x: tf.where(x > 0, tf.math.log(x), tf.stop_gradient(x)),
        lambda x: tf.math.log(x) * tf.cast(x > 0, x.dtype),
        lambda x: tf.math.multiply_no_nan(tf.math.log(x), tf.cast(x > 0, x.dtype)),
    )
    assert [ask(f, 0.0) for f in repairs] == ["nan"] * len(repairs)


def test_safe_ops(tf, ask):
    assert ask(lambda x: tf.math.divide_no_nan(1.0, x), 0.0, setting="compiled by XLA") == "zero"
    assert ask(lambda x: tf.math.xlogy(0.0 * x, x), 0.0) == "zero"
    # Safe to evaluate, and not the derivative, which is log 2.
    assert ask(lambda x: tf.math.xlogy(x, 2.0), 0.0) == "zero"


def test_a_mask_of_rank_one_selects_rows_in_v1_and_columns_today(tf, ask):
    mask, square = np.array([True, False]), np.ones((2, 2), "float32")
    for select, wanted in (
        (tf.compat.v1.where, [[1, 1], [0, 0]]),
        (tf.where, [[1, 0], [1, 0]]),
    ):
        found = ask(lambda x, s=select: s(mask, x, tf.zeros((2, 2))), square, word=False)
        assert found.numpy().tolist() == wanted


@pytest.mark.parametrize("control_flow", ["v2", "v1"])
def test_old_graphs_give_zeros_to_the_branch_not_taken(tf, control_flow):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        try:
            if control_flow == "v1":
                v1.disable_control_flow_v2()
            a, b = tf.constant(1.0), tf.constant(1.0)
            y = tf.cond(a > 0, lambda: a * a, lambda: 3 * b)
            slopes = v1.gradients(y, [a, b])
        finally:
            v1.enable_control_flow_v2()
        types = {op.type for op in graph.get_operations()}
        assert ({"Switch", "Merge"} <= types) == (control_flow == "v1")
        assert ("StatelessIf" in types) == (control_flow == "v2")
        with v1.Session() as session:
            assert session.run(slopes) == [2.0, 0.0]


def test_x_to_the_zeroth_power_has_no_gradient_at_zero(tf, ask):
    assert ask(lambda x: x**0 * x, 0.0) == "nan"
    assert ask(lambda x: tf.ones_like(x) * x, 0.0) == "number"


def test_a_comparison_connects_nothing(tf, ask):
    gate = lambda x, t: tf.where(x > t, x, 0.0)  # noqa: E731
    assert ask(gate, 1.0, 0.5, to=1) == "none"
    assert ask(gate, 1.0, 0.5, to=0) == "number"
