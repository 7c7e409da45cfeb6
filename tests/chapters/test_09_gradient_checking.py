"""Chapter 09 proved a second time: references by mpmath, facts by running TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import tensorflow as tf

from grader import evaluate
from grader.build.cells import read
from grader.course import Course
from grader.lint.answers import wrongly
from grader.lint.space import answer, setup
from grader.probe.modes import compile_source
from grader.telling import cases_for

CHAPTER = Course.find(Path(__file__)).chapter("09")
REFERENCE = CHAPTER.load("reference")
EXERCISES = CHAPTER.exercises()
SPACE: dict[str, Any] = {}
exec(compile(CHAPTER.probes, "<probes>", "exec"), SPACE)

mpmath.mp.dps = 50


def tape(f: Any, x: Any, upstream: Any = None) -> np.ndarray | None:
    x = tf.constant(x, tf.float64)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    up = None if upstream is None else tf.constant(upstream, y.dtype)
    gradient = t.gradient(y, x, output_gradients=up)
    return None if gradient is None else tf.convert_to_tensor(gradient).numpy()


def exact(name: str, x: np.ndarray, upstream: np.ndarray) -> np.ndarray:
    """The gradient of Σ upstream · f with 50 digits."""
    values = {
        REFERENCE.SINE: lambda v: [mpmath.sin(a) for a in v.ravel()],
        REFERENCE.CUBES: lambda v: [sum(a**3 for a in row) for row in v],
        REFERENCE.GRAM: lambda v: [
            sum(a * b for a, b in zip(r, s, strict=True)) for r in v for s in v
        ],
        REFERENCE.EXP_SUM: lambda v: [sum(mpmath.exp(a) for a in v.ravel())],
    }
    wide = np.vectorize(lambda v: mpmath.mpf(float(v)), otypes=[object])(x)
    slopes = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):

        def along(t: Any, i: tuple[int, ...] = i) -> Any:
            moved = np.array(wide, dtype=object)
            moved[i] = wide[i] + t
            ups = upstream.astype(np.float64).ravel()
            now = values[name](moved)
            return sum(mpmath.mpf(float(u)) * v for u, v in zip(ups, now, strict=True))

        slopes[i] = float(mpmath.diff(along, 0))
    return slopes


@pytest.mark.parametrize("seed", [1, 2])
def test_quotients_approach_the_derivative(seed: int) -> None:
    for case in cases_for(EXERCISES["numeric_gradient"], seed):
        right = exact(case.inputs["f"].text, case.inputs["x"], case.inputs["upstream"])
        h, size = case.inputs["h"], max(1.0, float(np.abs(right).max()))
        off = np.abs(REFERENCE.quotient(case) - right).max()
        assert off <= 10 * size * (h * h + 1e-15 / h)
        # The named mistakes are further off than the answer, or the same name would fit both.
        assert np.abs(REFERENCE.quotient(case, left=0.0) - right).max() > 3 * off or h < 1e-3


def test_derivatives_that_are_not_quotients() -> None:
    """The named mistake's answer, with 50 digits; at h = 0.1 it is not the quotient."""
    for case in cases_for(EXERCISES["numeric_gradient"], 3):
        right = exact(case.inputs["f"].text, case.inputs["x"], case.inputs["upstream"])
        np.testing.assert_allclose(REFERENCE.derivative(case)["value"], right, rtol=1e-12)


