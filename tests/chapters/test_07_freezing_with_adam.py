"""Chapter 07, proved a second time: Adam at 50 digits, Keras itself, and every claim by running."""

import math
from itertools import combinations
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from grader.build.cells import read
from grader.checking import evaluate
from grader.course import Course
from grader.lint.answers import wrongly
from grader.lint.space import answer
from grader.telling import cases_for
from grader.verdict.tolerance import allowed, relative
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find(Path(__file__)).chapter("07_freezing_with_adam")
TRIED = Tried(CHAPTER)
EXERCISES = CHAPTER.exercises()
CASES = [(e, c) for e in EXERCISES.values() for s in (1, 2) for c in cases_for(e, s)]
mp.mp.dps = 50


def of(name):
    rows = [(e, c) for e, c in CASES if e.id == name]
    return pytest.mark.parametrize(("exercise", "case"), rows, ids=[c.name for _, c in rows])


def exact(array):
    return np.vectorize(mp.mpf, otypes=[object])(array)


def floats(array):
    return np.asarray(array, dtype=object).astype(np.float64)


class Adam:
    """The paper's algorithm 1, with corrected moments; eps scaled so that it is Keras's."""

    def __init__(self, p):
        self.lr, self.b1, self.b2, self.eps = (
            mp.mpf(p[k]) for k in ("lr", "beta1", "beta2", "eps")
        )

    def step(self, w, g, m, v, t):
        m = self.b1 * m + (1 - self.b1) * g
        v = self.b2 * v + (1 - self.b2) * g * g
        high, wide = m / (1 - self.b1**t), v / (1 - self.b2**t)
        root = np.vectorize(mp.sqrt, otypes=[object])(wide)
        return w - self.lr * high / (root + self.eps / mp.sqrt(1 - self.b2**t)), m, v


@of("adam_step")
def test_adam_step(exercise, case):
    a = {k: exact(v) for k, v in case.arrays.items()}
    want = Adam(case.inputs).step(a["w"], a["g"], a["m"], a["v"], case.inputs["t"])
    truth = exercise.truth(case)
    for i, each in enumerate(want):
        np.testing.assert_allclose(truth[f"value[{i}]"], floats(each), rtol=1e-13)


def test_every_place_of_eps_gives_a_step_of_its_own():
    """So far apart that none is taken for another, whatever the seed. Figures in tolerances."""
    exercise, seen = EXERCISES["adam_step"], {None: 0, "robust": 0}
    for case in (c for seed in range(40) for c in cases_for(exercise, seed)):
        a, p = case.arrays, case.inputs
        if p["eps"] < 1e-3:
            continue
        seen[case.part] += 1
        b1, b2, t = p["beta1"], p["beta2"], p["t"]
        m, v = b1 * a["m"] + (1 - b1) * a["g"], b2 * a["v"] + (1 - b2) * a["g"] ** 2
        high, wide = m / (1 - b1**t), v / (1 - b2**t)
        size = p["lr"] * np.sqrt(1 - b2**t) / (1 - b1**t)
        forms = {
            "Keras": size * m / (np.sqrt(v) + p["eps"]),
            "inside": size * m / np.sqrt(v + p["eps"]),
            "inside, corrected": p["lr"] * high / np.sqrt(wide + p["eps"]),
            "PyTorch": p["lr"] * high / (np.sqrt(wide) + p["eps"]),
            "uncorrected": p["lr"] * m / (np.sqrt(v) + p["eps"]),
        }
        rtol = relative(case.dtype, exercise.tolerance)
        for (one, x), (other, y) in combinations(forms.items(), 2):
            off = np.abs(x - y) / np.maximum(allowed(a["w"] - x, rtol), allowed(a["w"] - y, rtol))
            assert off.max() > 3, (case.name, one, other)
        own = {mistake.name: mistake.answer(case) for mistake in exercise.mistakes}
        inside = own["eps inside the root"]["value[0]"].options
        np.testing.assert_allclose(inside[0], a["w"] - forms["inside"])
        np.testing.assert_allclose(inside[1], a["w"] - forms["inside, corrected"])
        pytorch = own["eps with the corrected moments"]["value[0]"]
        np.testing.assert_allclose(pytorch, a["w"] - forms["PyTorch"])
    assert seen == {None: 40, "robust": 80}


