"""Chapter 04, proved a second time: closed forms against mpmath, and prose by running."""

from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from grader.build.cells import read
from grader.checking import evaluate
from grader.contract import Either
from grader.course import Course
from grader.lint.answers import wrongly
from grader.lint.space import answer, setup
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find(Path(__file__)).chapter("04_stop_gradient")
TRIED = Tried(CHAPTER)
REFERENCE = CHAPTER.load("reference")
EXERCISES = CHAPTER.exercises()
CASES = [
    (e, c) for e in EXERCISES.values() for s in (1, 2) for c in e.cases(np.random.default_rng(s))
]
mp.mp.dps = 50
STEP = mp.mpf(10) ** -15


def of(*names):
    rows = [(e, c) for e, c in CASES if e.id in names]
    ids = [f"{e.id}: {c.name}" for e, c in rows]
    return pytest.mark.parametrize(("exercise", "case"), rows, ids=ids)


def exact(array):
    return np.vectorize(mp.mpf, otypes=[object])(array)


def each(f):
    return np.vectorize(f, otypes=[object])


def floats(array):
    return np.asarray(array, dtype=object).astype(np.float64)


def close(got, wanted, tolerance=1e-11):
    np.testing.assert_allclose(got, floats(wanted), rtol=tolerance, atol=tolerance)


def derivative(f, x):
    """The derivative of an entry-by-entry function at every entry, by differences at 50 digits."""
    x = exact(x)
    return (each(f)(x + STEP) - each(f)(x - STEP)) / (2 * STEP)


def gradient(total, arrays, name):
    """The gradient of a scalar function of arrays to one of them, by differences at 50 digits."""
    arrays = {k: exact(v) for k, v in arrays.items()}
    result = np.empty(arrays[name].shape, dtype=object)
    for index in np.ndindex(result.shape):
        ends = []
        for change in (STEP, -STEP):
            moved = arrays[name].copy()
            moved[index] += change
            ends.append(total(**{**arrays, name: moved}))
        result[index] = (ends[0] - ends[1]) / (2 * STEP)
    return result


# surrogates: the value is the forward's, the gradient that of another function -------------------

FORWARD = {
    "tf.abs(x) * 0.7": lambda v: abs(v) * mp.mpf("0.7"),
    "tf.sign(x) * 0.83": lambda v: mp.sign(v) * mp.mpf("0.83"),
    "tf.round(x)": mp.nint,
    "tf.floor(x) + 0.1": lambda v: mp.floor(v) + mp.mpf("0.1"),
    "tf.cast(x > 0.0, x.dtype) * 0.7": lambda v: mp.mpf(v > 0) * mp.mpf("0.7"),
}
BACKWARD = {
    "x": lambda v: v,
    "tf.tanh(x)": mp.tanh,
    "tf.sin(2.0 * x)": lambda v: mp.sin(2 * v),
    "3.0 * x": lambda v: 3 * v,
}


def text(source):
    return source.text.split(": ", 1)[1]


def test_every_pair_of_the_pool_is_proved():
    x = np.array([-2.3, -1.2, -0.3, 0.4, 1.3, 2.2])
    for source, f in REFERENCE.FORWARD.items():
        close(f(x), each(FORWARD[source.split(": ", 1)[1]])(exact(x)))
    for source, (value, slope) in REFERENCE.BACKWARD.items():
        f = BACKWARD[source.split(": ", 1)[1]]
        close(value(x), each(f)(exact(x)))
        close(slope(x), derivative(f, x))


@of("surrogate")
def test_surrogate(exercise, case):
    truth, x = exercise.truth(case), case.arrays["x"]
    close(truth["value"], each(FORWARD[text(case.inputs["forward"])])(exact(x)))
    wanted = derivative(BACKWARD[text(case.inputs["backward"])], x)
    close(truth["gradient:x"], exact(case.upstream) * wanted)
    own = derivative(FORWARD[text(case.inputs["forward"])], x)
    unstopped = next(m for m in exercise.mistakes if m.name == "forward not stopped").answer(case)
    close(unstopped["gradient:x"], exact(case.upstream) * (wanted + own))
    alone = exercise.plain(case)["gradient:x"]
    close(alone.options[1] if isinstance(alone, Either) else alone, exact(case.upstream) * own)