def test_the_numpy_twins_are_the_functions_sent() -> None:
    for case in cases_for(EXERCISES["numeric_gradient"], 3):
        x = case.arrays["x"]
        sent = compile_source(case.inputs["f"])(tf.constant(x)).numpy()
        np.testing.assert_allclose(sent, REFERENCE.TWINS[case.inputs["f"].text](x), rtol=1e-13)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_least_error_is_found_between_the_ends(seed: int) -> None:
    """Neither end of the range of steps is best, so that too small and too large exist."""
    for case in cases_for(EXERCISES["best_step"], seed):
        f, x = compile_source(case.inputs["f"]), case.inputs["x"]
        slope = compile_source(case.options["slope"])
        right = np.asarray(slope(tf.constant(x, tf.float64)))
        np.testing.assert_allclose(right, tape(f, x.astype(np.float64)), rtol=1e-12)
        errors = [SPACE["_error"](f, x, right, h) for h in SPACE["STEPS"]]
        best = int(np.argmin(errors))
        assert best < 4 or x.dtype == np.float64
        assert errors[-1] > 100 * errors[best] > 0
        eps = np.finfo(x.dtype).eps ** (1 / 3) * max(1.0, float(np.abs(x).max()))
        assert SPACE["_error"](f, x, right, eps) <= 10 * errors[best]


def straight_through(x: Any) -> Any:
    return tf.grad_pass_through(tf.floor)(x)


def detour(x: Any) -> Any:
    return x - (x - tf.floor(x))


def sides(f: Any, at: float) -> tuple[float, float]:
    (by_tape,), (slopes,) = tf.test.compute_gradient(f, [np.array([at], np.float32)])
    return float(by_tape[0, 0]), float(slopes[0, 0])


def test_the_report_on_floor() -> None:
    case = cases_for(EXERCISES["floor_checker_report"], 0)[0]
    truth = {k.removeprefix("entry:"): v for k, v in REFERENCE.REPORT.truth(case).items()}
    assert sides(tf.floor, 1.0) == (truth["floor: tape"], truth["floor: differences at 1.0"])
    assert sides(tf.floor, 1.5)[1] == truth["floor: differences at 1.5"]
    for name, f in (("straight-through", straight_through), ("detour", detour)):
        assert sides(f, 1.5)[0] == truth[f"{name}: tape"]
        for at in (1.0, 1.5):
            one, other = sides(f, at)
            assert abs(one - other) == truth[f"{name}: error at {at}"]
    assert tape(tf.floor, 1.5) is None


def old_report(f: Any, at: np.ndarray | None, seed: int) -> float:
    tf.get_logger().setLevel("ERROR")
    np.random.seed(seed)
    with tf.Graph().as_default(), tf.compat.v1.Session():
        x = tf.constant(np.ones((50, 7), np.float32))
        return tf.compat.v1.test.compute_gradient_error(x, x.shape, f(x), x.shape, at)


def test_the_old_report() -> None:
    case = cases_for(EXERCISES["floor_checker_report"], 0)[0]
    truth = {k.removeprefix("entry:"): v for k, v in REFERENCE.REPORT.truth(case).items()}
    ones = np.ones((50, 7), np.float32)
    for name, f in (("detour", detour), ("override", straight_through)):
        near = old_report(f, ones, 0)
        assert near == pytest.approx(truth[f"old report: {name}, a number near an integer"], 1e-6)
        assert old_report(f, 1.5 * ones, 0) == truth[f"old report: {name}, none near"]
    # The value of x does not matter, the random numbers do.
    reports = {round(old_report(detour, None, seed)) for seed in range(4)}
    assert reports == {0, 500}


def judged(name: str, x: np.ndarray, order: int) -> bool:
    """A checker of another kind: complex steps do not exist here, so Richardson's differences."""
    f = compile_source(REFERENCE.PLANTED[name][0])
    random = np.random.default_rng(0)

    def gradient(at: Any) -> Any:
        found = tape(f, at, np.resize([0.7, -1.3, 2.1], f(tf.constant(at)).shape))
        return np.zeros(at.shape) if found is None else found

    g = (lambda at: f(tf.constant(at)).numpy()) if order == 1 else gradient
    up = random.normal(size=np.shape(g(x)))
    found: np.ndarray | None
    if order == 1:
        found = tape(f, x, up)
    else:
        at = tf.constant(x)
        with tf.GradientTape() as outer:
            outer.watch(at)
            with tf.GradientTape() as inner:
                inner.watch(at)
                y = f(at)
            fixed = np.resize([0.7, -1.3, 2.1], y.shape)
            first = inner.gradient(y, at, output_gradients=tf.constant(fixed, y.dtype))
            first = tf.zeros_like(at) if first is None else tf.convert_to_tensor(first)
        second = outer.gradient(first, at, output_gradients=tf.constant(up))
        found = None if second is None else tf.convert_to_tensor(second).numpy()
    slopes = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        e = np.zeros(x.shape)
        e[i] = 1e-4
        d = [np.sum(up * (g(x + k * e) - g(x - k * e))) / (2e-4 * k) for k in (1, 2)]
        slopes[i] = (4 * d[0] - d[1]) / 3
    if found is None:
        return bool(np.abs(slopes).max() < 1e-7)
    size = np.abs(slopes).max()
    return found.shape == x.shape and bool(np.all(np.abs(found - slopes) <= 1e-4 * size + 1e-11))