@of("drift")
def test_drift(exercise, case):
    m, v = (exact(case.arrays[k]) for k in ("m", "v"))
    zero = 0 * m
    new, _, _ = Adam(case.inputs).step(zero, zero, m, v, case.inputs["t"])
    np.testing.assert_allclose(exercise.truth(case)["value"], floats(new), rtol=1e-13)


@of("thaw_step_size")
def test_thaw_step_size(exercise, case):
    p = dict(case.inputs) | {"eps": 0}
    for gradient in (mp.mpf(3), mp.mpf("0.001")):
        zero = np.array([mp.mpf(0)], dtype=object)
        new, _, _ = Adam(p).step(zero, zero + gradient, zero, zero, p["t"] + 1)
        assert float(-new[0]) == pytest.approx(exercise.truth(case)["value"], rel=1e-12)


@of("freeze_by_slots")
def test_freeze_by_slots(exercise, case):
    """Entry by entry: one scalar Adam per entry that sleeps while its mask is 0, at 50 digits."""
    a = case.arrays
    adam = Adam(case.options)
    masks = np.broadcast_to(a["masks"][:, None] != 0, a["gradients"].shape)
    rows = []
    for index in np.ndindex(a["weights"].shape):
        w, m, v = (np.array(mp.mpf(x), object) for x in (float(a["weights"][index]), 0, 0))
        path, t = [], 0
        for phase in range(len(masks)):
            for step in range(masks.shape[1]):
                t += 1
                place = (phase, step, *index)
                if masks[place]:
                    g = mp.mpf(float(a["gradients"][place]))
                    w, m, v = adam.step(w, g, m, v, t)
            path.append(float(w))
        rows.append(path)
    want = np.array(rows).T.reshape(len(masks), *a["weights"].shape)
    truth = exercise.truth(case)
    if "weights" in truth:
        np.testing.assert_allclose(truth["weights"], want, rtol=1e-12)
    assert truth.get("frozen entries that moved", 0) == 0


def keras_optimizer(tf, case):
    return getattr(tf.keras.optimizers, case.options["kind"])(**case.options["settings"])


@of("frozen_step")
def test_frozen_step_against_keras(tf, exercise, case):
    """Keras makes the step; a frozen entry's weight and slots are written back by hand."""
    given = case.inputs
    w = tf.Variable(given["weights"])
    optimizer = keras_optimizer(tf, case)
    optimizer.build([w])
    history = []
    for gradient, mask in zip(given["gradients"], given["masks"] != 0, strict=True):
        held = [w, optimizer._momentums[0], optimizer._velocities[0]]
        held += optimizer._velocity_hats[:1] if case.options.get("amsgrad") else []
        old = [each.numpy() for each in held]
        optimizer.apply_gradients([(tf.constant(gradient), w)])
        for each, before in zip(held, old, strict=True):
            each.assign(np.where(mask, each.numpy(), before))
        history.append(w.numpy())
    truth = exercise.truth(case)
    tight = 1e-8 if case.dtype == "float64" else 2e-5
    np.testing.assert_allclose(np.stack(history), truth["weights"], rtol=tight, atol=tight)
    assert int(optimizer.iterations.numpy()) == truth["steps counted"]


@of("update_subset")
def test_update_subset_against_keras(tf, exercise, case):
    """One optimizer per variable, its counter set by hand, steps only when it is named."""
    truth, tight = exercise.truth(case), 1e-8 if case.dtype == "float64" else 2e-5
    for name in case.options["order"]:
        w = tf.Variable(case.inputs[name])
        optimizer = keras_optimizer(tf, case)
        optimizer.build([w])
        history = []
        for t, names in enumerate(case.options["names"]):
            optimizer.iterations.assign(t)
            if name in [n.split(":")[0] for n in names]:
                gradient = case.inputs[f"{name} gradients"][t]
                optimizer.apply_gradients([(tf.constant(gradient), w)])
            history.append(w.numpy())
        want = truth[f"variable {name}"]
        np.testing.assert_allclose(np.stack(history), want, rtol=tight, atol=tight)


@of("magnitude_mask")
def test_magnitude_mask(exercise, case):
    """By its definition: an entry stays if fewer than the count come before it."""
    flat = [abs(float(x)) for x in case.arrays["weights"].ravel()]
    count = round(case.inputs["keep"] * len(flat))

    def before(i):
        return sum(x > flat[i] or (x == flat[i] and j < i) for j, x in enumerate(flat))

    want = np.array([before(i) < count for i in range(len(flat))])
    assert np.array_equal(exercise.truth(case)["value"].ravel(), want)
    assert exercise.truth(case)["value"].sum() == count