def test_one_forward_function_has_a_gradient_of_its_own_in_every_draw():
    for seed in range(20):
        drawn = EXERCISES["surrogate"].cases(np.random.default_rng(seed))
        main = [case.inputs["forward"].text for case in drawn if case.part is None]
        assert REFERENCE.SMOOTH in main
        used = {case.inputs["forward"].text for case in drawn}
        assert used == set(REFERENCE.FORWARD)


SEEDS = (None, 1, 2, 3)
SURROGATES = ("ok_stopped_input", "forward_not_stopped", "true_derivative", "true_derivative_2",
              "zero", "value_off_by_rounding", "value_off_by_rounding_2", "roles_swapped",
              "nothing_taken_away", "another_tool")  # fmt: skip
UP_TO_THREE = """
def fourier_floor(x, terms):
    total = x - 0.5 + tf.sin(2 * np.pi * x) / np.pi
    if terms > 1:
        total += tf.sin(4 * np.pi * x) / (2 * np.pi)
    if terms > 2:
        total += tf.sin(6 * np.pi * x) / (3 * np.pi)
    return total
"""


@pytest.fixture(scope="module")
def space():
    return setup(CHAPTER)


def solution(name):
    return next(c for c in read(CHAPTER).cells if c.metadata.get("answer") == name).source


@pytest.mark.parametrize("seed", SEEDS)
def test_surrogates_get_the_verdict_of_their_name_on_any_draw(space, seed):
    written = CHAPTER.load("answers").ANSWERS["surrogate"]
    tried = {"the solution": solution("surrogate")} | {what: written[what] for what in SURROGATES}
    for what, source in tried.items():
        verdict = evaluate("surrogate", answer(source, what, "surrogate", space), seed)
        assert wrongly(what, verdict) is None, what


@pytest.mark.parametrize("seed", SEEDS)
def test_a_series_written_out_for_three_terms_is_refused(space, seed):
    right = answer(solution("fourier_floor"), "right", "fourier_floor", space)
    assert evaluate("fourier_floor", right, seed).passed
    short = answer(UP_TO_THREE, "short", "fourier_floor", space)
    for part in ("value", "gradient"):
        assert not evaluate("fourier_floor", short, seed, part).passed


def scaled(name, factor):
    return (name, f"lambda x, size: tf.stop_gradient(x * (1 - {factor})) + {factor} * x")


def clipped(bound):
    window = f"tf.clip_by_value(x, -{bound}, {bound})"
    return ("binarize_by_stopping", "lambda x: tf.stop_gradient(tf.sign(x)) + "
            f"({window} - tf.stop_gradient({window}))")  # fmt: skip


WRONG = (
    scaled("reverse_by_stopping", "-min(size, 1)"),
    scaled("scale_gradient", "max(size, 1)"),
    clipped(1.001),
    clipped(0.9995),
)
RIGHT = (scaled("reverse_by_stopping", "-size"), scaled("scale_gradient", "size"), clipped(1.0))


@on_draws(WRONG)
def test_refused(name, source, seed):
    TRIED.refuses(name, source, seed)


@on_draws([*TRIED.solved(WRONG), *RIGHT])
def test_accepted(name, source, seed):
    TRIED.accepts(name, source, seed)


HANDLES = {
    "reverse_by_stopping": lambda v, strength: -mp.mpf(strength) * v,
    "scale_gradient": lambda v, factor: mp.mpf(factor) * v,
}


@of(*HANDLES)
def test_handles(exercise, case):
    truth = exercise.truth(case)
    (number,) = (v for k, v in case.inputs.items() if k != "x")
    close(truth["value"], exact(case.inputs["x"]))
    wanted = derivative(lambda v: HANDLES[exercise.id](v, number), case.arrays["x"])
    close(truth["gradient:x"], exact(case.upstream) * wanted)


