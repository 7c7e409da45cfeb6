"""Chapter 01, proved a second time: closed forms against mpmath, tables and prose by running."""

from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from grader.build.cells import read
from grader.course import Course
from grader.lint.space import run
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find(Path(__file__)).chapter("01_tape")
TRIED = Tried(CHAPTER)
EXERCISES = CHAPTER.exercises()
CASES = [
    (e, c) for e in EXERCISES.values() for s in (1, 2) for c in e.cases(np.random.default_rng(s))
]
mp.mp.dps = 50
STEP = mp.mpf(10) ** -15


def of(name):
    """The cases of one exercise, as pytest parameters."""
    rows = [(e, c) for e, c in CASES if e.id == name]
    return pytest.mark.parametrize(("exercise", "case"), rows, ids=[c.name for _, c in rows])


def exact(array):
    """The same numbers in mpmath."""
    return np.vectorize(mp.mpf, otypes=[object])(array)


def each(f):
    """An mpmath function, entry by entry."""
    return np.vectorize(f, otypes=[object])


def floats(array):
    return np.asarray(array, dtype=object).astype(np.float64)


def slope(f, arrays, name, upstream):
    """Central differences, at 50 digits, of the sum of upstream · f(**arrays)."""
    arrays = {k: exact(v) for k, v in arrays.items()}
    up = exact(upstream)

    def total(change, index):
        moved = dict(arrays)
        moved[name] = arrays[name].copy()
        moved[name][index] += change
        return np.sum(up * f(**moved))

    result = np.empty(arrays[name].shape, dtype=object)
    for index in np.ndindex(result.shape):
        result[index] = (total(STEP, index) - total(-STEP, index)) / (2 * STEP)
    return floats(result)


def prove(exercise, case, f):
    """The truth's value and each of its gradients."""
    truth = exercise.truth(case)
    arrays = {k: exact(v) for k, v in case.arrays.items()}
    np.testing.assert_allclose(truth["value"], floats(f(**arrays)), rtol=1e-12, atol=1e-12)
    keys = [key for key in truth if key.startswith("gradient:")]
    assert keys
    for key in keys:
        wanted = slope(f, case.arrays, key.split(":")[1], case.upstream)
        np.testing.assert_allclose(truth[key], wanted, rtol=1e-10, atol=1e-10)


@of("difference")
def test_difference(exercise, case):
    def value(prod, box):
        return 1 - np.prod(prod, axis=1)[:, None] / np.prod(box, axis=0)

    prove(exercise, case, value)


@of("energy")
def test_energy(exercise, case):
    prove(
        exercise,
        case,
        lambda x: np.asarray(np.sum(x * x) / 2 + mp.log(np.sum(each(mp.exp)(x)))),
    )


@of("running_energy")
def test_running_energy(exercise, case):
    def value(steps):
        return np.array([np.sum(steps[: i + 1] ** 2) for i in range(len(steps))], dtype=object)

    prove(exercise, case, value)


@of("partial_gradient")
def test_the_pair_is_a_derivative_and_None(exercise, case):
    truth = exercise.truth(case)
    fixed = exact(case.arrays["y"]) ** 2
    wanted = slope(
        lambda x: x * x + fixed, {"x": case.arrays["x"]}, "x", np.ones(case.arrays["y"].shape)
    )
    np.testing.assert_allclose(truth["value[0]"], wanted, rtol=1e-12)
    assert truth["value[1]"] is None
    assert EXERCISES["gradient_after_reset"].truth(case).keys() == truth.keys()


@of("two_tapes")
def test_two_tapes(exercise, case):
    truth = exercise.truth(case)
    sigmoid = each(lambda v: 1 / (1 + mp.exp(-v)))
    ones = np.ones(case.arrays["x0"].shape)

    def z(x0, x1):
        return each(mp.sin)(x0) + sigmoid(x1)

    for i, name in enumerate(("x0", "x1")):
        np.testing.assert_allclose(truth[f"value[{i}]"], slope(z, case.arrays, name, ones), 1e-12)


FUNCTIONS = {
    "tf.sin(x)": mp.sin,
    "x * x * x": lambda v: v**3,
    "tf.exp(-x)": lambda v: mp.exp(-v),
    "tf.reduce_sum(x * tf.floor(x))": lambda v: v * mp.floor(v),
    "4.0 * x": lambda v: 4 * v,
    "tf.floor(x)": mp.floor,
    "tf.ones_like(x)": lambda v: v * 0 + 1,
    "tf.cast(x > 0.0, x.dtype)": lambda v: mp.mpf(v > 0),
    "tf.reduce_sum(tf.round(x), axis=0) + 1.0": mp.nint,
    "tf.exp(0.5 * x)": lambda v: mp.exp(v / 2),
    "1.0 / x": lambda v: 1 / v,
    "tf.square(x)": lambda v: v * v,
    "3.0 * x": lambda v: 3 * v,
}