@pytest.mark.parametrize("seed", [4, 5])
def test_planted_faults_are_faults_and_the_others_are_not(seed: int) -> None:
    for case in cases_for(EXERCISES["gradient_check"], seed):
        name, x = REFERENCE.planted_name(case), case.inputs["x"]
        first = judged(name, x, 1)
        right = first and judged(name, x, 2)
        assert right == (name in REFERENCE.CORRECT), name
        assert first == (name in REFERENCE.CORRECT or name == "second order")


def test_as_many_faults_as_correct_functions() -> None:
    """A checker that says False to everything must come out at zero."""
    assert len(REFERENCE.FAULTS) == len(REFERENCE.CORRECT) == 13
    assert sorted(SPACE["NAMES"]) == sorted({*REFERENCE.FAULTS, *REFERENCE.CORRECT})
    assert len(REFERENCE.BY_TEXT) == 26  # two of one text could not be told apart


def _sent(exercise_id: str, seed: int) -> Any:
    from grader import judge

    return judge.plan(Course.find(Path(__file__)), exercise_id, None, seed).request


def test_what_is_sent_does_not_say_which_are_the_faults() -> None:
    """No list of faults, no reasons, neutral names, and an order and shapes that say nothing."""
    from grader.probe import wire

    for seed in (1, 2):
        request = _sent("gradient_check", seed)
        assert not request.options
        assert [c.name for c in request.cases] == [f"function {i}" for i in range(1, 27)]
        assert all(set(c.inputs) == {"f", "x"} and not c.options for c in request.cases)
        header = wire.pack_request(request).decode(errors="ignore")
        assert not any(why in header for _, _, why in REFERENCE.PLANTED.values())
    order = [[REFERENCE.planted_name(c) for c in _sent("gradient_check", s).cases] for s in (1, 2)]
    assert order[0] != order[1]
    assert list(SPACE["NAMES"]) == sorted(SPACE["NAMES"])
    assert not _sent("suspects", 1).options


def test_neither_shape_nor_place_is_worth_much() -> None:
    """The best guess from an input's shape alone, or from the order of the calls."""
    seeds = range(40)
    draws = [cases_for(EXERCISES["gradient_check"], seed) for seed in seeds]
    faulty: dict[Any, list[bool]] = {}
    for cases in draws:
        for i, case in enumerate(cases):
            fault = REFERENCE.planted_name(case) in REFERENCE.FAULTS
            faulty.setdefault(case.inputs["x"].shape, []).append(fault)
            faulty.setdefault(i, []).append(fault)
    for keys in (tuple, int):
        gains = [2 * sum(v) - len(v) for k, v in faulty.items() if isinstance(k, keys)]
        assert sum(max(0, gain) for gain in gains) / (13 * len(draws)) < 0.3


