"""What is true in chapter 10: layers with surrogates, pruning, Newton steps, and floors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from grader.contract import EAGER, OUTSIDE, Accuracy, Case, Either, Exercise, Mistake, Source
from grader.draw import away, like, normal, uniform, upstream

Arrays = dict[str, np.ndarray]
HELD_OUT = 360
# Tracing is what takes time: what differs in its input alone is called directly.
Modes = tuple[str, ...]
BOTH, CALLED, TRACED = (EAGER, OUTSIDE), (EAGER,), (OUTSIDE,)

# --- binary_dense -----------------------------------------------------------------------------


def dense_cases(rng: np.random.Generator) -> list[Case]:
    def case(
        name: str, b: int, n: int, m: int, dtype: str, part: str | None, modes: Modes = BOTH
    ) -> Case:
        x = away(normal(rng, (b, n), dtype, 1.2), [-1.0, 0.0, 1.0])
        x[0, :2] = -1.0001, 1.0001  # a window that is a little too wide shows
        kernel = away(normal(rng, (n, m), dtype, 0.7), [-1.0, 0.0, 1.0])
        kernel[0, 0] = np.copysign(1.3, kernel[0, 0])  # whoever clips the kernel, too, shows
        return Case(name, {"x": x, "kernel": kernel}, upstream(rng, (b, m), dtype), part, modes)

    zero = case("a kernel of zeros", 2, 3, 2, "float32", "robust")
    still = {**zero.inputs, "kernel": np.zeros((3, 2), np.float32)}
    return [
        case("a batch of 5", 5, 6, 4, "float32", None),
        case("float64", 3, 4, 2, "float64", "robust"),
        case("a batch of one", 1, 4, 1, "float32", "robust", CALLED),
        Case(zero.name, still, zero.upstream, "robust", CALLED),
    ]


def dense(case: Case, *, scale: bool = True, window: float = 1.0) -> Arrays:
    """Value and gradients of sign(x) @ (sign(kernel)·mean|kernel|) with their surrogates."""
    x, kernel, up = case.arrays["x"], case.arrays["kernel"], case.upstream.astype(np.float64)
    quantised = np.sign(kernel) * (np.mean(np.abs(kernel)) if scale else 1.0)
    return {
        "value": np.sign(x) @ quantised,
        "gradient:x": (up @ quantised.T) * (np.abs(x) <= window),
        "gradient:kernel": np.sign(x).T @ up,
    }


def _through_scale(case: Case) -> tuple[np.ndarray, np.ndarray, float]:
    """The kernel's straight-through gradient, what comes through mean|kernel|, and the mean."""
    kernel, direct = case.arrays["kernel"], dense(case)["gradient:kernel"]
    through = np.sign(kernel) * np.sum(direct * np.sign(kernel)) / kernel.size
    return direct, through, float(np.mean(np.abs(kernel)))


def dense_scaled(case: Case) -> Arrays:
    direct, _, mean = _through_scale(case)
    return {"gradient:kernel": direct * mean}


def dense_mean(case: Case) -> Arrays:
    direct, through, mean = _through_scale(case)
    return {"gradient:kernel": direct * mean + through}


def dense_at_zeros(case: Case) -> Arrays:
    """No gradient to a kernel of zeros: its mean size is a factor."""
    right = dense(case)["gradient:kernel"]
    return {"gradient:kernel": right if np.any(case.arrays["kernel"]) else 0 * right}


def dense_by_axis(case: Case) -> dict[str, object]:
    """A mean size for each column, or for each row."""
    x, kernel, up = case.arrays["x"], case.arrays["kernel"], case.upstream.astype(np.float64)
    sizes = (np.mean(np.abs(kernel), axis=axis, keepdims=True) for axis in (0, 1))
    each = [np.sign(kernel) * size for size in sizes]
    return {
        "value": Either(*(np.sign(x) @ q for q in each)),
        "gradient:x": Either(*((up @ q.T) * (np.abs(x) <= 1) for q in each)),
    }


def dense_halfway(case: Case, *, bits: bool) -> Arrays:
    """One of the two taken as it is: x where `bits` is False, else the kernel."""
    x, kernel, up = case.arrays["x"], case.arrays["kernel"], case.upstream.astype(np.float64)
    if bits:
        inside = np.abs(x) <= 1
        return {"value": np.sign(x) @ kernel, "gradient:x": (up @ kernel.T) * inside}
    quantised = np.sign(kernel) * np.mean(np.abs(kernel))
    return {"value": x @ quantised, "gradient:x": up @ quantised.T, "gradient:kernel": x.T @ up}


def dense_plain(case: Case) -> Arrays:
    _, through, _ = _through_scale(case)
    return {"gradient:x": np.zeros_like(case.arrays["x"]), "gradient:kernel": through}