STAIRS = {"round_straight_through": mp.nint, "floor_detour": mp.floor}


@of(*STAIRS)
def test_straight_through_is_the_slope_of_the_average_over_one_step(exercise, case):
    """d/dx of the mean over u in [−½, ½] is f(x + ½) − f(x − ½)."""
    f, truth, x = STAIRS[exercise.id], exercise.truth(case), exact(case.arrays["x"])
    close(truth["value"], each(f)(x))
    half = mp.mpf(1) / 2
    wanted = each(f)(x + half) - each(f)(x - half)
    close(truth["gradient:x"], exact(case.upstream) * wanted)


@of("binarize_by_stopping")
def test_clipped_sign_is_the_slope_of_the_average(exercise, case):
    """For u in [−1, 1] it is (sign(x + 1) − sign(x − 1)) / 2; both ends count by the contract."""
    truth, x = exercise.truth(case), exact(case.arrays["x"])
    close(truth["value"], each(mp.sign)(x))
    wanted = (each(mp.sign)(x + 1) - each(mp.sign)(x - 1)) / 2
    wanted = np.where(np.abs(case.arrays["x"]) == 1.0, mp.mpf(1), wanted)
    close(truth["gradient:x"], exact(case.upstream) * wanted)


@of("xnor_by_stopping")
def test_xnor_and_what_its_mean_would_add(exercise, case):
    truth, x = exercise.truth(case), exact(case.arrays["x"])
    mean = np.sum(abs(x)) / x.size
    close(truth["value"], each(mp.sign)(x) * mean)
    close(truth["gradient:x"], exact(case.upstream))
    if not np.any(case.arrays["x"]):
        return
    up, signs = exact(case.upstream), each(mp.sign)(x)

    def stuck_sign(x):
        return np.sum(up * signs * (np.sum(abs(x)) / x.size))

    through = gradient(stuck_sign, {"x": case.arrays["x"]}, "x")
    close(exercise.plain(case)["gradient:x"], through)
    both = next(m for m in exercise.mistakes if m.name == "mean contributes").answer(case)
    assert isinstance(both["gradient:x"], Either)
    close(both["gradient:x"].options[0], mean * up + through)


# relaxations: the gradient is the derivative of the value ------------------------------------------


def relaxation(case):
    """The function of one entry, in mpmath, written anew."""
    g = case.inputs
    if "sharpness" in g:
        s = mp.mpf(g["sharpness"])
        ks = range(g["low"] + 1, g["high"] + 1)
        return lambda v: g["low"] + mp.fsum(1 / (1 + mp.exp(-s * (v - k))) for k in ks)
    if "terms" in g:
        waves = range(1, g["terms"] + 1)
        return lambda v: (
            v - mp.mpf(1) / 2 + mp.fsum(mp.sin(2 * mp.pi * k * v) / (mp.pi * k) for k in waves)
        )
    width = mp.mpf(g["width"])

    def ramp(v):
        # Through its corners: flat up to the ramp's foot, then a line to the next integer.
        foot = mp.floor(v) + 1 - width
        return mp.floor(v) if v <= foot else mp.floor(v) + (v - foot) / width

    return ramp


@of("sigmoid_floor", "ramp_floor", "fourier_floor")
def test_relaxations(exercise, case):
    truth, f = exercise.truth(case), relaxation(case)
    close(truth["value"], each(f)(exact(case.arrays["x"])))
    close(truth["gradient:x"], exact(case.upstream) * derivative(f, case.arrays["x"]), 1e-10)


@of("smoothed_sign")
def test_smoothed_sign_is_the_mean_over_the_noise(exercise, case):
    truth, w = exercise.truth(case), mp.mpf(case.inputs["width"])

    def mean(v):
        jump = max(-w, min(w, -v))  # where sign(v + u) turns
        return mp.quad(lambda u: mp.sign(v + u), [-w, jump, w]) / (2 * w)

    close(truth["value"], each(mean)(exact(case.arrays["x"])))
    close(truth["gradient:x"], exact(case.upstream) * derivative(mean, case.arrays["x"]), 1e-9)


