"""Chapter 10 proved a second time: references by mpmath and differences, facts by running."""

# ruff: noqa: B023  (each function is used up before its loop goes on)

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import tensorflow as tf

from grader.build.cells import read
from grader.checking import evaluate
from grader.contract import Accuracy
from grader.course import Course
from grader.lint.answers import wrongly
from grader.lint.space import answer, setup
from grader.probe.modes import compile_source
from grader.telling import cases_for, draw, expected
from tests.chapters.tried import Tried, on_draws

CHAPTER = Course.find(Path(__file__)).chapter("10")
TRIED = Tried(CHAPTER)
REFERENCE = CHAPTER.load("reference")
EXERCISES = CHAPTER.exercises()
PROBES: dict[str, Any] = {}
exec(compile(CHAPTER.probes, "<probes>", "exec"), PROBES)

mpmath.mp.dps = 50


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    return setup(CHAPTER)


def differences(total: Callable[[np.ndarray], float], x: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Six-point differences: exact up to rounding for what is smooth or piecewise linear here."""
    slopes = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        e = np.zeros(x.shape)
        e[i] = h
        d = [(total(x + k * e) - total(x - k * e)) / (2 * k * h) for k in (1, 2, 3)]
        slopes[i] = (15 * d[0] - 6 * d[1] + d[2]) / 10
    return slopes


def test_binary_dense_is_the_gradient_of_its_smooth_twin() -> None:
    """To x: clip(x) @ quantised. To the kernel: sign(x) @ kernel."""
    for case in cases_for(EXERCISES["binary_dense"], 1):
        x, kernel, up = case.arrays["x"], case.arrays["kernel"], case.upstream
        quantised = np.sign(kernel) * np.abs(kernel).sum() / kernel.size
        right = REFERENCE.dense(case)
        to_x = differences(lambda at: np.sum(up * (np.clip(at, -1, 1) @ quantised)), x, 2e-5)
        to_kernel = differences(lambda at: np.sum(up * (np.sign(x) @ at)), kernel)
        np.testing.assert_allclose(right["gradient:x"], to_x, atol=1e-9)
        np.testing.assert_allclose(right["gradient:kernel"], to_kernel, atol=1e-9)
        np.testing.assert_allclose(right["value"], np.sign(x) @ quantised, atol=1e-12)


def test_the_true_gradient_of_binary_dense_comes_through_the_mean() -> None:
    for case in cases_for(EXERCISES["binary_dense"], 2):
        x, kernel, up = case.arrays["x"], case.arrays["kernel"], case.upstream

        def total(at: np.ndarray) -> float:
            return float(np.sum(up * (np.sign(x) @ (np.sign(at) * np.abs(at).mean()))))

        if np.any(kernel):
            found = differences(total, kernel)
            right = REFERENCE.dense_plain(case)["gradient:kernel"]
            np.testing.assert_allclose(right, found, atol=1e-9)


def test_patch_attention_is_the_gradient_of_its_smooth_twins() -> None:
    """To the patches with the mask fixed; to probs as if the mask were probs."""
    for case in cases_for(EXERCISES["patch_attention"], 1):
        patches, probs = case.arrays["patches"], case.arrays["probs"]
        z = case.arrays["noise"] < probs
        up, right = case.upstream, REFERENCE.attention(case)
        assert 0 < z.mean() < 1 or z.size < 7

        def mean(mask: np.ndarray, at: np.ndarray) -> float:
            return float(np.sum(up * np.mean(mask[..., None] * at, axis=1)))

        to_patches = differences(lambda at: mean(z, at), patches)
        to_probs = differences(lambda at: mean(at, patches), probs)
        np.testing.assert_allclose(right["gradient:patches"], to_patches, atol=1e-9)
        np.testing.assert_allclose(right["gradient:probs"], to_probs, atol=1e-9)


def test_reversal_is_the_gradient_of_minus_strength_x() -> None:
    for case in cases_for(EXERCISES["domain_features"], 1):
        up, strength = case.upstream, case.inputs["strength"]
        found = differences(lambda at: float(np.sum(up * -strength * at)), case.arrays["x"])
        np.testing.assert_allclose(REFERENCE.reversal(case)["gradient:x"], found, atol=1e-9)


def exact_value(name: str, x: list[Any]) -> Any:
    if name == REFERENCE.BOWL:
        squares = sum((i + 1) * v * v for i, v in enumerate(x))
        return squares / 2 + (sum(x) - 3) ** 2 / 2
    if name == REFERENCE.SMOOTH:
        return sum(mpmath.log(1 + mpmath.exp(2 * v)) + v * v / 2 for v in x)
    return 2 * sum(x)


@pytest.mark.parametrize("name", list(REFERENCE.DERIVATIVES))
def test_gradients_and_hessians_of_the_newton_problems(name: str) -> None:
    x = np.random.default_rng(0).standard_normal(3)
    gradient, hessian = REFERENCE.DERIVATIVES[name](x)
    at = tuple(mpmath.mpf(float(v)) for v in x)
    for i in range(3):
        order = [int(i == k) for k in range(3)]
        found = mpmath.diff(lambda *v: exact_value(name, list(v)), at, tuple(order))
        assert float(found) == pytest.approx(gradient[i], rel=1e-12)
        for j in range(3):
            twice = [a + int(j == k) for k, a in enumerate(order)]
            found = mpmath.diff(lambda *v: exact_value(name, list(v)), at, tuple(twice))
            assert float(found) == pytest.approx(hessian[i, j], rel=1e-10, abs=1e-20)
    sent = compile_source(name)(tf.constant(x)).numpy()
    assert float(exact_value(name, list(at))) == pytest.approx(float(sent), rel=1e-12)


def test_conjugate_gradients_minimise_over_the_krylov_space() -> None:
    """An independent description of the k-th iterate: the best in span(b, Ab, …)."""
    random = np.random.default_rng(1)
    root = random.standard_normal((6, 6))
    matrix, b = root @ root.T + np.eye(6), random.standard_normal(6)
    for k in (1, 2, 3):
        space = np.stack([np.linalg.matrix_power(matrix, i) @ b for i in range(k)], axis=1)
        weights = np.linalg.solve(space.T @ matrix @ space, space.T @ b)
        found = REFERENCE.conjugate_gradients(matrix, b, k)
        np.testing.assert_allclose(found, space @ weights, rtol=1e-8)
    full = REFERENCE.conjugate_gradients(matrix, b, 30)
    np.testing.assert_allclose(full, np.linalg.solve(matrix, b), rtol=1e-9)


def test_the_minimum_is_one() -> None:
    gradient, _ = REFERENCE.smooth(REFERENCE._minimum())
    assert np.abs(gradient).max() < 1e-15


def test_masks_keep_the_largest() -> None:
    counts = []
    for case in cases_for(EXERCISES["prune_and_tune"], 1):
        for kernel in REFERENCE._kernels(case):
            share = case.options["keep"] * kernel.size
            mask = REFERENCE.magnitude_mask(kernel, case.options["keep"])
            counts.append((share, int(mask.sum())))
            assert np.abs(kernel[mask]).min() > np.abs(kernel[~mask]).max()
    # In the order of keep·n: up, down, and a tie that goes to the even number.
    assert counts == [(pytest.approx(57.6), 58), (pytest.approx(14.4), 14), (10.5, 10)]
    ties = REFERENCE.magnitude_mask(np.array([[1.0, -1.0], [1.0, 0.5]]), 0.5)
    assert ties.tolist() == [[True, True], [False, False]]


def in_keras(case: Any, weights: list[np.ndarray], held: bool) -> list[np.ndarray]:
    """The fine-tuning by Keras's own fit, whose losses are float32; its weights, and the loss at last."""
    keras = tf.keras
    count = len(weights) // 2
    layers = [
        keras.layers.Dense(bias.size, "relu" if i + 1 < count else None, dtype="float64")
        for i, bias in enumerate(weights[1::2])
    ]
    model = keras.Sequential(layers)
    x, y = case.options["x"].astype(np.float64), case.options["y"]
    model.build((None, x.shape[1]))
    model.set_weights(weights)
    if held:
        for layer, kernel in zip(layers, weights[::2], strict=True):
            layer.kernel.constraint = lambda k, kept=np.sign(np.abs(kernel)): k * kept  # noqa: B008
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.003), loss)
    model.fit(x, y, batch_size=32, epochs=5, shuffle=False, verbose=0)
    return [*model.get_weights(), np.asarray(loss(y, model(x)))]