DENSE = Exercise(
    id="binary_dense",
    cases=dense_cases,
    truth=dense,
    parts={"value": 5, "gradient": 8, "robust": 4},
    plain=dense_plain,
    hints=(
        "Two functions, each with its own surrogate: one binarises `x`, one quantises the kernel. "
        "Their product is an ordinary `tf.matmul`, whose gradient is right as it is.",
        "`stop(f) + (t − stop(t))` has the value `f` and the gradient of `t`. For `x`: `f = "
        "sign(x)` and `t` = `x` clipped to [−1, 1]. For the kernel: f = sign·mean|kernel| and `t` "
        "= the kernel itself.",
        "`t` = `x` clipped by `tf.clip_by_value(…, -1, 1)`; `bits = stop(sign(x)) + (t − "
        "stop(t))`; `quantised = stop(tf.sign(kernel) * tf.reduce_mean(tf.abs(kernel))) + (kernel "
        "− stop(kernel))`; return `bits @ quantised`.",
    ),
    mistakes=(
        Mistake(
            "scale lost",
            "The kernel's signs are right, its size is lost: multiply the signs by the mean of "
            "|kernel| over all entries.",
            lambda case: {k: v for k, v in dense(case, scale=False).items() if "kernel" not in k},
        ),
        Mistake(
            "unclipped",
            "The gradient to `x` passes everywhere. Where |x| > 1 it must be zero: more of the "
            "same sign changes nothing there.",
            lambda case: {"gradient:x": dense(case, window=np.inf)["gradient:x"]},
        ),
        Mistake(
            "x not binarised",
            "The kernel is quantised, `x` is taken as it is. Binarise it: the sign, with the "
            "gradient of `x` clipped.",
            lambda case: dense_halfway(case, bits=False),
        ),
        Mistake(
            "kernel not quantised",
            "`x` is binarised, the kernel is taken as it is. Quantise it: signs times the mean of "
            "|kernel|.",
            lambda case: dense_halfway(case, bits=True),
        ),
        Mistake(
            "mean along one axis",
            "Each column or each row of the kernel has a mean of its own. One mean over all "
            "entries is asked.",
            dense_by_axis,
        ),
        Mistake(
            "kernel clipped",
            "The gradient to the kernel is zero where |kernel| > 1. Only that to `x` is clipped; "
            "the kernel's passes everywhere.",
            lambda case: {
                "gradient:kernel": dense(case)["gradient:kernel"]
                * (np.abs(case.arrays["kernel"]) <= 1)
            },
        ),
        Mistake(
            "zero for zeros",
            "For a kernel of zeros its gradient is zero: there the mean size is 0, and it "
            "multiplies the gradient. Nothing has to be multiplied or divided by it.",
            dense_at_zeros,
        ),
        Mistake(
            "scaled by the mean",
            "The gradient to the kernel is mean|kernel| times what it should be. The quantised "
            "kernel passes the gradient on unchanged: keep the scale inside `tf.stop_gradient`.",
            dense_scaled,
        ),
        Mistake(
            "mean contributes",
            "Part of the kernel's gradient comes through mean|kernel|. Put the scale inside "
            "`tf.stop_gradient`.",
            dense_mean,
        ),
    ),
    reread="A network of bits",
    also=(
        "One `tf.custom_gradient` around the product holds both rules: upstream times quantised "
        "kernel, masked by |x| ≤ 1, goes to `x`, and `bits` times upstream to the kernel."
    ),
)

# --- patch_attention --------------------------------------------------------------------------


def attention_cases(rng: np.random.Generator) -> list[Case]:
    def case(
        name: str, b: int, p: int, d: int, dtype: str, part: str | None, modes: Modes = BOTH
    ) -> Case:
        probs = uniform(rng, 0.15, 0.85, (b, p), dtype)
        side = np.where(rng.random((b, p)) < 0.5, -1.0, 1.0)
        noise = (probs + side * rng.uniform(0.05, 0.14, (b, p))).astype(dtype)
        inputs = {"patches": normal(rng, (b, p, d), dtype), "probs": probs, "noise": noise}
        return Case(name, inputs, upstream(rng, (b, d), dtype), part, modes)

    return [
        case("a batch of 4", 4, 5, 3, "float32", None),
        case("float64", 2, 3, 4, "float64", "robust"),
        case("one patch", 3, 1, 2, "float32", "robust", CALLED),
    ]


def attention(case: Case, selected: np.ndarray | None = None) -> Arrays:
    patches, probs, noise = (case.arrays[name] for name in ("patches", "probs", "noise"))
    z = (noise < probs).astype(np.float64) if selected is None else selected
    share = np.broadcast_to(case.upstream.astype(np.float64)[:, None, :], patches.shape)
    share = share / patches.shape[1]
    return {
        "value": np.mean(z[..., None] * patches, axis=1),
        "gradient:patches": share * z[..., None],
        "gradient:probs": np.sum(share * patches, axis=-1),
        "gradient:noise": Either(None, np.zeros_like(noise)),  # a rule of one's own may give zeros
    }


def _attention(*keys: str, factor: float | None = None) -> Callable[[Case], Arrays]:
    def answer(case: Case) -> Arrays:
        times = case.arrays["probs"].shape[1] if factor is None else factor
        right = attention(case)
        return {key: times * right[key] for key in keys}

    return answer


def _selected(case: Case) -> np.ndarray:
    return (case.arrays["noise"] < case.arrays["probs"]).astype(np.float64)


def _masked_probs(case: Case) -> Arrays:
    return {"gradient:probs": attention(case)["gradient:probs"] * _selected(case)}


def _mean_of_selected(case: Case) -> dict[str, object]:
    """The mean of the selected patches; where there are none, 0 or NaN."""
    z, patches = _selected(case), case.arrays["patches"]
    total, count = np.sum(z[..., None] * patches, axis=1), np.sum(z, axis=1)[:, None]
    mean = total / np.maximum(count, 1)
    return {"value": Either(mean, np.where(count > 0, mean, np.nan))}


def _soft(case: Case) -> Arrays:
    soft = attention(case, case.arrays["probs"])
    return {key: soft[key] for key in ("value", "gradient:patches")}


def _turned(case: Case) -> Arrays:
    z = (case.arrays["noise"] > case.arrays["probs"]).astype(np.float64)
    return {key: attention(case, z)[key] for key in ("value", "gradient:patches")}