# masks and chance ----------------------------------------------------------------------------------


@of("masked_weights")
def test_masked_weights(exercise, case):
    truth, up = exercise.truth(case), exact(case.upstream)
    still = exact(case.arrays["w"])
    mask = exact(case.arrays["mask"])
    wanted = gradient(
        lambda w: np.sum(up * (mask * w + (1 - mask) * still)), {"w": case.arrays["w"]}, "w"
    )
    close(truth["gradient:w"], wanted)
    close(truth["value"], still)


@of("bernoulli_attention")
def test_bernoulli_attention(exercise, case):
    """Hard forward; to probs the gradient of what is drawn on average, probs · features."""
    truth, up, arrays = exercise.truth(case), exact(case.upstream), case.arrays
    drawn = exact((arrays["noise"] < arrays["probs"]).astype(float))
    features = exact(arrays["features"])
    close(truth["value"], drawn * features)
    close(
        truth["gradient:features"],
        gradient(lambda f: np.sum(up * drawn * f), {"f": arrays["features"]}, "f"),
    )
    close(
        truth["gradient:probs"],
        gradient(lambda p: np.sum(up * p * features), {"p": arrays["probs"]}, "p"),
    )


@of("reinforce_loss")
def test_reinforce_loss(exercise, case):
    truth, up = exercise.truth(case), mp.mpf(float(case.upstream))
    given = {k: case.arrays[k] for k in ("log_prob", "reward")}

    def loss(log_prob, reward):
        return -np.sum(reward * log_prob) / log_prob.size

    close(truth["value"], loss(**{k: exact(v) for k, v in given.items()}))
    wanted = gradient(lambda **a: up * loss(**a), given, "log_prob")
    close(truth["gradient:log_prob"], wanted)
    unstopped = next(m for m in exercise.mistakes if m.name == "reward not stopped").answer(case)
    close(unstopped["gradient:reward"], gradient(lambda **a: up * loss(**a), given, "reward"))


# what the text says, by running --------------------------------------------------------------------