@of("gradient_or_zeros")
def test_gradient_or_zeros(exercise, case):
    f = FUNCTIONS[case.inputs["f"].text.split(": ", 1)[1]]
    wanted = [mp.diff(f, mp.mpf(float(v))) for v in np.ravel(case.arrays["x"])]
    np.testing.assert_allclose(np.ravel(exercise.truth(case)["value"]), floats(wanted), atol=1e-12)


@of("nth_derivative")
def test_nth_derivative(exercise, case):
    f, n = FUNCTIONS[case.inputs["f"].text.split(": ", 1)[1]], case.inputs["n"]
    points = [mp.mpf(float(v)) for v in np.ravel(case.arrays["x"])]
    wanted = [mp.diff(f, v, n) if n else f(v) for v in points]
    got = np.ravel(exercise.truth(case)["value"])
    np.testing.assert_allclose(got, floats(wanted), rtol=1e-10, atol=1e-10)


def test_the_pool_of_functions_is_proved_whole():
    """Fresh inputs may draw any of them: each derivative is right, not only those drawn above."""
    reference = CHAPTER.load("reference")
    x = np.array([-1.3, -0.4, 0.7, 1.8])
    for text, rule in (reference.CONNECTED | reference.UNCONNECTED).items():
        f = FUNCTIONS[text.split(": ", 1)[1]]
        np.testing.assert_allclose(rule(x), floats([mp.diff(f, mp.mpf(v)) for v in x]), atol=1e-12)
    for text, rule in reference.SMOOTH.items():
        f = FUNCTIONS[text.split(": ", 1)[1]]
        for n in range(1, 6):
            wanted = floats([mp.diff(f, mp.mpf(v), n) for v in x])
            np.testing.assert_allclose(rule(x, n), wanted, rtol=1e-9, atol=1e-9, err_msg=text)


# tables and prose, by running ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(tf):
    """What the chapter's own cells define: no answer and no check is run.

    `run` lets AutoGraph find the source, as it does in a notebook.
    """
    space = {"__name__": "__main__", "print": lambda *a: None}
    exec("import numpy as np, tensorflow as tf\nfrom grader import ____", space)
    for cell in read(CHAPTER).cells:
        defines = any(mark in cell.source for mark in ("def ", "ten = {"))
        graded = {"answer", "check"} & set(cell.metadata)
        if cell.cell_type == "code" and defines and not graded:
            source = cell.source
            for shown in ("predict(", "try:", "for option", "print(", "for f in"):
                source = source.split("\n" + shown)[0]
            run(source, f"<{cell.source[:20]}>", space)
    return space


def word(run):
    try:
        gradient = run()
    except (AttributeError, RuntimeError):
        return "error"
    if gradient is None:
        return "none"
    return "number" if np.any(gradient) else "zero"


def test_predictions_are_what_tensorflow_does(page):
    truth = EXERCISES["predictions"].truth(None)
    for name, f in page["ten"].items():
        x = 0.0 if name == "abs at 0" else 0.7
        assert truth[f"entry:{name}"] == word(lambda f=f, x=x: page["gradient_of"](f, x)), name
    assert set(truth.values()) == {"none", "zero", "number", "error"}


def test_the_six_tapes_are_broken_for_the_reasons_given(tf, page):
    assert [page[name]() for name in "abcdef"] == [None] * 6
    truth = EXERCISES["diagnoses"].truth(None)
    x = tf.constant(2.0)

    def gradient(prepare, compute, source):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = compute(prepare)
        return tape.gradient(y, source)

    def assigned(variable):
        return variable.assign(x * x)

    # Each cause taken away gives a number; each cause alone gives None.
    assert gradient(x, tf.sin, x) is not None
    assert truth["entry:a"] == "not watched"
    before = x * x
    assert gradient(before, tf.sin, x) is None
    assert gradient(x, lambda v: tf.sin(v * v), x) is not None
    assert truth["entry:b"] == "not recorded"
    assert gradient(x, lambda v: tf.convert_to_tensor(np.exp(v)), x) is None
    assert gradient(x, tf.exp, x) is not None
    assert truth["entry:c"] == "left tensorflow"
    assert gradient(tf.Variable(0.0), lambda v: tf.sin(assigned(v)), x) is None
    assert truth["entry:d"] == "state"
    for value, wanted in ((2, "none"), (2.0, "number")):
        v = tf.Variable(value)
        with tf.GradientTape() as tape:
            y = tf.sin(tf.cast(v, tf.float32))
        assert word(lambda tape=tape, y=y, v=v: tape.gradient(y, v)) == wanted
    assert truth["entry:e"] == "integer"
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(v)
    assert tape.gradient(y, v - 0.1) is None
    assert tape.gradient(y, v) is not None
    assert truth["entry:f"] == "another tensor"


def test_the_opening_programs_end_where_the_text_says(page):
    ends = {n: page["descend"](page[n])[-1] for n in ("in_tensorflow", "through_numpy")}
    lowest = float(mp.lambertw(1) ** 2 / 2 + mp.lambertw(1))  # ½w² + exp w at w = −W(1)
    assert ends["in_tensorflow"] == pytest.approx(lowest, abs=1e-4)
    assert ends["through_numpy"] > lowest + 0.2
    still = page["descend"](page["through_a_variable"])
    assert len(set(still)) == 1