ATTENTION = Exercise(
    id="patch_attention",
    cases=attention_cases,
    truth=attention,
    parts={"value": 5, "gradient": 8, "robust": 4},
    hints=(
        "The mask z = 1[noise < probs] is 0 or 1, of shape (b, p). Give it a last axis and it "
        "multiplies the patches; then take the mean over axis 1.",
        "`z` comes out of a comparison, so no gradient reaches `probs`. Give `z` the gradient of "
        "`probs`: `stop(z) + (probs − stop(probs))`.",
        "`z = tf.cast(noise < probs, patches.dtype)`; `z = tf.stop_gradient(z) + (probs − "
        "tf.stop_gradient(probs))`; `return tf.reduce_mean(z[..., tf.newaxis] * patches, axis=1)`.",
    ),
    mistakes=(
        Mistake(
            "None to probs",
            "No gradient reaches `probs`: it enters only through a comparison. Give the hard mask "
            "the gradient of `probs`.",
            lambda case: {"gradient:probs": None},
        ),
        Mistake(
            "noise gets a gradient",
            "A gradient reaches `noise`. It is drawn, no part of the network: only `probs` takes "
            "the place of the mask.",
            lambda case: {"gradient:noise": -attention(case)["gradient:probs"]},
        ),
        Mistake(
            "only where selected",
            "The gradient to `probs` is masked by z. A patch that was left out says too what a "
            "larger probability would have brought.",
            _masked_probs,
        ),
        Mistake(
            "divided by the selected",
            "You divide by the number of selected patches. The mean over all p patches is asked, "
            "unselected ones counted as zeros.",
            _mean_of_selected,
        ),
        Mistake(
            "sum for mean",
            "You add the selected patches up. The mean over all p patches is asked, unselected "
            "ones counted as zeros.",
            _attention("value", "gradient:patches", "gradient:probs"),
        ),
        Mistake(
            "soft selection",
            "You weigh the patches with `probs`. The selection is hard: a patch counts in full or "
            "not at all, as `noise < probs` decides.",
            _soft,
        ),
        Mistake(
            "comparison turned round",
            "A patch is selected where `noise < probs`, so that a probability of 1 always selects.",
            _turned,
        ),
    ),
    reread="Attention that decides",
    also=(
        "With `tf.custom_gradient` you can write the rule down as it stands: upstream·z to the "
        "patches, the sum over d of upstream·patches to `probs`, both over p."
    ),
)

# --- domain_features --------------------------------------------------------------------------


def domain_cases(rng: np.random.Generator) -> list[Case]:
    def case(
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        s: float,
        part: str | None,
        modes: Modes = BOTH,
    ) -> Case:
        x = normal(rng, shape, dtype)
        return Case(name, {"x": x, "strength": s}, like(rng, x), part, modes)

    return [
        case("a batch, strength 0.7", (4, 3), "float32", 0.7, None),
        case("float64, strength 2", (5,), "float64", 2.0, "robust"),
        case("a scalar, strength 0.1", (), "float32", 0.1, "robust", CALLED),
        case("three axes, strength 0", (2, 2, 2), "float32", 0.0, "robust", CALLED),
    ]


def reversal(case: Case) -> Arrays:
    strength = case.inputs["strength"]
    return {"value": case.arrays["x"], "gradient:x": -strength * case.upstream.astype(np.float64)}


DOMAIN = Exercise(
    id="domain_features",
    cases=domain_cases,
    truth=reversal,
    parts={"value": 2, "gradient": 5, "robust": 3},
    hints=(
        "Forward it is the identity. Backward the upstream gradient is multiplied by −strength.",
        "Two ways: a `tf.custom_gradient` whose rule returns −strength·upstream, or "
        "`stop_gradient`: stop(x + strength·x) − strength·x.",
        "`@tf.custom_gradient` on an inner function of `x` alone; it returns `tf.identity(x)` and "
        "`lambda upstream: -strength * upstream`. Call it on `x`.",
    ),
    mistakes=(
        Mistake(
            "sign",
            "The gradient is not turned round: the features would learn to tell the domains apart. "
            "The rule is −strength·upstream.",
            lambda case: {"gradient:x": -reversal(case)["gradient:x"]},
        ),
        Mistake(
            "strength lost",
            "The gradient is turned round, but not scaled: multiply by `strength`, too.",
            lambda case: {"gradient:x": -case.upstream.astype(np.float64)},
        ),
        Mistake(
            "strength on the forward",
            "The value must be `x`, untouched. Only the gradient feels the `strength`.",
            lambda case: {
                "value": Either(
                    *(
                        times * case.arrays["x"]
                        for s in [case.inputs["strength"]]
                        for times in (-s, s, 1 - s)
                    )
                )
            },
        ),
        Mistake(
            "strength off by one",
            "The gradient is (1 − strength) or −(1 + strength) times the upstream gradient: an "
            "`x` too many counts.",
            lambda case: {
                "gradient:x": Either(
                    *(
                        times * case.upstream.astype(np.float64)
                        for s in [case.inputs["strength"]]
                        for times in (1 - s, -1 - s)
                    )
                )
            },
        ),
    ),
    reread="Features that forget where they came from",
    also=(
        "Without a rule of its own: a stopped term that holds (1 + strength)·x, less strength·x. "
        "It may differ from `x` by a rounding; the custom gradient returns `x` itself."
    ),
    plain=lambda case: {"gradient:x": case.upstream.astype(np.float64)},
)

