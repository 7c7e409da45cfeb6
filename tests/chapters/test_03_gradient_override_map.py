"""Chapter 03, proved a second time: surrogates by what they differentiate, facts by TensorFlow."""

import uuid

import mpmath
import numpy as np
import pytest

from grader.build.cells import read
from grader.checking import evaluate
from grader.course import Course
from grader.lint.answers import wrongly
from grader.lint.space import answer, setup
from grader.probe.modes import compile_source
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find().chapter("03")
TRIED = Tried(CHAPTER)
REFERENCE = CHAPTER.load("reference")
EXERCISES = CHAPTER.exercises()
mpmath.mp.dps = 50


def cases(name, seed=12):
    return EXERCISES[name].cases(np.random.default_rng(seed))


def differences(loss, x, step=1e-3):
    """The gradient of a scalar loss, by a stencil of fourth order."""
    found = np.zeros_like(x)
    for index in np.ndindex(x.shape):

        def at(shift, index=index):
            moved = x.copy()
            moved[index] += shift
            return loss(moved)

        near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
        found[index] = (8 * near - far) / (12 * step)
    return found


def close(got, expected, rtol=1e-7):
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "slope"),
    [
        ("times_five", lambda case: 5.0),
        ("reverse_gradient", lambda case: -case.inputs["strength"]),
        ("floor_passthrough", lambda case: 1.0),
        ("xnor_quantize", lambda case: 1.0),
    ],
)
def test_linear_surrogates_differentiate_a_line(name, slope):
    for case in cases(name):
        if case.name == "all zeros":
            continue
        line = differences(lambda x, c=case: np.sum(c.upstream * slope(c) * x), case.arrays["x"])
        close(EXERCISES[name].truth(case)["gradient:x"], line)


def blurred_sign(x):
    """sign averaged over noise that is uniform on ±1, exactly."""
    kink = min(max(-x, mpmath.mpf(-1)), mpmath.mpf(1))
    return mpmath.quad(lambda u: mpmath.sign(x + u) / 2, [-1, kink, 1])


@pytest.mark.parametrize("name", ["binarize", "works_everywhere"])
def test_hard_tanh_is_sign_blurred_by_uniform_noise(name):
    for case in cases(name):
        if case.part == "fit":
            continue
        truth = EXERCISES[name].truth(case)["gradient:x"]
        for index in np.ndindex(truth.shape):
            x = case.arrays["x"][index]
            if abs(x) == 1.0:  # the contract's own word: both ends pass
                assert truth[index] == case.upstream[index]
                continue
            slope = mpmath.diff(blurred_sign, mpmath.mpf(float(x)), h=mpmath.mpf("1e-6"))
            assert truth[index] == pytest.approx(float(slope) * case.upstream[index], abs=1e-6)


SEEDS = (None, 1, 2, 3)
MENDED = {
    "op_types": ("ok_generator", "ok_array", "repeats_lost", "order_lost", "order_lost_2"),
    "times_five": ("ok_in_its_own_function", "factor_on_the_forward", "another_tool_2",
                   "another_tool_3", "another_tool_4", "another_tool_5"),
    "floor_passthrough": ("ok_in_its_own_function", "not_a_floor", "another_tool_2",
                          "another_tool_3"),
    "reverse_gradient": ("strength_lost", "strength_lost_2"),
}  # fmt: skip


@pytest.fixture(scope="module")
def space():
    return setup(CHAPTER)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MENDED)
def test_answers_get_the_verdict_of_their_name_on_any_draw(space, name, seed):
    solution = next(c for c in read(CHAPTER).cells if c.metadata.get("answer") == name).source
    written = CHAPTER.load("answers").ANSWERS[name]
    tried = {"the solution": solution} | {what: written[what] for what in MENDED[name]}
    for what, source in tried.items():
        verdict = evaluate(name, answer(source, what, name, space), seed)
        assert wrongly(what, verdict) is None, what


def clipped(bound, name="works_everywhere"):
    """A window that ends at the bound, by a rule of its own."""
    window = f"tf.where(tf.abs(x) <= {bound}, up, tf.zeros_like(up))"
    return (name, f"tf.custom_gradient(lambda x: (tf.sign(x), lambda up: {window}))")