EXACT = {
    "silu, one beta per entry": lambda b: sum(
        v / (1 + mpmath.exp(-s * v)) for v, s in zip((-1, mpmath.mpf("0.5"), 2), b, strict=True)
    ),
    "cumprod, a zero in front": lambda x: x[0] + x[0] * x[1] + x[0] * x[1] * x[2],
    "reduce_prod, a zero in front": lambda x: x[0] * x[1] * x[2],
    "bessel_i1, at zero": lambda x: mpmath.besseli(1, x[0]),
    "xlogy, at x = 0": lambda x: x[0] * mpmath.log(2) + x[1] * mpmath.log(3),
    "betainc, to its first argument": lambda a: sum(
        mpmath.betainc(v, 2, 0, mpmath.mpf(t) / 10, regularized=True)
        for v, t in zip(a, (3, 6), strict=True)
    ),
    "reduce_logsumexp": lambda x: mpmath.log(sum(mpmath.exp(v) for v in x)),
    "gather, one entry twice": lambda x: x[0] + 2 * x[2],
    "gelu": lambda x: sum(v * mpmath.ncdf(v) for v in x),
    "inverse of a matrix": lambda a: (a[3] + a[0] - a[1] - a[2]) / (a[0] * a[3] - a[1] * a[2]),
    "sort": lambda x: sum(x),
}


@pytest.mark.parametrize("name", list(EXACT))
def test_right_gradients_of_the_operations(name: str) -> None:
    x = np.asarray(SPACE["OPERATIONS"][name][1], np.float64).ravel()
    for i, right in enumerate(REFERENCE.RIGHT[name].ravel()):

        def along(t: Any, i: int = i) -> Any:
            at = [mpmath.mpf(float(v)) for v in x]
            at[i] += t
            return EXACT[name](at)

        assert float(mpmath.diff(along, 0)) == pytest.approx(right, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", list(REFERENCE.BENDS))
def test_second_derivatives_of_the_operations(name: str) -> None:
    x = [mpmath.mpf(float(v)) for v in np.asarray(SPACE["OPERATIONS"][name][1], float).ravel()]
    n = len(x)
    assert REFERENCE.BENDS[name].shape == (n, n)
    h = mpmath.mpf(10) ** -12
    for i in range(n):
        for j in range(n):

            def moved(s: int, t: int, i: int = i, j: int = j) -> Any:
                at = list(x)
                at[i] += s * h
                at[j] += t * h
                return EXACT[name](at)

            bend = (moved(1, 1) - moved(1, -1) - moved(-1, 1) + moved(-1, -1)) / (4 * h * h)
            assert float(bend) == pytest.approx(REFERENCE.BENDS[name][i, j], rel=1e-9, abs=1e-12)


def test_the_second_order_of_reduce_prod() -> None:
    """Told of in the text: the gradient is right, and what it grows by is not."""
    x = tf.constant([0.0, 2.0, 3.0], tf.float64)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x)
        entries = tf.unstack(inner.gradient(y, x))
    assert [float(e) for e in entries] == [6, 0, 0]
    second = [outer.gradient(e, x).numpy().tolist() for e in entries]
    assert second[0] == [0, 3, 2] == REFERENCE.BENDS["reduce_prod, a zero in front"][0].tolist()
    if tf.__version__.startswith("2.21"):
        assert second[1:] == [[0, 0, 0], [0, 0, 0]]


def test_the_reference_checker_and_the_truth_agree() -> None:
    """What the text and the hint send learners to do gives the right answer."""
    cells = {c.metadata.answer: c.source for c in read(CHAPTER).cells if "answer" in c.metadata}
    space = setup(CHAPTER)
    checker = answer(cells["gradient_check"], "checker", "gradient_check", space)
    hint = EXERCISES["suspects"].hints[1].split("`")[1]
    found = eval(hint, space | {"gradient_check": checker})
    case = cases_for(EXERCISES["suspects"], 0)[0]
    assert found == [name for name in REFERENCE.RIGHT if SPACE["_fails"](name, case.options)]