# --- prune_and_tune ---------------------------------------------------------------------------


def prune_cases(rng: np.random.Generator) -> list[Case]:
    # round(keep·n) goes up (57.6), down (14.4) and to the even neighbour (10.5).
    return [
        prune_case(rng, "keep 0.3", (16, 12, 4), 0.3),
        prune_case(rng, "keep a quarter of one layer", (14, 3), 0.25),
    ]


def prune_case(rng: np.random.Generator, name: str, sizes: tuple[int, ...], keep: float) -> Case:
    options: dict[str, Any] = {"keep": keep}
    for i, (n, m) in enumerate(pairwise(sizes)):
        # Layers of different scale, so that one threshold for all of them is another mask. Within
        # a layer the magnitudes are close: whoever prunes after training finds others largest.
        scale = (0.5, 0.15)[i % 2]
        side = np.where(rng.random((n, m)) < 0.5, -scale, scale)
        options[f"kernel {i}"] = (side * rng.uniform(0.8, 1.2, (n, m))).astype(np.float32)
        options[f"bias {i}"] = away(normal(rng, (m,), scale=0.1), [0.0], 0.01)
    options["x"] = normal(rng, (64, sizes[0]))
    # Labels that can be learned, so that the steps go one way.
    options["y"] = np.argmax(options["x"] @ rng.standard_normal((sizes[0], sizes[-1])), axis=1)
    case = Case(name, {}, modes=(EAGER,), part="value", options=options)
    cut, low = cross_entropy(case, _weights(case)), cross_entropy(case, tuned(case))
    return replace(case, options={**options, "enough": cut - ENOUGH * (cut - low)})


def _kernels(case: Case) -> list[np.ndarray]:
    return [case.options[f"kernel {i}"] for i in range(2) if f"kernel {i}" in case.options]


def magnitude_mask(kernel: np.ndarray, keep: float) -> np.ndarray:
    """True for the round(keep·n) entries of largest magnitude, ties to the lower index."""
    mask = np.zeros(kernel.size, bool)
    mask[np.argsort(-np.abs(kernel).ravel(), kind="stable")[: round(keep * kernel.size)]] = True
    return mask.reshape(kernel.shape)


# Of what five epochs take off the loss the share that is asked. Pruning only at the end reaches
# less in one of the cases; a draw in which it reaches more than `SHORT` is drawn again.
ENOUGH, SHORT = 0.9, 0.8


def _weights(case: Case, held: bool = True) -> list[np.ndarray]:
    """Kernel and bias of each layer in turn, in float64; pruned if the zeros are held."""
    pairs = []
    for i, kernel in enumerate(_kernels(case)):
        mask = magnitude_mask(kernel, case.options["keep"]) if held else True
        pairs += [kernel * mask, case.options[f"bias {i}"]]
    return [np.asarray(each, np.float64) for each in pairs]


def _layers(weights: list[np.ndarray], x: np.ndarray) -> list[np.ndarray]:
    """The inputs of each layer, relu between them, and the scores."""
    found = [np.asarray(x, np.float64)]
    for i in range(0, len(weights), 2):
        scores = found[-1] @ weights[i] + weights[i + 1]
        found.append(scores if i + 2 == len(weights) else np.maximum(scores, 0))
    return found


def _shares(scores: np.ndarray) -> np.ndarray:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


def cross_entropy(case: Case, weights: list[np.ndarray]) -> float:
    x, y = case.options["x"], case.options["y"]
    return float(-np.mean(np.log(_shares(_layers(weights, x)[-1])[np.arange(len(y)), y])))