def test_counts_are_rounded_up_down_and_to_even():
    shares = [
        c.inputs["keep"] * c.arrays["weights"].size for e, c in CASES if e.id == "magnitude_mask"
    ]
    wrong = {"down": int, "up": math.ceil, "from one half on up": lambda x: int(x + 0.5)}
    for how in wrong.values():
        assert any(how(share) != round(share) for share in shares)


ANSWERS = CHAPTER.load("answers").ANSWERS
JUDGED = [
    ("magnitude_mask", "ok_numpy"),
    ("magnitude_mask", "another_rounding1"),
    ("magnitude_mask", "another_rounding2"),
    ("magnitude_mask", "another_rounding3"),
    ("magnitude_mask", "mask_of_numbers1"),
    ("magnitude_mask", "mask_of_numbers2"),
    ("magnitude_mask", "ties"),
    ("update_subset", "zeros_taken_off_the_name"),
    ("update_subset", "part_of_a_name"),
    ("frozen_step", "counter_put_back"),
    *((name, "the solution") for name in ("magnitude_mask", "update_subset", "drift")),
]


@pytest.mark.parametrize(("exercise", "name"), JUDGED)
def test_answers_on_fresh_draws(tf, exercise, name):
    """keep * n rounded otherwise, a mask that is not bool, kernel_10 taken for kernel_1."""
    cell = next(c for c in read(CHAPTER).cells if c.metadata.get("answer") == exercise)
    source = ANSWERS[exercise].get(name, cell.source)
    given = answer(source, name, exercise, {"tf": tf, "np": np})
    for seed in (2, 3, 4):
        assert wrongly(name, evaluate(exercise, given, seed)) is None


FREEZING = TRIED.solutions["freeze_by_slots"].replace("def freeze_by_slots", "def freeze")
OTHERWISE = [
    "from functools import partial as of\nfreeze_by_slots = of(freeze)",
    "class Freezing:\n    def __call__(self, *a): return freeze(*a)\nfreeze_by_slots = Freezing()",
    "class Own:\n    def it(self, *a): return freeze(*a)\nfreeze_by_slots = Own().it",
    "freeze_by_slots = tf.autograph.experimental.do_not_convert(freeze)",
]
CALLABLE = [("freeze_by_slots", f"{FREEZING}\n{text}") for text in OTHERWISE]


@on_draws(CALLABLE)
def test_whatever_can_be_called_can_freeze(name, source, seed):
    TRIED.accepts(name, source, seed)


def test_a_restore_slots_that_is_not_there_is_asked_for(tf):
    verdict = TRIED.verdict("freeze_by_slots", "lambda *given: None", None)
    assert "restore_slots is not defined" in verdict.first.outcome.text


def motion(tf, optimizer, gradients, start=1.0):
    w = tf.Variable([start])
    optimizer.build([w])
    for gradient in gradients:
        before = w.numpy()
        optimizer.apply_gradients([(tf.constant([gradient]), w)])
    return float((w.numpy() - before)[0])


def ten(tf):
    k = tf.keras.optimizers
    return {
        "SGD": k.SGD(0.1),
        "SGD with momentum": k.SGD(0.1, momentum=0.9),
        "Adagrad": k.Adagrad(0.1),
        "RMSprop": k.RMSprop(0.1),
        "RMSprop with momentum": k.RMSprop(0.1, momentum=0.9),
        "Adam": k.Adam(0.1),
        "Adam with amsgrad": k.Adam(0.1, amsgrad=True),
        "AdamW": k.AdamW(0.1),
        "Nadam": k.Nadam(0.1),
        "Lion": k.Lion(0.1),
    }


def test_which_still_move(tf):
    truth = EXERCISES["which_still_move"].truth(None)
    for name, optimizer in ten(tf).items():
        moved = motion(tf, optimizer, [1.0, 0.5, 1.5, 0.0]) != 0.0
        assert truth[f"entry:{name}"] == ("moves" if moved else "stays"), name
    assert len(truth) == 10