def slope_of(tf, f, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def test_the_published_form_rounds_and_this_one_does_not(tf):
    t = tf.random.stateless_normal([100_000], seed=[1, 2])
    f = 0.83 * tf.sign(t)
    published = t + tf.stop_gradient(f - t)
    ours = tf.stop_gradient(f) + (t - tf.stop_gradient(t))
    assert len(np.unique(f)) == 2
    assert len(np.unique(published)) > 2
    np.testing.assert_array_equal(ours, f)
    big = tf.constant(1e8)
    assert float(big + tf.stop_gradient(1.0 - big)) == 0.0
    assert float(tf.stop_gradient(1.0) + (big - tf.stop_gradient(big))) == 1.0


def test_the_detour_cancels_in_every_mode(tf):
    def detour(x):
        return x - (x - tf.floor(x))

    assert slope_of(tf, tf.floor, [0.3, 1.6]) is None
    assert not np.any(slope_of(tf, detour, [0.3, 1.6]))
    assert not np.any(slope_of(tf, tf.function(detour), [0.3, 1.6]))
    inside = tf.function(lambda: slope_of(tf, detour, [0.3, 1.6]))()
    assert not np.any(inside)


def test_what_tensorflow_offers(tf):
    assert slope_of(tf, tf.round, [0.3]) is None
    np.testing.assert_array_equal(slope_of(tf, tf.sign, [0.3, -2.0]), [0.0, 0.0])
    np.testing.assert_array_equal(
        slope_of(tf, tf.grad_pass_through(tf.round), [0.3, -2.2]), [1.0, 1.0]
    )
    edges = slope_of(tf, lambda x: tf.clip_by_value(x, -1.0, 1.0), [-1.0, 1.0])
    np.testing.assert_array_equal(edges, [1.0, 1.0])


def test_integers_have_no_gradient_reversed_or_not(tf):
    x = tf.Variable(1)
    with tf.GradientTape(persistent=True) as tape:
        plain, turned = x + 2, -(x + 2)
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", initializer=1)
        assert tf.compat.v1.gradients(tf.identity(v + 2), v) == [None]
    assert tape.gradient([plain, turned], x) is None


def test_a_weight_far_out_gets_as_much_push_unless_clipped(tf):
    def straight(x):
        return tf.stop_gradient(tf.sign(x)) + (x - tf.stop_gradient(x))

    np.testing.assert_array_equal(slope_of(tf, straight, [0.1, 7.0]), [1.0, 1.0])


def test_relaxations_have_mean_slope_one_and_only_fourier_goes_down():
    x = np.linspace(-1.0, 2.0, 30_001)
    lows = {}
    for name, given in (
        ("sigmoid_floor", {"sharpness": 12.0, "low": -3, "high": 4}),
        ("ramp_floor", {"width": 0.2}),
        ("fourier_floor", {"terms": 6}),
    ):
        case = _like(name, x, given)
        slope = EXERCISES[name].truth(case)["gradient:x"]
        assert slope[:-1].mean() == pytest.approx(1.0, abs=0.01)
        lows[name] = slope.min()
    assert lows["fourier_floor"] < -1 < 0 <= min(lows["sigmoid_floor"], lows["ramp_floor"])


def _like(name, x, given):
    from grader.contract import Case

    return Case(name, {"x": x, **given}, np.ones_like(x))


def test_bias_and_spread_of_the_two_estimators():
    """In closed form over the two outcomes of one draw, cost (z − 0.45)²."""
    exact_slope = 0.55**2 - 0.45**2

    def moments(p, values):
        values = np.asarray(values)
        mean = p * values[0] + (1 - p) * values[1]
        return mean, np.sqrt(p * values[0] ** 2 + (1 - p) * values[1] ** 2 - mean**2)

    for p in np.linspace(0.1, 0.9, 9):
        through = moments(p, (2 * 0.55, -2 * 0.45))
        score = moments(p, (0.55**2 / p, -(0.45**2) / (1 - p)))
        assert score[0] == pytest.approx(exact_slope)
        assert through[0] == pytest.approx(2 * (p - 0.45))  # a line in p
    assert moments(0.1, (1.1, -0.9))[0] < 0 < exact_slope
    ends = [moments(p, (0.55**2 / p, -(0.45**2) / (1 - p)))[1] for p in (0.1, 0.5, 0.9)]
    assert ends[0] > ends[1] < ends[2]


def test_the_spread_of_the_score_function_grows_with_the_draws():
    """n draws at p = 0.3, enumerated by the number of ones among the others."""
    p, spreads, calm = 0.3, [], []
    for n in (1, 4, 16, 64, 256):
        rows = []
        for ones in range(n):
            weight = float(mp.binomial(n - 1, ones)) * p**ones * (1 - p) ** (n - 1 - ones)
            others = ones * 0.55**2 + (n - 1 - ones) * 0.45**2
            rows += [(weight * p, others + 0.55**2, 1 / p)]
            rows += [(weight * (1 - p), others + 0.45**2, -1 / (1 - p))]
        weight, cost, score = np.array(rows).T
        mean = np.sum(weight * cost)
        for found, base in ((spreads, 0.0), (calm, mean)):
            estimate = (cost - base) * score
            assert np.sum(weight * estimate) == pytest.approx(0.1)
            found.append(np.sqrt(np.sum(weight * (estimate - 0.1) ** 2)))
    through = 2 * np.sqrt(p * (1 - p))  # 2 · 0.55 or −2 · 0.45, whatever n is
    assert spreads == sorted(spreads)
    assert calm == sorted(calm)
    assert calm[0] < through < calm[-1]
    assert all(c < s for c, s in zip(calm, spreads, strict=True))