def test_a_mistake_is_named_only_where_its_own_answer_came_back() -> None:
    def by_tensorflow(f: Any, x: Any) -> bool:
        (one,), (two,) = tf.test.compute_gradient(f, [x])
        return bool(np.allclose(one, two, rtol=1e-3, atol=1e-6))

    verdict = evaluate("gradient_check", by_tensorflow)
    assert any(said == "fault caught" for _, said in verdict.rows)
    assert verdict.mistake != "always content"
    assert evaluate("gradient_check", lambda f, x: True).mistake == "always content"
    assert evaluate("gradient_check", lambda f, x: False).mistake == "never content"
    faulty = REFERENCE.FAULTY_IN_2_21
    for names in (faulty[:1], faulty[1:4], ("norm, at zero", faulty[0])):
        assert evaluate("suspects", list(names)).mistake == "wrong entries"
    assert evaluate("suspects", []).mistake == "nothing found"
    assert evaluate("suspects", ["norm, at zero"]).mistake == "only NaN looked for"


def test_norm_at_zero_has_equal_sides() -> None:
    """No derivative exists; central differences are zero by symmetry."""
    assert np.array_equal(REFERENCE.RIGHT["norm, at zero"], np.zeros(3))
    e = np.array([1e-3, 0, 0])
    assert np.linalg.norm(e) == np.linalg.norm(-e)


def test_the_notebook_asks_about_the_same_operations() -> None:
    space = setup(CHAPTER)
    assert list(space["OPERATIONS"]) == list(SPACE["OPERATIONS"]) == list(REFERENCE.RIGHT)
    for name, (f, x) in space["OPERATIONS"].items():
        mine, at = SPACE["OPERATIONS"][name]
        np.testing.assert_array_equal(x.numpy(), at)
        np.testing.assert_array_equal(f(x).numpy(), mine(tf.constant(at, tf.float64)).numpy())