def test_predicted_cells(tf, page):
    gradient_of = page["gradient_of"]
    assert gradient_of(tf.math.ceil, 0.7) is None
    assert float(gradient_of(lambda x: tf.clip_by_value(x, -1.0, 1.0), 3.0)) == 0.0
    assert page["watched_late"]() is None
    with pytest.raises(RuntimeError, match="non-persistent"):
        page["asked_twice"]()
    assert page["taken_after_both"]() is None


def test_detours_differ_between_eager_and_traced(tf, page):
    traced = {}
    for name in ("by_method", "by_ufunc", "by_float"):
        assert page["gradient_of"](page[name], 0.7) is not None
        try:
            traced[name] = float(page["gradient_of"](tf.function(page[name]), 0.7))
        except (AttributeError, NotImplementedError) as error:
            traced[name] = type(error).__name__
    assert traced["by_method"] == "AttributeError"
    assert traced["by_ufunc"] == "NotImplementedError"
    assert traced["by_float"] == pytest.approx(1.4)
    assert float(page["gradient_of"](page["by_float"], 0.7)) == pytest.approx(0.7)


def test_assignment_is_refused_when_traced_and_gives_none_when_called(tf, page):
    with pytest.raises(ValueError, match="singleton"):
        tf.function(page["doubled"])(tf.constant([1.0, 3.0]))
    assert page["gradient_of"](page["doubled"], [1.0, 3.0]) is None


def test_reset_forgets_watches_and_a_pause_stops_one_tape(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape, tf.GradientTape() as other:
        tape.watch(x)
        other.watch(x)
        with tape.stop_recording():
            y = x * x
    assert tape.gradient(y, x) is None
    assert float(other.gradient(y, x)) == 4.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.reset()
        y = x * x
    assert tape.gradient(y, x) is None


def test_an_optimizer_skips_none_with_a_warning(tf):
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    optimizer = tf.keras.optimizers.SGD(0.5)
    optimizer.build([a, b])
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        optimizer.apply_gradients([(tf.constant(1.0), a), (None, b)])
    assert (float(a), float(b)) == (0.5, 1.0)


def test_a_float_of_a_scale_sends_no_gradient_and_the_option_hides_it(tf, page):
    weights, scale = tf.Variable([1.0, -2.0]), tf.Variable(0.5)
    for option, wanted in (("none", "none"), ("zero", "zero")):
        with tf.GradientTape() as tape:
            value = page["loss"](weights, scale)
        gradients = tape.gradient(value, [weights, scale], unconnected_gradients=option)
        assert word(lambda g=gradients: g[1]) == wanted
        assert word(lambda g=gradients: g[0]) == "number"


# answers that were once judged wrongly -------------------------------------------------------------

NESTED = """
def nth_derivative(f, x, n):
    if n == 0:
        return f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = nth_derivative(f, x, n - 1)
    return tape.gradient(y, x, unconnected_gradients="zero"){}
"""
ANSWERS = CHAPTER.load("answers").ANSWERS
WRONG = {
    "gradient_or_zeros": (ANSWERS["gradient_or_zeros"]["the_shape_of_f(x)"], "the shape of f(x)"),
    "partial_gradient": (ANSWERS["partial_gradient"]["swapped"], "swapped"),
    "gradient_after_reset": (ANSWERS["gradient_after_reset"]["swapped"], "swapped"),
    "nth_derivative": (NESTED.format(" * (3 if n > 4 else 1)"), "constant factor"),
}
REFUSED = [(name, source) for name, (source, _) in WRONG.items()]
# Zeros at a high order, or in one way of running, while the second derivative is right.
SOME_ZERO = ("n > 4", "n > 2", "n > 1 and not tf.executing_eagerly()")


@on_draws(REFUSED)
def test_refused_by_its_name(name, source, seed):
    assert TRIED.verdict(name, source, seed).mistake == WRONG[name][1]


@on_draws(TRIED.solved(REFUSED))
def test_accepted(name, source, seed):
    TRIED.accepts(name, source, seed)


def test_a_cosine_without_its_sign_is_refused_on_any_draw():
    for seed in range(20):
        verdict = TRIED.verdict("two_tapes", ANSWERS["two_tapes"]["_"], seed, "value")
        assert verdict.outcome == "fail", seed


@pytest.mark.parametrize("when", [*SOME_ZERO, "n > 1"])
@pytest.mark.parametrize("part", [None, "value", "robust"])
def test_nothing_from_the_second_derivative_on_is_said_only_of_that(when, part):
    given = NESTED.format(f" * (0 if {when} else 1)")
    found = TRIED.verdict("nth_derivative", given, 3, part)
    named = found.mistake == "inner gradient taken outside the outer tape"
    assert named is (when == "n > 1")