def guarded(x, up):
    """guided_relu with two thresholds."""
    both = f"(x > {x}) & (up > {up})"
    rule = f"lambda up: tf.where({both}, up, tf.zeros_like(up))"
    return ("guided_relu", f"tf.custom_gradient(lambda x: (tf.nn.relu(x), {rule}))")


WRONG = (
    *(clipped(bound) for bound in (1.001, 0.9995)),
    *(clipped(bound, "binarize") for bound in (1.001, 0.9995)),
    *(guarded(*ends) for ends in ((0.4, 0.0), (0.0, 0.4), (0.01, 0.0), (0.0, -0.4), (-0.4, 0.0))),
)


@on_draws(WRONG)
def test_refused(name, source, seed):
    TRIED.refuses(name, source, seed)


@on_draws([*TRIED.solved(WRONG), clipped(1.0), guarded(0.0, 0.0)])
def test_accepted(name, source, seed):
    TRIED.accepts(name, source, seed)


@pytest.mark.parametrize("seed", range(8))
def test_a_relu_that_ends_at_6_is_refused_in_the_model_on_any_draw(seed):
    """Not only where a unit happens to exceed 6: the points must not depend on the draw."""
    capped = CHAPTER.load("answers").ANSWERS["guided_relu"]["_"]
    assert "relu6" in capped
    assert TRIED.verdict("guided_relu", capped, seed, "model").outcome == "fail"


def test_a_dictionary_of_op_types_is_said_to_be_one():
    numbered = "lambda *a: dict(enumerate(['Sign', 'Mul']))"
    says = TRIED.verdict("op_types", numbered, None).says
    assert says.startswith("A list is asked, a dictionary with the keys 0, 1 came back.")


def test_a_wrong_gradient_in_a_function_of_its_own_is_refused(tf, space):
    """The map is found in the function, and the numbers are judged all the same."""

    @tf.function
    def four(x):
        with space["overriding"]({"Identity": space["register"](lambda op, grad: 4.0 * grad)}):
            return tf.identity(x)

    @tf.function
    def beside(x):
        with space["overriding"]({"Identity": space["register"](lambda op, grad: 5.0 * grad)}):
            tf.identity(x)
        return tf.identity(x)

    assert evaluate("times_five", four, 1).mistake == "constant factor"
    assert not evaluate("times_five", beside, 1).passed
    for part in ("gradient", "robust"):
        assert not evaluate("times_five", beside, 1, part).passed


def test_the_edges_are_among_the_inputs():
    assert {-1.0, 0.0, 1.0} <= set(cases("binarize")[0].arrays["x"])


def test_xnor_mistakes_are_derivatives_of_what_they_compute():
    """sign is replaced by what its override differentiates: a line through the same value."""
    own = {m.name: m.answer for m in EXERCISES["xnor_quantize"].mistakes}
    for case in cases("xnor_quantize"):
        start, sign, scale = REFERENCE.parts_of(case)
        if scale == 0:
            continue

        def mean(x, sign=sign):
            return np.mean(sign * x)  # that of |x| nearby; at 0 TensorFlow takes the slope 0

        def naive(x, start=start, sign=sign, up=case.upstream):
            return np.sum(up * (sign + x - start) * mean(x))

        def divided(x, start=start, sign=sign, scale=scale, up=case.upstream):
            return np.sum(up * (sign + x / mean(x) - start / scale) * mean(x))

        def untouched(x, sign=sign, up=case.upstream):
            return np.sum(up * sign * mean(x))

        close(own["mean contributes"](case)["gradient:x"], differences(naive, start))
        close(own["normalised without stop"](case)["gradient:x"], differences(divided, start))
        close(EXERCISES["xnor_quantize"].plain(case)["gradient:x"], differences(untouched, start))


def test_the_model_with_plain_relu_is_differentiated_by_differences():
    (case,) = [case for case in cases("guided_relu") if case.part == "model"]
    a = case.arrays

    def loss(x):
        return np.sum(case.upstream * (np.maximum(x @ a["kernel"], 0) @ a["head"]))

    plain = REFERENCE.with_rule(REFERENCE.plain_relu)(case)
    close(plain["gradient:x"], differences(loss, a["x"], 1e-4), 1e-6)