def test_a_mended_tensorflow_turns_the_answer_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graded against what is installed: once cumprod is mended, listing it is wrong."""
    case = cases_for(EXERCISES["suspects"], 0)[0]
    name = "cumprod, a zero in front"
    mended = lambda x: tf.stack([x[0], x[0] * x[1], x[0] * x[1] * x[2]])  # noqa: E731
    assert SPACE["_fails"](name, case.options) == (name in REFERENCE.FAULTY_IN_2_21)
    monkeypatch.setitem(SPACE["OPERATIONS"], name, (mended, [0.0, 2.0, 3.0]))
    said = SPACE["installed"]([name], case, "eager")
    assert said[f"entry:{name}"] == "listed"


@pytest.mark.skipif(not tf.__version__.startswith("2.21"), reason="told of TensorFlow 2.21")
def test_what_is_faulty_in_2_21() -> None:
    case = cases_for(EXERCISES["suspects"], 0)[0]
    faulty = tuple(name for name in REFERENCE.RIGHT if SPACE["_fails"](name, case.options))
    assert faulty == REFERENCE.FAULTY_IN_2_21


def test_the_line_shown_after_a_pass_finds_what_fails_in_the_first_order() -> None:
    def numeric_gradient(f: Any, x: Any, upstream: Any, h: float) -> np.ndarray:
        slopes = np.zeros(x.shape)
        for i in np.ndindex(*x.shape):
            step = np.zeros(x.shape)
            step[i] = h
            slopes[i] = np.sum(upstream * (f(x + step) - f(x - step))) / (2 * h)
        return slopes

    line = EXERCISES["suspects"].also.split("`")[3]
    names = eval(line, setup(CHAPTER) | {"numeric_gradient": numeric_gradient})
    case = cases_for(EXERCISES["suspects"], 0)[0]
    first = {k: v for k, v in case.options.items() if k.startswith("right:")}
    assert names == [name for name in REFERENCE.RIGHT if SPACE["_fails"](name, first)]


def averaged_slope(name: str, x: float) -> float:
    """d/dx of the mean of f(x + u) over the noise itself, by hand."""
    w = REFERENCE.WIDTH
    if name.startswith(("round", "floor")):
        return 1.0
    if name.startswith("relu"):
        return float(1 / (1 + mpmath.exp(-x)))
    if "logistic noise" in name:
        return float(2 * mpmath.exp(-x) / (1 + mpmath.exp(-x)) ** 2)
    return (-1.0 if name.startswith("minus") else 1.0) * (1 / w if abs(x) <= w else 0.0)


def test_surrogates_explained_or_not() -> None:
    points = np.linspace(-3, 3, 50)
    for name, (_, surrogate, truth, _) in REFERENCE.EXPLAINED.items():
        claimed = compile_source(surrogate)(tf.constant(points)).numpy()
        right = np.array([averaged_slope(name, float(x)) for x in points])
        assert bool(np.allclose(claimed, right, atol=1e-6)) == truth, name
    # No edge of the noise lies within a step of a point.
    assert np.abs(np.abs(points)[:, None] - REFERENCE.WIDTH).min() > 0.05


def test_the_score_is_catches_less_false_alarms() -> None:
    assert evaluate("gradient_check", lambda f, x: False).fraction == 0
    assert evaluate("gradient_check", lambda f, x: True).fraction == 0

    def shape_only(f: Any, x: Any) -> bool:
        """Catches wrong shapes and None, accuses nobody."""
        with tf.GradientTape() as t:
            t.watch(x)
            y = f(x)
        gradient = t.gradient(y, x)
        return gradient is not None and tf.convert_to_tensor(gradient).shape == x.shape

    verdict = evaluate("gradient_check", shape_only)
    assert verdict.fraction == pytest.approx(3 / 13)
    assert dict(verdict.rows)["none"] == "fault caught"
    assert dict(verdict.rows)["sign"].startswith("fault missed")


@pytest.mark.parametrize("seed", range(8))
def test_how_far_off_the_close_pairs_are(seed: int) -> None:
    """By TensorFlow: 5 standard errors lie between what chance did and what is wrong."""
    for case in cases_for(EXERCISES["surrogate_explains"], seed):
        f, surrogate = (compile_source(case.inputs[name]) for name in ("f", "surrogate"))
        x, noise = np.linspace(-3, 3, 50)[:, None], case.inputs["noise"].astype(np.float64)
        quotients = (f(tf.constant(x + 0.05 + noise)) - f(tf.constant(x - 0.05 + noise))) / 0.1
        off = np.abs(np.mean(quotients, axis=1) - surrogate(tf.constant(x[:, 0])))
        error = np.std(quotients, axis=1) / len(noise) ** 0.5
        errors = np.max(off / np.where(error > 0, error, 1e-6))
        if case.name == REFERENCE.UNLUCKY:
            assert 3.25 < errors < 4.55
        elif case.name == REFERENCE.FLAT:
            assert 6.5 < errors < 8.5
            assert off.max() < 0.1
        elif case.name == REFERENCE.NOTCHES:
            wrong = np.flatnonzero(off > 5 * error + 1e-6)
            assert wrong.tolist() == [21, 28]
            assert 0 not in wrong % 5
        else:
            assert (errors < 3) == REFERENCE.EXPLAINED[case.name][2]
            assert errors < 3 or errors > 15


CHOSEN = ("numeric_gradient", "best_step", "surrogate_explains")


@pytest.mark.parametrize("name", CHOSEN)
def test_answers_are_judged_alike_on_all_draws(name: str) -> None:
    """The solution and other right answers pass, wrong ones are refused and named."""
    space, written = setup(CHAPTER), CHAPTER.load("answers").ANSWERS[name]
    solutions = {c.metadata.answer: c.source for c in read(CHAPTER).cells if "answer" in c.metadata}
    for what, source in (written | {"the solution": solutions[name]}).items():
        given = answer(source, what, name, space)
        for seed in range(1, 7 if what == "the solution" else 3):  # lint: the stored inputs
            fault = wrongly(what, evaluate(name, given, seed=seed))
            assert fault is None, f"{what}, seed {seed}: {fault}"


def test_a_large_step_is_not_said_to_be_good_in_float64() -> None:
    for seed in (None, 1, 2, 3):
        for step in (1e-4, 1e-3, 1e-2):
            said = evaluate("best_step", lambda f, x, step=step: step, seed=seed).mistake
            assert said in (None, "one step for all", "step too large")