@pytest.mark.parametrize("held", [True, False], ids=["pruned first", "all entries"])
def test_fine_tuning_against_keras(held: bool) -> None:
    for case in cases_for(EXERCISES["prune_and_tune"], 1):
        start, end = REFERENCE._weights(case, held), REFERENCE.tuned(case, held)
        *found, loss = in_keras(case, start, held)
        assert loss == pytest.approx(REFERENCE.cross_entropy(case, end), rel=1e-5)
        for one, other in zip(end, found, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_pruning_last_falls_short_in_every_draw() -> None:
    """The loss that is asked lies well between both, and every array moves far enough."""
    exercise = EXERCISES["prune_and_tune"]
    wanted = expected(exercise)
    assert {name for name, _ in wanted} == {mistake.name for mistake in exercise.mistakes}
    for seed in range(10):
        cases, _ = draw(exercise, seed, wanted)
        gains = []
        for case in cases:
            start, end = REFERENCE._weights(case), REFERENCE.tuned(case)
            cut, low, last = (
                REFERENCE.cross_entropy(case, w) for w in (start, end, REFERENCE.pruned_last(case))
            )
            gains.append((cut - last) / (cut - low))
            assert cut - low > 0.01
            assert low < case.options["enough"] < cut
            moved = [np.abs(b - a).max() for a, b in zip(start, end, strict=True)]
            assert min(moved) > 5e-3
        assert min(gains) < REFERENCE.SHORT


WRITTEN = CHAPTER.load("answers")
WIDE = [
    ("binary_dense", WRITTEN.DENSE["ok_one_correction"].replace("-1, 1", "-1.001, 1.001")),
    ("binary_dense", WRITTEN.DENSE["ok_custom_gradient"].replace("<= 1", "<= 1.001")),
]


@on_draws(WIDE)
def test_a_window_that_is_a_little_too_wide_is_refused(
    name: str, source: str, seed: int | None
) -> None:
    TRIED.refuses(name, source, seed)


PRUNING = WRITTEN.PRUNE


JUDGED = ("another", "pruned_after", "kernels", "biases_not", "tuned", "model")


@pytest.mark.parametrize("name", ["the solution", *(n for n in PRUNING if n.startswith(JUDGED))])
def test_pruning_answers_on_fresh_draws(space: dict[str, Any], name: str) -> None:
    """Biases or a kernel left out, one step, small steps, zeros only at the end, None returned."""
    cells = [c for c in read(CHAPTER).cells if c.metadata.get("answer") == "prune_and_tune"]
    source = PRUNING.get(name, cells[0].source)
    given = answer(source, name, "prune_and_tune", dict(space))
    for seed in (2, 3):
        assert wrongly(name, evaluate("prune_and_tune", given, seed)) is None


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_who_tunes_by_another_optimizer_is_told_which(
    space: dict[str, Any], seed: int | None
) -> None:
    source = WRITTEN._prune(optimizer="tf.keras.optimizers.SGD(0.003)")
    given = answer(source, "by SGD", "prune_and_tune", dict(space))
    verdict = evaluate("prune_and_tune", given, seed)
    assert verdict.outcome == "fail"
    assert "Adam at rate 0.003" in verdict.says


def test_the_digits_are_the_real_ones() -> None:
    """Counts and checksums of the UCI test part, as its description gives them."""
    with np.load(CHAPTER.root / "data" / "digits.npz") as file:
        images, labels = file["images"], file["labels"]
    assert images.shape == (1797, 8, 8)
    assert images.dtype == labels.dtype == np.uint8
    assert images.min() == 0
    assert images.max() == 16
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert images[0, 0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
    words = (CHAPTER.root / "data" / "README.md").read_text("utf-8")
    prose = CHAPTER.source.read_text("utf-8")
    for text in (words, prose):
        assert "Optical Recognition of Handwritten Digits" in text
        assert "CC BY 4.0" in text


def test_trivial_models(space: dict[str, Any]) -> None:
    assert space["RESULTS"]["always one digit"] == pytest.approx(REFERENCE.one_digit())
    assert space["RESULTS"]["nearest mean image"] == pytest.approx(REFERENCE.nearest_mean())


@pytest.mark.parametrize("name", list(REFERENCE.MEASURED))
def test_floors(name: str) -> None:
    worst, middle, best = REFERENCE.MEASURED[name]
    case = cases_for(EXERCISES[name], 7)[0]
    truth = EXERCISES[name].truth(case)["value"]
    assert isinstance(truth, Accuracy)
    assert truth.floor == pytest.approx(worst - 0.03)
    assert worst <= middle <= best
    assert truth.floor > REFERENCE.nearest_mean() > REFERENCE.one_digit()
    # Labels belong to the images, in their new order.
    images, labels = (part[-360:] for part in REFERENCE.digits())
    off = np.abs(case.inputs["images"][:, None] - images[None]).max(axis=(2, 3))
    np.testing.assert_array_equal(truth.labels, labels[off.argmin(axis=1)])
    assert off.min(axis=1).max() <= 0.0201
    assert "labels" not in case.options


def test_a_seed_repeats_to_the_bit(space: dict[str, Any]) -> None:
    def once() -> list[np.ndarray]:
        variables, scores = space["float_network"](tf.tanh)
        loss = lambda x, y, noise: space["cross_entropy"](y, scores(x))  # noqa: E731
        space["fit"](loss, variables, 1)
        return [variable.numpy() for variable in variables]

    for one, other in zip(once(), once(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_a_surrogate_the_first_layer_stays(space: dict[str, Any]) -> None:
    """Said in the chapter; the second layer's magnitudes all hear the same, that of its scale."""
    variables, scores = space["plain_network"]()
    x, y = tf.constant(space["x_train"][:64]), space["y_train"][:64]
    with tf.GradientTape() as tape:
        loss = space["cross_entropy"](y, scores(x))
    first, _, second = tape.gradient(loss, variables)
    assert not np.any(first)
    np.testing.assert_allclose(
        second / np.sign(variables[2]), second[0, 0] / np.sign(variables[2][0, 0]), rtol=1e-5
    )
    before = variables[0].numpy()
    space["fit"](lambda x, y, noise: space["cross_entropy"](y, scores(x)), variables, 1)
    np.testing.assert_array_equal(before, variables[0].numpy())


def test_thresholds_lie_between_grey_levels(space: dict[str, Any]) -> None:
    grey = np.arange(17) / 16
    off = np.abs(space["LEVELS"][:, None] - grey)
    assert off.min() > 0.02  # the noise that the check puts on every pixel


def test_patches_stand_row_by_row(space: dict[str, Any]) -> None:
    image = np.arange(64, dtype=np.float32).reshape(1, 8, 8)
    patches = space["cut"](tf.constant(image)).numpy()
    assert patches.shape == (1, 16, 4)
    for p in range(16):
        r, c = 2 * (p // 4), 2 * (p % 4)
        np.testing.assert_array_equal(patches[0, p], image[0, r : r + 2, c : c + 2].ravel())


def test_the_probe_sees_a_hessian() -> None:
    def forms(f: Any, x: Any, iterations: int, damping: float) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        return x - tf.linalg.matvec(outer.jacobian(g, x), g)

    case = next(c for c in cases_for(EXERCISES["newton_cg_step"], 1) if c.part == "memory")
    assert PROBES["_memory"](forms, case)["forms the Hessian"]
    plain = PROBES["_memory"](lambda f, x, iterations, damping: x - f(x), case)
    assert not plain["forms the Hessian"]
    assert plain["value"].shape == case.inputs["x"].shape


@pytest.mark.parametrize(
    "idle",
    [
        lambda *given, **named: None,
        lambda f, x, iterations, damping: x,
        lambda f, x, iterations, damping: x - f(x),
        lambda f, x, iterations, damping: tf.cast(x, tf.float64),
    ],
    ids=["None", "x", "x less its loss", "x in float64"],
)
def test_no_points_for_memory_without_the_step(idle: Any) -> None:
    verdict = evaluate("newton_cg_step", idle, part="memory")
    assert verdict.outcome == "fail"
    assert verdict.fraction == 0.0