def test_guided_relu_unit_by_unit():
    for case in cases("guided_relu"):
        truth = EXERCISES["guided_relu"].truth(case)["gradient:x"]
        a, expected = case.arrays, np.zeros_like(truth)
        if case.part != "model":
            for i in np.ndindex(truth.shape):
                expected[i] = case.upstream[i] if min(a["x"][i], case.upstream[i]) > 0 else 0.0
        else:
            for n in range(len(expected)):
                for unit, (column, out) in enumerate(zip(a["kernel"].T, a["head"], strict=True)):
                    passed = float(case.upstream[n] @ out)
                    if a["x"][n] @ a["kernel"][:, unit] > 0 and passed > 0:
                        expected[n] += passed * column
        close(truth, expected)


def test_one_step_of_fit_descends_the_loss_of_the_clipped_kernel():
    (case,) = [case for case in cases("works_everywhere") if case.part == "fit"]
    a = case.arrays

    def loss(kernel):
        ramp = np.clip(kernel, -1, 1) - np.clip(a["kernel"], -1, 1) + np.sign(a["kernel"])
        return np.mean((a["x"] @ ramp - a["y"]) ** 2)

    stepped = a["kernel"] - case.inputs["rate"] * differences(loss, a["kernel"])
    close(EXERCISES["works_everywhere"].truth(case)["kernel"], stepped)
    assert np.any(np.abs(a["kernel"]) > 1)


# What the prose and the tables say of TensorFlow --------------------------------------------------


def overriding(tf, mapping):
    return tf.compat.v1.get_default_graph().gradient_override_map(mapping)


def gradient(tf, f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@pytest.fixture(scope="module")
def through(tf):
    def through(x):
        with overriding(tf, {"Sign": "Identity"}):
            return tf.sign(x)

    return through


def test_op_types_and_node_names_are_what_tensorflow_traces(tf):
    rows = [(text, (3,), 1, row) for text, row in REFERENCE.ONE_ARGUMENT.items()]
    rows += [(REFERENCE.PRODUCT, (2,) * r, 2, row) for r, row in REFERENCE.PRODUCTS.items()]
    for text, shape, count, row in rows:
        made = tf.function(compile_source(text)).get_concrete_function(*[tf.ones(shape)] * count)
        ends = {tensor.op.name for tensor in made.graph.outputs}
        kept = [
            op
            for op in made.graph.get_operations()
            if op.type not in ("Placeholder", "Const", "NoOp") and op.name not in ends
        ]
        assert ([op.type for op in kept], [op.name for op in kept]) == row, text


def acts_eager(tf, through, x):
    return gradient(tf, through, x)


def acts_tape_outside(tf, through, x):
    return gradient(tf, tf.function(through), x)


def acts_tape_inside(tf, through, x):
    return tf.function(lambda x: gradient(tf, through, x))(x)


def acts_tf_gradients_inside(tf, through, x):
    return tf.function(lambda x: tf.gradients(through(x), x)[0])(x)


def acts_nested_function(tf, through, x):
    inner = tf.function(tf.sign)

    def outer(x):
        with overriding(tf, {"Sign": "Identity"}):
            return inner(x)

    return gradient(tf, tf.function(outer), x)


def acts_keras_fit(tf, through, x):
    import keras

    class Binary(keras.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(1, 1), name="kernel")

        def call(self, given):
            return tf.matmul(given, through(tf.convert_to_tensor(self.kernel)))

    model = keras.Sequential([keras.Input((1,)), Binary()])
    model.set_weights([np.array([[0.5]])])
    model.compile(optimizer="sgd", loss="mse", jit_compile=False)
    model.fit(np.ones((4, 1)), np.zeros((4, 1)), epochs=1, verbose=0)
    return tf.constant(model.get_weights()[0] - 0.5)


def acts_lower_case_key(tf, through, x):
    def f(x):
        with overriding(tf, {"sign": "Identity"}):
            return tf.sign(x)

    return gradient(tf, tf.function(f), x)


def acts_tf_cond_body(tf, through, x):
    def f(x):
        with overriding(tf, {"Sign": "Identity"}):
            return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sign(x), lambda: tf.sign(x))

    return gradient(tf, tf.function(f), x)


def acts_v1_session(tf, through, x):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        given = tf.constant(x.numpy())
        (found,) = tf.compat.v1.gradients(through(given), given)
        return session.run(found)


def acts_rank_3_matmul(tf, through, x):
    name = f"test-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: (0.0 * grad, 0.0 * grad))

    def f(a):
        with overriding(tf, {"MatMul": name}):
            return tf.matmul(a, a)

    assert not np.any(gradient(tf, tf.function(f), tf.ones((2, 2))))  # it acts at rank 2
    # Ignored means that the true gradient, which is not zero, comes through.
    return 1.0 * (not np.any(gradient(tf, tf.function(f), tf.ones((2, 2, 2)))))