def _gradients(weights: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The cross entropy's gradients, by the chain rule from the scores back."""
    inputs = _layers(weights, x)
    up = (_shares(inputs[-1]) - np.eye(inputs[-1].shape[1])[y]) / len(y)
    found: list[np.ndarray] = []
    for i in reversed(range(len(weights) // 2)):
        found = [inputs[i].T @ up, up.sum(axis=0), *found]
        up = (up @ weights[2 * i].T) * (inputs[i] > 0)
    return found


def tuned(case: Case, held: bool = True) -> list[np.ndarray]:
    """The weights after the fine-tuning that is asked; with all entries if none are held at 0."""
    x, y, weights = case.options["x"], case.options["y"], _weights(case, held)
    hold = [w != 0 for w in weights]
    m, v = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    for t, start in enumerate([*range(0, len(y), 32)] * 5, start=1):
        size = 0.003 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        grads = _gradients(weights, x[start : start + 32], y[start : start + 32])
        for i, g in enumerate(grads):
            m[i], v[i] = 0.9 * m[i] + 0.1 * g, 0.999 * v[i] + 0.001 * g * g
            weights[i] = (weights[i] - size * m[i] / (np.sqrt(v[i]) + 1e-7)) * hold[i]
    return weights


def pruned_last(case: Case) -> list[np.ndarray]:
    """Trained with all entries; those that were small in the beginning are zeroed at the end."""
    return [w * (cut != 0) for w, cut in zip(tuned(case, False), _weights(case), strict=True)]


def _zeros(masks: list[np.ndarray]) -> Arrays:
    return {f"zeros in kernel {i}": (~mask).astype(np.int64) for i, mask in enumerate(masks)}


def pruned(case: Case) -> dict[str, object]:
    masks = [magnitude_mask(k, case.options["keep"]) for k in _kernels(case)]
    words = {"kept entries": "tuned", "biases": "tuned", "loss": LOW, "returned": "the model"}
    return {**_zeros(masks), **words}


LOW, HIGH = "as low as after five epochs", "higher than after five epochs"
STILL = "as they were"


def _too_little(case: Case) -> Arrays:
    """Where pruning last falls short; there, too few steps and too small ones fall short, too."""
    cut, low = cross_entropy(case, _weights(case)), cross_entropy(case, tuned(case))
    short = cross_entropy(case, pruned_last(case)) > cut - SHORT * (cut - low)
    return {"loss": HIGH} if short else {}


def _another_rounding(case: Case) -> dict[str, object]:
    """The masks where keep·n is rounded down, up, or from one half on up."""
    answer: dict[str, object] = {}
    for i, kernel in enumerate(_kernels(case)):
        share, n = case.options["keep"] * kernel.size, kernel.size
        counts = {int(share), math.ceil(share), int(share + 0.5)} - {round(share)}
        masks = [magnitude_mask(kernel, count / n) for count in sorted(counts)]
        answer[f"zeros in kernel {i}"] = Either(*((~mask).astype(np.int64) for mask in masks))
    return answer


def _other_largest(case: Case) -> Arrays:
    kernels = tuned(case, held=False)[::2]
    return _zeros([magnitude_mask(kernel, case.options["keep"]) for kernel in kernels])


def _one_threshold(case: Case) -> Arrays:
    kernels = _kernels(case)
    if len(kernels) == 1:
        return {}
    together = np.concatenate([k.ravel() for k in kernels])
    mask = magnitude_mask(together, case.options["keep"])
    parts = np.split(mask, np.cumsum([k.size for k in kernels])[:-1])
    return _zeros([part.reshape(k.shape) for part, k in zip(parts, kernels, strict=True)])


def _as_if(change: Callable[[np.ndarray, float], np.ndarray]) -> Callable[[Case], Arrays]:
    return lambda case: _zeros([change(k, case.options["keep"]) for k in _kernels(case)])


def _wrong_end(case: Case) -> dict[str, object]:
    """As many of the smallest, or exactly what should have gone."""
    keep, answer = case.options["keep"], {}
    for i, kernel in enumerate(_kernels(case)):
        gone = magnitude_mask(kernel, 1 - keep), magnitude_mask(kernel, keep)
        answer[f"zeros in kernel {i}"] = Either(*(mask.astype(np.int64) for mask in gone))
    return answer


def _most_positive(kernel: np.ndarray, keep: float) -> np.ndarray:
    return magnitude_mask(kernel - kernel.min(), keep)


def _untouched(case: Case) -> dict[str, object]:
    """All was done to another model."""
    nothing = _zeros([np.ones(kernel.shape, bool) for kernel in _kernels(case)])
    return {**nothing, "returned": "something else"}


PRUNE = Exercise(
    id="prune_and_tune",
    cases=prune_cases,
    truth=pruned,
    parts={"value": 16},
    probe="pruning",
    hints=(
        "Take the kernels: the trainable variables with two axes. For each keep the round(keep·n) "
        "entries of largest magnitude; `np.argsort(-|kernel|)` gives their order.",
        "Set the others to zero. Then train on as usual, and after every optimizer step put the "
        "zeros back: Adam moves entries whose gradient is zero.",
        "Per step: gradients by a tape over all variables; `optimizer.apply_gradients`; then "
        "`kernel.assign(tf.where(mask, kernel, 0.0))` for every kernel. Return the model.",
    ),
    mistakes=(
        Mistake(
            "zeros lost",
            "After fine-tuning the pruned entries are no longer exactly `0.0`: the optimizer "
            "moved them. Put the zeros back after every step.",
            _as_if(lambda kernel, keep: np.ones(kernel.shape, bool)),
        ),
        Mistake(
            "wrong end",
            "You kept the smallest entries and pruned the largest.",
            _wrong_end,
        ),
        Mistake(
            "sign taken for size",
            "You kept the entries nearest to +∞. The largest in magnitude stay, of either sign.",
            _as_if(_most_positive),
        ),
        Mistake(
            "keep taken for the pruned share",
            "`keep` is the share that stays. You pruned that share.",
            _as_if(lambda kernel, keep: magnitude_mask(kernel, 1 - keep)),
        ),
        Mistake(
            "another rounding",
            "Of some kernel one entry too few or too many stays. Python's `round` takes the "
            "nearest whole number, and of two equally near ones the even one.",
            _another_rounding,
        ),
        Mistake(
            "one threshold for all layers",
            "Every kernel keeps its own share. One threshold for the whole model empties the "
            "layers with small weights.",
            _one_threshold,
        ),
        Mistake(
            "not tuned",
            "The entries that stay are as they were: train on after pruning.",
            lambda case: {"kept entries": STILL},
        ),
        Mistake(
            "pruned after training",
            "You trained first and pruned then: by that time other entries are the largest. The "
            "model comes as it is to be pruned; prune it, then tune.",
            _other_largest,
        ),
        Mistake(
            "kernels left out",
            "The entries that stay must learn in every kernel; some kernel is as it was.",
            lambda case: (
                {"kept entries": "tuned in some kernels"} if "kernel 1" in case.options else {}
            ),
        ),
        Mistake(
            "biases not tuned",
            "The biases have hardly moved, or not at all. They learn along with the kernels, by "
            "Adam at rate 0.003, in every batch of all 5 epochs.",
            lambda case: {"biases": STILL},
        ),
        Mistake(
            "tuned too little",
            "The loss is higher than it should be by now. Tune by Adam at rate 0.003, all 5 epochs "
            "and every batch, with the pruned entries at zero from the first step on.",
            _too_little,
        ),
        Mistake(
            "model not returned",
            "Return the model.",
            lambda case: {"returned": "nothing"},
        ),
        Mistake(
            "biases pruned",
            "Only kernels are pruned. Biases are few and each shifts a whole unit.",
            lambda case: {"biases": "pruned"},
        ),
        Mistake(  # last: what is said of the parts of it goes before
            "another model",
            "The model that you were given is as it was, and another comes back. Prune and tune "
            "this one, in place; a clone shares nothing with it.",
            _untouched,
        ),
    ),
    reread="A tenth of the weights",
    also="The pruned entries stay at zero by themselves when the mask multiplies the kernel inside "
    "the model; then the tape brings zeros there, and plain SGD needs no care at all.",
)

# --- newton_cg_step ---------------------------------------------------------------------------

BOWL = (
    "lambda x: tf.nn.l2_loss(x * tf.constant(np.sqrt(np.arange(1, x.shape[0] + 1)), x.dtype)) "
    "+ tf.square(tf.reduce_sum(x) - 3.0) / 2.0"
)
SMOOTH = "lambda x: tf.reduce_sum(tf.math.softplus(2.0 * x)) + tf.nn.l2_loss(x)"
LINE = "lambda x: 2 * tf.reduce_sum(x)"


def bowl(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of Σ i·xᵢ²/2 + (Σx − 3)²/2."""
    diagonal = np.arange(1, x.size + 1)
    return diagonal * x + x.sum() - 3, np.diag(diagonal) + np.ones((x.size, x.size))


def smooth(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of Σ log(1 + exp 2x) + |x|²/2."""
    s = 1 / (1 + np.exp(-2 * x))
    return 2 * s + x, np.diag(4 * s * (1 - s) + 1)


def line(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.full_like(x, 2.0), np.zeros((x.size, x.size))


DERIVATIVES = {BOWL: bowl, SMOOTH: smooth, LINE: line}


def newton_cases(rng: np.random.Generator) -> list[Case]:
    def case(
        name: str, f: str, x: np.ndarray, k: int, damping: float, part: str, modes: Modes = CALLED
    ) -> Case:
        inputs = {"f": Source(f), "x": x, "iterations": k, "damping": damping}
        ask = "memory" if part == "memory" else "value"
        return Case(name, inputs, part=part, modes=modes, options={"ask": ask})

    return [
        case("a bowl, 3 iterations", BOWL, normal(rng, (6,)), 3, 0.5, "value"),
        case("a smooth function, 2 iterations", SMOOTH, normal(rng, (2, 3)), 2, 0.3, "value",
             TRACED),
        case("more iterations than unknowns", BOWL, normal(rng, (2,), "float64"), 4, 0.1,
             "robust"),
        case("at the minimum", SMOOTH, _minimum(), 2, 0.1, "robust"),
        case("a linear function", LINE, normal(rng, (2, 2)), 2, 0.5, "robust"),
        case("a Hessian too large to form", SMOOTH, normal(rng, (60,)), 1, 0.1, "memory"),
        Case("against Adam", {}, part="robust", modes=CALLED, options={"ask": "adam"}),
    ]  # fmt: skip


def _minimum() -> np.ndarray:
    """Where `smooth` has its minimum, by Newton's method; the same for both entries."""
    x = np.zeros(2)
    for _ in range(50):
        gradient, hessian = smooth(x)
        x = x - np.linalg.solve(hessian, gradient)
    return x


def conjugate_gradients(
    matrix: np.ndarray, b: np.ndarray, iterations: int, conjugate: bool = True
) -> np.ndarray:
    """The iterate after so many steps for matrix·p = b from zero (Hestenes and Stiefel 1952); if
    not conjugate, that of steepest descent."""
    p, r = np.zeros_like(b), b.copy()
    direction, size = r.copy(), r @ r
    for _ in range(iterations):
        if size <= 1e-26 * max(1.0, b @ b):
            break
        image = matrix @ direction
        step = size / (direction @ image)
        p, r = p + step * direction, r - step * image
        size, last = r @ r, size
        direction = r + size / last * direction if conjugate else r.copy()
    return p


def newton(
    case: Case,
    *,
    sign: float = -1.0,
    damping: float | None = None,
    less: int = 0,
    conjugate: bool = True,
) -> Arrays:
    if case.options["ask"] == "adam":
        return {}
    x, k = case.arrays["x"], case.inputs["iterations"]
    gradient, hessian = DERIVATIVES[case.inputs["f"].text](x.ravel())
    damped = hessian + (case.inputs["damping"] if damping is None else damping) * np.eye(x.size)
    step = conjugate_gradients(damped, gradient, k - less, conjugate)
    return {"value": x + sign * step.reshape(x.shape)}


def newton_truth(case: Case) -> dict[str, object]:
    words = {"memory": {"forms the Hessian": False}, "adam": {"lower loss than Adam": True}}
    return {**newton(case), **words.get(case.options["ask"], {})}


def _gradient_step(case: Case) -> Arrays:
    if case.options["ask"] == "adam":
        return {}
    gradient, _ = DERIVATIVES[case.inputs["f"].text](case.arrays["x"].ravel())
    return {"value": case.arrays["x"] - gradient.reshape(case.arrays["x"].shape)}


def _solved(case: Case) -> dict[str, object]:
    """The whole of the linear system, by whatever way."""
    if case.options["ask"] == "adam":
        return {}
    x = case.arrays["x"]
    gradient, hessian = DERIVATIVES[case.inputs["f"].text](x.ravel())
    step = np.linalg.solve(hessian + case.inputs["damping"] * np.eye(x.size), gradient)
    return {"value": x - step.reshape(x.shape), "forms the Hessian": Either(True, False)}


def _step_alone(case: Case) -> dict[str, object]:
    if case.options["ask"] == "adam":
        return {}
    step = case.arrays["x"] - newton(case)["value"]
    return {"value": Either(step, -step)}


def _undamped(case: Case) -> Arrays:
    return {} if case.inputs.get("f") == Source(LINE) else newton(case, damping=0.0)


NEWTON = Exercise(
    id="newton_cg_step",
    cases=newton_cases,
    truth=newton_truth,
    parts={"value": 7, "robust": 5, "memory": 4},
    probe="newton",
    tolerance=25.0,
    hints=(
        "Solve (H + damping·I) p = gradient by conjugate gradients, starting at p = 0. All it ever "
        "asks of H is a product H·d, and that is the gradient of gradient·d.",
        "Conjugate gradients: r = g, d = r; then a = r·r / (d·Ad); p += a·d; r −= a·Ad; "
        "d = r + (new r·r / old r·r)·d. Stop, or divide safely, once r·r is zero.",
        "`hvp(d)`: a tape inside a tape; the inner gives `g(x)`, the outer the gradient of "
        '`tf.reduce_sum(g · tf.stop_gradient(d))`, with `unconnected_gradients="zero"`. Use '
        "`tf.math.divide_no_nan` for both quotients, and return x − p.",
    ),
    mistakes=(
        Mistake(
            "uphill",
            "The step goes the wrong way: a Newton step is x − p.",
            lambda case: newton(case, sign=1.0),
        ),
        Mistake(
            "gradient step",
            "This is x − gradient. The curvature is not used at all.",
            _gradient_step,
        ),
        Mistake(
            "damping lost",
            "This solves with H alone. Every product needs damping·d on top.",
            _undamped,
        ),
        Mistake(
            "one iteration short",
            "This is the iterate before the last one: the loop runs `iterations` times.",
            lambda case: newton(case, less=1),
        ),
        Mistake(
            "one iteration too many",
            "This is the iterate after the last one: the loop runs `iterations` times.",
            lambda case: newton(case, less=-1),
        ),
        Mistake(
            "directions not conjugate",
            "Each step goes along the residual: that is steepest descent. The next direction is "
            "the residual plus (new r·r / old r·r) times the last direction.",
            lambda case: newton(case, conjugate=False),
        ),
        Mistake(
            "x forgotten",
            "This is the step p itself. Return the new x, which is x − p.",
            _step_alone,
        ),
        Mistake(
            "nan",
            "Once the residual is zero, conjugate gradients divides 0 by 0. Use "
            "`tf.math.divide_no_nan`, or stop there.",
            pattern="nan",
        ),
        Mistake(
            "forms the Hessian",
            "Somewhere a tensor of n² entries appears. A product with the Hessian needs none: "
            "differentiate gradient·d.",
            lambda case: {"forms the Hessian": True},
        ),
        Mistake(
            "solved to the end",
            "This solves (H + damping·I) p = gradient exactly. Asked is the iterate of conjugate "
            "gradients after `iterations` steps, by products with H only.",
            _solved,
        ),
        Mistake(
            "second derivative of a line",
            "A linear function has no second derivative: the tape gives None where zeros are "
            'meant. Ask with `unconnected_gradients="zero"`.',
            raises="None values not supported|NoneType|NoneTensorSpec",
        ),
    ),
    reread="A second-order step",
    also="The Hessian-vector product may come from `tf.autodiff.ForwardAccumulator`: forward mode "
    "over the gradient, one pass more and no second tape.",
)

# --- predictors -------------------------------------------------------------------------------

# Held-out accuracy of the solutions over seeds 0 to 19: worst, median, best of 360 digits.
# Measured with `.venv/bin/python solutions/10_capstone/answers.py` (TensorFlow 2.21, CPU).
MEASURED = {
    "predict_binary": (0.8972, 0.9083, 0.9194),
    "predict_attention": (0.8972, 0.9167, 0.9361),
    "predict_pruned": (0.8944, 0.9028, 0.9139),
}
SLACK = 0.03


@lru_cache(maxsize=1)
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Images (1797, 8, 8) in [0, 1] and their labels."""
    with np.load(Path(__file__).resolve().parents[2] / "data" / "digits.npz") as file:
        return (file["images"] / 16).astype(np.float32), file["labels"].astype(np.int64)


def nearest_mean() -> float:
    """Held-out accuracy of taking the digit whose mean training image is nearest."""
    images, labels = digits()
    flat, train = images.reshape(len(images), -1).astype(np.float64), slice(None, -HELD_OUT)
    means = np.stack([flat[train][labels[train] == k].mean(axis=0) for k in range(10)])
    off = ((flat[-HELD_OUT:, None] - means) ** 2).sum(axis=-1)
    return float(np.mean(off.argmin(axis=1) == labels[-HELD_OUT:]))


def one_digit() -> float:
    """Held-out accuracy of always saying the digit that is most frequent in training."""
    _, labels = digits()
    most = np.bincount(labels[:-HELD_OUT]).argmax()
    return float(np.mean(labels[-HELD_OUT:] == most))


BESIDE = f"always one digit {one_digit():.1%}, nearest mean image {nearest_mean():.1%}"


def held_out(rng: np.random.Generator) -> list[Case]:
    """The held-out digits in an order of their own, every pixel a little off."""
    images, labels = (part[-HELD_OUT:] for part in digits())
    order = rng.permutation(HELD_OUT)
    # Less than half a grey level (1/32): no threshold between two levels is crossed.
    moved = images[order] + rng.uniform(-0.02, 0.02, images.shape).astype(np.float32)
    inputs = {"images": np.clip(moved, 0, 1).astype(np.float32)}
    options = {"labels": labels[order]}
    return [Case("the 360 held-out digits", inputs, part="value", modes=(EAGER,),
                 wants=("value",), options=options)]  # fmt: skip


# How the probe calls the shape of what a predictor returns.
LABELS, TABLE, OTHER_FORM = "one label per image", "a row per image", "another shape"
COLUMN, PER_DIGIT, NO_LABELS = "a column", "one number per digit", "no labels"


def predictor(id: str, reread: str, hints: tuple[str, ...], weight: float, also: str) -> Exercise:
    floor = MEASURED[id][0] - SLACK

    def cases(rng: np.random.Generator) -> list[Case]:
        # The labels are the truth: they stay out of what is sent to the learner's code.
        case = held_out(rng)[0]
        return [Case(case.name, case.inputs, None, "value", (EAGER,), ("value",))]

    return Exercise(
        id=id,
        cases=cases,
        truth=lambda case: {"value": Accuracy(labels_of(case), floor, BESIDE), "form": LABELS},
        parts={"value": weight},
        probe="labels",
        hints=hints,
        mistakes=(
            Mistake(
                "scores for labels",
                "One label per image is asked, of shape (n,). You return a table, with several "
                "numbers for each image: of scores `tf.argmax(scores, axis=1)` makes labels.",
                lambda case: {"form": TABLE},
            ),
            Mistake(
                "a column of labels",
                "One label per image is asked, of shape (n,). You return a column, of shape "
                "(n, 1): take its only entry, `[:, 0]`.",
                lambda case: {"form": COLUMN},
            ),
            Mistake(
                "labels along the wrong axis",
                "Ten numbers come back, whatever the number of images: `tf.argmax` runs over the "
                "images. Without `axis=1` it takes axis 0.",
                lambda case: {"form": PER_DIGIT},
            ),
            Mistake(
                "no labels",
                "Most of these are no labels: a label is a whole number from 0 to 9. "
                "`tf.argmax(scores, axis=1)` gives the place of the largest score, and "
                "`tf.reduce_max` the score itself.",
                lambda case: {"form": NO_LABELS},
            ),
            Mistake(
                "not one label for each image",
                "One label per image is asked, of shape (n,) for n images. What you return has "
                "another shape, given below, and is no table of scores, either.",
                lambda case: {"form": OTHER_FORM},
            ),
        ),
        reread=reread,
        also=also,
    )


def labels_of(case: Case) -> np.ndarray:
    """The label of each image of a case: that of the held-out digit it was made of."""
    images, labels = (part[-HELD_OUT:] for part in digits())
    known = dict(zip(_levels(images), labels, strict=True))
    return np.array([known[levels] for levels in _levels(case.inputs["images"])])


def _levels(images: np.ndarray) -> list[bytes]:
    """The grey levels of each image, 0 to 16."""
    return [image.tobytes() for image in np.round(16 * images).astype(np.uint8)]


BINARY = predictor(
    "predict_binary",
    "A network of bits",
    (
        "`thermometer(images)` gives (n, 320) numbers around zero; two binary layers make ten "
        "scores of them. `fit(loss, variables, epochs)` trains.",
        "Between the layers the numbers are large: divide by the square root of the number of "
        "inputs times mean|kernel| (stopped), or nothing lies inside the window |x| ≤ 1.",
        "`scores = binary(binary(thermometer(images), k1) / size + b, k2)`, 128 hidden units, 20 "
        "epochs at the usual rate; then `tf.argmax(scores, axis=1)`.",
    ),
    10,
    "A wider hidden layer (192 units) passes as well, and labels may come as a NumPy array.",
)
PATCHES = predictor(
    "predict_attention",
    "Attention that decides",
    (
        "Three pieces: features per patch, probabilities per patch, scores from the mean of the "
        "selected features. In training the noise comes in; for predictions it is 0.5.",
        "Add to the loss a price on attention, such as 10·(mean(probs) − 0.4)², and let the last "
        "layers be smooth (`tanh`): where no patch is selected, `relu` would be dead.",
        "`features = relu(einsum('bpi,pij->bpj', cut(images), w) + b)`, probs = sigmoid(two dense "
        "layers of the image), scores = two dense layers of 4·selected mean; 30 epochs.",
    ),
    10,
    "For predictions the noise is 0.5: a patch is selected where its probability is above 1/2. A "
    "plain list of labels is an answer, too.",
)
SPARSE = predictor(
    "predict_pruned",
    "A tenth of the weights",
    (
        "Train a dense network, prune each kernel to a tenth, train on with the zeros held, and "
        "predict with what is left.",
        "With `tf.Variable`s of your own a mask that multiplies the kernel inside the model holds "
        "the zeros: the gradient behind it is masked as well.",
        "`fit` once, with 0.001·Σ kernel² in the loss and 256 units; masks from the magnitudes; "
        "`fit` again with kernel·mask in the model, rate 0.003; `tf.argmax(scores, axis=1)`.",
    ),
    10,
    "A Keras model works too: set the pruned entries of its kernels to zero after every epoch.",
)

EXERCISES = [DENSE, BINARY, ATTENTION, PATCHES, DOMAIN, PRUNE, SPARSE, NEWTON]