def test_predictions(tf):
    k = tf.keras.optimizers
    assert motion(tf, k.Adam(0.1), [1.0, 0.0]) != 0
    assert motion(tf, k.Adam(0.1), [0.0, 0.0]) == 0
    assert np.isnan(motion(tf, k.Adam(0.1, epsilon=0.0), [0.0, 0.0]))
    assert motion(tf, k.AdamW(0.1), [0.0, 0.0]) < 0


def test_a_row_that_was_not_read_moves(tf):
    table, optimizer = tf.Variable(tf.ones([3, 1])), tf.keras.optimizers.Adam(0.1)
    for rows in ([0, 1], [1, 2]):
        before = table.numpy()
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows))
        gradient = tape.gradient(loss, table)
        assert isinstance(gradient, tf.IndexedSlices)
        optimizer.apply_gradients([(gradient, table)])
    assert table.numpy()[0, 0] != before[0, 0]


def test_old_slots(tf):
    """get_slot lives in v1 only; a slot takes assign, not item assignment; v alone explodes."""
    w = tf.Variable([1.0, 1.0])
    with pytest.raises(AttributeError, match="get_slot"):
        tf.keras.optimizers.Adam(0.1).get_slot(w, "m")
    v1 = tf.compat.v1.train.AdamOptimizer(0.1)
    assert v1.get_slot(w, "m") is None
    v1.apply_gradients([(tf.constant([1.0, 1.0]), w)])
    with pytest.raises(TypeError, match="item assignment"):
        v1.get_slot(w, "m")[0] = 0.0
    v1.get_slot(w, "v").assign([0.0, 0.0])
    v1.apply_gradients([(tf.constant([0.0, 0.0]), w)])
    assert np.abs(w.numpy()).min() > 1e4


def test_a_second_subset_is_refused(tf):
    a, b = tf.Variable([1.0]), tf.Variable([1.0])
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.apply_gradients([(tf.constant([1.0]), a)])
    with pytest.raises(ValueError, match="Unknown variable"):
        optimizer.apply_gradients([(tf.constant([1.0]), b)])


def test_averages_reach_a_variable_left_out(tf):
    """Overwriting by averages touches every variable that the optimizer was built with."""
    a, b = tf.Variable([1.0]), tf.Variable([1.0])
    optimizer = tf.keras.optimizers.Adam(
        0.05, use_ema=True, ema_momentum=0.7, ema_overwrite_frequency=2
    )
    optimizer.build([b, a])
    for _ in range(5):
        optimizer.apply_gradients([(tf.ones(1), a), (tf.ones(1), b)])
    before = b.numpy()
    optimizer.apply_gradients([(tf.ones(1), a)])
    optimizer.apply_gradients([(tf.ones(1), a)])
    assert b.numpy()[0] != before[0]


def test_decay_can_be_excluded(tf):
    w = tf.Variable([1.0])
    optimizer = tf.keras.optimizers.AdamW(0.1)
    optimizer.exclude_from_weight_decay([w])
    optimizer.build([w])
    optimizer.apply_gradients([(tf.constant([0.0]), w)])
    assert w.numpy()[0] == 1.0


def test_thaw_limit():
    """For many steps the first step tends to (1 − β1) / √(1 − β2) learning rates."""
    case = next(c for e, c in CASES if e.id == "thaw_step_size" and c.inputs["t"] == 5000)
    truth = EXERCISES["thaw_step_size"].truth(case)["value"]
    assert truth / case.inputs["lr"] == pytest.approx(0.1 / np.sqrt(0.001), rel=5e-3)
    assert 3.0 < truth / case.inputs["lr"] < 3.3


@pytest.mark.parametrize("ways", ["called", "fitted"])
def test_the_flag_holds_batch_norms_averages_at_once_or_once_compiled(tf, ways):
    norm = tf.keras.layers.BatchNormalization(momentum=0.5)
    x = np.full((4, 1), 4.0, np.float32)
    if ways == "called":
        norm(x, training=True)
        assert norm.moving_mean.numpy() == 2
        norm.trainable = False
        norm(x, training=True)
        assert norm.moving_mean.numpy() == 2
        return
    model = tf.keras.Sequential([tf.keras.Input((1,)), norm, tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    means = []
    for step in ("trainable", "flag cleared", "compiled"):
        norm.trainable = step == "trainable"
        if step == "compiled":
            model.compile("sgd", "mse")
        model.fit(x, x, verbose=0)
        means.append(float(norm.moving_mean.numpy()[0]))
    assert means == [2, 3, 3]