SETTINGS = {
    "eager": acts_eager,
    "tape outside": acts_tape_outside,
    "tape inside": acts_tape_inside,
    "tf.gradients inside": acts_tf_gradients_inside,
    "nested function": acts_nested_function,
    "keras fit": acts_keras_fit,
    "lower-case key": acts_lower_case_key,
    "tf.cond body": acts_tf_cond_body,
    "v1 session": acts_v1_session,
    "rank-3 matmul": acts_rank_3_matmul,
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_where_it_acts_is_what_tensorflow_does(tf, through, setting):
    """The true gradient of sign is zero: anything else comes from the override."""
    found = SETTINGS[setting](tf, through, tf.constant([-2.0, 0.5, 3.0]))
    word = "acts" if np.any(np.asarray(found)) else "ignored"
    assert REFERENCE.PLACES[setting].answer == word


def test_the_table_has_exactly_these_settings():
    assert set(REFERENCE.PLACES) == set(SETTINGS)


def test_a_map_inside_the_branch_acts(tf, through):
    def f(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: through(x), lambda: through(x))

    assert np.all(gradient(tf, tf.function(f), tf.constant([1.0, 2.0])) == 1)


def test_the_attribute_stands_on_the_node(tf, through):
    graph = tf.function(through).get_concrete_function(tf.constant([1.0])).graph
    found = {op.type: op.node_def.attr["_gradient_op_type"].s for op in graph.get_operations()}
    assert found == {"Placeholder": b"", "Sign": b"Identity", "Identity": b""}


def test_a_missing_name_is_blamed_on_the_op(tf):
    @tf.function
    def misspelt(x):
        with overriding(tf, {"Sign": "Identitty"}):
            return tf.sign(x)

    x = tf.constant([1.0])
    assert misspelt(x) == 1.0
    with pytest.raises(LookupError, match="Sign") as caught:
        gradient(tf, misspelt, x)
    assert "Identitty" not in str(caught.value)


def test_a_map_of_identity_reaches_into_clip_by_norm(tf):
    name = f"test-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: -grad)

    def mapped(x):
        with overriding(tf, {"Identity": name}):
            return tf.clip_by_norm(x, 0.5)

    x = tf.constant([0.5, -1.0, 2.0])
    plain = gradient(tf, lambda x: tf.clip_by_norm(x, 0.5), x)
    np.testing.assert_allclose(gradient(tf, tf.function(mapped), x), -plain, rtol=1e-6)


def test_a_map_of_floor_around_a_mean_does_nothing(tf):
    def mean(x):
        with overriding(tf, {"Floor": "Identity"}):
            return tf.reduce_mean(x)

    assert np.all(gradient(tf, tf.function(mean), tf.ones(4)) == 0.25)


def test_a_name_for_the_op_is_not_needed(tf):
    name = f"test-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: 5.0 * grad)
    for options in ({}, {"name": "Identity"}, {"name": "other"}):

        def f(x, options=options):
            with overriding(tf, {"Identity": name}):
                return tf.identity(x, **options)

        assert np.all(gradient(tf, tf.function(f), tf.ones(2)) == 5)


def test_guided_gradients_redraw_the_input_of_an_untrained_network(tf):
    import keras

    @tf.custom_gradient
    def guided(x):
        return tf.nn.relu(x), lambda up: tf.nn.relu(up) * tf.cast(x > 0, up.dtype)

    rows, columns = np.mgrid[:24, :24] - 11.5
    ring = np.exp(-(((np.hypot(rows, columns) - 7) / 1.2) ** 2)).astype("float32")

    def likeness(activation):
        keras.utils.set_random_seed(1)
        layers = [keras.layers.Conv2D(16, 3, padding="same", activation=activation)
                  for _ in range(3)]  # fmt: skip
        ending = [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(1)]
        model = keras.Sequential([keras.Input((24, 24, 1)), *layers, *ending])
        found = gradient(tf, model, tf.constant(ring[None, :, :, None]))
        return np.corrcoef(np.abs(found).ravel(), ring.ravel())[0, 1]

    assert likeness(guided) > 0.7
    assert likeness(guided) > likeness("relu") + 0.2
