"""What is true in chapter 07: Adam by hand, frozen entries, and what each mistake would give.

The truths are small optimizers in NumPy float64, one step after the other. Keras and v1 Adam are
never asked. Formulas: Kingma and Ba, "Adam" (2015); Loshchilov and Hutter, "AdamW" (2019);
Dozat, "Nadam" (2016); Reddi et al., "amsgrad" (2018), each in the form that Keras 3 documents.
"""

import math

import numpy as np

from grader import draw
from grader.contract import Case, Either, Entry, Exercise, Mistake, table

# Exact in binary: a learner's tf.cast(beta, tf.float64) then loses nothing.
BETA1, BETA2, EPS = 0.875, 0.984375, 2.0**-20
LR = 0.125


def _lengthened(lr, beta1, beta2, t):
    """Adam's step size with both bias corrections in it."""
    return lr * np.sqrt(1 - beta2**t) / (1 - beta1**t)


# adam_step ------------------------------------------------------------------------------------


def _moments(case):
    a, p = case.arrays, case.inputs
    m = p["beta1"] * a["m"] + (1 - p["beta1"]) * a["g"]
    v = p["beta2"] * a["v"] + (1 - p["beta2"]) * a["g"] ** 2
    return a["w"], m, v


def _three(w, m, v):
    return {"value[0]": w, "value[1]": m, "value[2]": v}


def adam_truth(case):
    p = case.inputs
    w, m, v = _moments(case)
    step = _lengthened(p["lr"], p["beta1"], p["beta2"], p["t"])
    return _three(w - step * m / (np.sqrt(v) + p["eps"]), m, v)


def no_correction(case):
    p = case.inputs
    w, m, v = _moments(case)
    return {"value[0]": w - p["lr"] * m / (np.sqrt(v) + p["eps"])}


def eps_inside(case):
    """eps under the root, in both spellings people use."""
    p = case.inputs
    w, m, v = _moments(case)
    step = _lengthened(p["lr"], p["beta1"], p["beta2"], p["t"])
    mhat, vhat = m / (1 - p["beta1"] ** p["t"]), v / (1 - p["beta2"] ** p["t"])
    ours = w - step * m / np.sqrt(v + p["eps"])
    return {"value[0]": Either(ours, w - p["lr"] * mhat / np.sqrt(vhat + p["eps"]))}


def eps_on_corrected(case):
    p = case.inputs
    w, m, v = _moments(case)
    mhat, vhat = m / (1 - p["beta1"] ** p["t"]), v / (1 - p["beta2"] ** p["t"])
    return {"value[0]": w - p["lr"] * mhat / (np.sqrt(vhat) + p["eps"])}


def old_moments(case):
    p, a = case.inputs, case.arrays
    step = _lengthened(p["lr"], p["beta1"], p["beta2"], p["t"])
    return {"value[0]": a["w"] - step * a["m"] / (np.sqrt(a["v"]) + p["eps"])}


def square_forgotten(case):
    p, a = case.inputs, case.arrays
    v = p["beta2"] * a["v"] + (1 - p["beta2"]) * a["g"]
    return {"value[2]": v}


# Tracing is what takes time: what differs in its input alone is called directly.
BOTH, CALLED, TRACED = ("eager", "outside"), ("eager",), ("outside",)


# So large against v that every place people put eps in gives a step of its own.
LARGE = 0.5


def weight_alone(wrong):
    """These mistakes, with both moments right."""
    return lambda case: {**adam_truth(case), **wrong(case)}


def one_correction(case):
    """Only m or only v divided by its correction."""
    p = case.inputs
    w, m, v = _moments(case)
    mhat, vhat = m / (1 - p["beta1"] ** p["t"]), v / (1 - p["beta2"] ** p["t"])
    steps = [top / (np.sqrt(below) + p["eps"]) for top, below in ((mhat, v), (m, vhat))]
    return {"value[0]": Either(*(w - p["lr"] * step for step in steps))}


def corrected_moments(case):
    p = case.inputs
    _, m, v = _moments(case)
    return {"value[1]": m / (1 - p["beta1"] ** p["t"]), "value[2]": v / (1 - p["beta2"] ** p["t"])}


def exchanged_moments(case):
    _, m, v = _moments(case)
    return {"value[1]": v, "value[2]": m}


def uphill(case):
    return {"value[0]": 2 * case.arrays["w"] - adam_truth(case)["value[0]"]}


def _adam_case(
    rng, name, shape, t, eps, dtype="float32", part=None, betas=(0.9, 0.999), modes=CALLED
):
    inputs = {
        "w": draw.upstream(rng, shape, dtype),
        "g": draw.upstream(rng, shape, dtype),
        "m": draw.normal(rng, shape, dtype, 0.3),
        "v": draw.uniform(rng, 0.05, 1.5, shape, dtype),
        "t": t,
        "lr": 0.5 if eps == LARGE else 0.0625,
        "beta1": betas[0],
        "beta2": betas[1],
        "eps": eps,
    }
    if eps == LARGE:  # far above sqrt(v), with steps that are seen beside w
        inputs |= {"m": draw.upstream(rng, shape, dtype)}
        inputs |= {"v": draw.uniform(rng, 0.01, 0.04, shape, dtype)}
    if t == 1:
        inputs |= {"m": np.zeros(shape, dtype), "v": np.zeros(shape, dtype)}
    return Case(name, inputs, part=part, modes=modes, wants=("value",))


def adam_cases(rng):
    exact = (BETA1, BETA2)
    return [
        _adam_case(rng, "the first step", (5,), 1, 1e-7),
        _adam_case(rng, "step 7", (5,), 7, 1e-7, modes=BOTH),
        _adam_case(rng, "step 4 with a large eps", (4,), 4, LARGE),
        _adam_case(rng, "a scalar", (), 3, LARGE, part="robust"),
        _adam_case(rng, "a batch of shape (3, 2)", (3, 2), 9, 1e-7, part="robust"),
        _adam_case(rng, "float64", (4,), 5, LARGE, "float64", "robust", exact, TRACED),
    ]


# drift ----------------------------------------------------------------------------------------


def _drifted(case, m_factor, v_factor):
    p, a = case.inputs, case.arrays
    step = _lengthened(p["lr"], p["beta1"], p["beta2"], p["t"])
    return -step * m_factor * a["m"] / (np.sqrt(v_factor * a["v"]) + p["eps"])


def drift_truth(case):
    p = case.inputs
    return {"value": _drifted(case, p["beta1"], p["beta2"])}


def drift_uncorrected(case):
    p, a = case.inputs, case.arrays
    below = np.sqrt(p["beta2"] * a["v"]) + p["eps"]
    return {"value": -p["lr"] * p["beta1"] * a["m"] / below}


def drift_on_corrected(case):
    p, a = case.inputs, case.arrays
    mhat = p["beta1"] * a["m"] / (1 - p["beta1"] ** p["t"])
    vhat = p["beta2"] * a["v"] / (1 - p["beta2"] ** p["t"])
    return {"value": -p["lr"] * mhat / (np.sqrt(vhat) + p["eps"])}


def _drift_case(
    rng, name, shape, t, eps, dtype="float32", part="value", betas=(0.9, 0.999), modes=CALLED
):
    inputs = {
        "m": draw.upstream(rng, shape, dtype),
        "v": draw.uniform(rng, 0.1, 2.0, shape, dtype),
        "t": t,
        "lr": 0.0625,
        "beta1": betas[0],
        "beta2": betas[1],
        "eps": eps,
    }
    return Case(name, inputs, part=part, modes=modes, wants=("value",))


def drift_cases(rng):
    exact = (BETA1, BETA2)
    return [
        _drift_case(rng, "step 2", (5,), 2, 1e-7, modes=BOTH),
        _drift_case(rng, "step 12 with a large eps", (5,), 12, 0.05),
        _drift_case(rng, "a scalar", (), 4, 1e-7, part="robust"),
        _drift_case(rng, "a batch of shape (2, 3)", (2, 3), 40, 1e-7, part="robust"),
        _drift_case(rng, "float64", (3,), 6, 2.0**-5, "float64", "robust", exact, TRACED),
    ]


# freeze_by_slots ------------------------------------------------------------------------------

MOVES, MOVED = "moves of frozen entries", "frozen entries that moved"


def by_slots(case, *, clear=("m",), restore=("m", "v"), everywhere=False, weights_back=False):
    """v1 Adam over the phases of a case, with the frozen entries' moments treated as told."""
    a, p = case.arrays, case.options
    w, t = a["weights"].copy(), 0
    slots = {"m": np.zeros_like(w), "v": np.zeros_like(w)}
    weights, moves = [], []
    for mask, gradients in zip(a["masks"] != 0, a["gradients"], strict=True):
        saved, start = {k: s.copy() for k, s in slots.items()}, w.copy()
        back = restore if t else ()  # before the first step there are no slots
        for name in clear:
            slots[name] = np.where(mask, slots[name], 0.0)
        for gradient in gradients:
            t += 1
            g = np.where(mask, gradient, 0.0)
            slots["m"] = p["beta1"] * slots["m"] + (1 - p["beta1"]) * g
            slots["v"] = p["beta2"] * slots["v"] + (1 - p["beta2"]) * g**2
            step = _lengthened(p["lr"], p["beta1"], p["beta2"], t)
            w = w - step * slots["m"] / (np.sqrt(slots["v"]) + p["eps"])
        for name in back:
            old = saved[name]
            slots[name] = old if everywhere else np.where(mask, slots[name], old)
        moves.append(np.where(mask, 0.0, w - start))
        w = np.where(mask, w, start) if weights_back and back else w
        weights.append(w)
    return {"weights": np.stack(weights), MOVES: np.stack(moves)}


def slots_truth(case):
    run = by_slots(case)
    frozen = {MOVES: np.zeros_like(run[MOVES]), MOVED: 0}
    thawed = {"weights": run["weights"], "moments not put back": 0}
    return {"frozen": frozen, "thawed": thawed, "robust": frozen | thawed}[case.part]


def _slots_mistake(keys=("weights", MOVES), **how):
    def answer(case):
        run = by_slots(case, **how)
        return {key: run[key] for key in keys if key in slots_truth(case)}

    return answer


def _slots_case(rng, name, shape, masks, steps, part, dtype="float32", kind="bool"):
    masks = np.asarray(masks, bool).reshape(len(masks), *shape)
    inputs = {
        "weights": draw.upstream(rng, shape, dtype),
        "gradients": draw.upstream(rng, (len(masks), steps, *shape), dtype),
        "masks": masks if kind == "bool" else masks.astype(dtype),
    }
    options = {"lr": LR, "beta1": BETA1, "beta2": BETA2, "eps": EPS}
    return Case(name, inputs, part=part, modes=("eager",), options=options)


MASKS = [[0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]]


def slots_cases(rng):
    one = [[1], [0], [1]]
    many = [[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 1], [1, 1, 1, 1, 1, 1]]
    return [
        _slots_case(rng, "three changing masks", (4,), MASKS, 2, "frozen"),
        _slots_case(rng, "three masks, then all thawed", (4,), MASKS, 2, "thawed"),
        _slots_case(rng, "a scalar", (), one, 1, "robust", kind="float"),
        _slots_case(rng, "shape (2, 3), masks of 0 and 1", (2, 3), many, 3, "robust", kind="float"),
        _slots_case(rng, "float64", (4,), MASKS[:3], 1, "robust", "float64"),
    ]


# frozen_step ----------------------------------------------------------------------------------

SLOTS_MOVED = "slots of frozen entries that moved"


class Optimizer:
    """A Keras 3 optimizer on one variable, in float64: Adam, AdamW, amsgrad, Nadam, clipnorm."""

    def __init__(self, options, w):
        self.o, self.t, self.product = options, 0, 1.0
        self.w = w.copy()
        self.m, self.v, self.hat = (np.zeros_like(w) for _ in range(3))

    def step(self, g):
        """One step; weight decay comes first."""
        o, self.t = self.o, self.t + 1
        if "weight_decay" in o:
            self.w = self.w - self.w * o["weight_decay"] * LR
        if "clipnorm" in o:
            g = g * min(1.0, o["clipnorm"] / np.linalg.norm(g))
        self.m = self.m + (g - self.m) * (1 - BETA1)
        self.v = self.v + (g**2 - self.v) * (1 - BETA2)
        self.hat = np.maximum(self.hat, self.v)
        self.w = self.w - (self._nadam(g) if o["kind"] == "Nadam" else self._adam())

    def _adam(self):
        v = self.hat if self.o.get("amsgrad") else self.v
        return _lengthened(LR, BETA1, BETA2, self.t) * self.m / (np.sqrt(v) + EPS)

    def _nadam(self, g):
        now, then = (BETA1 * (1 - 0.5 * 0.96**t) for t in (self.t, self.t + 1))
        self.product *= now
        ahead = then * self.m / (1 - self.product * then) + (1 - now) * g / (1 - self.product)
        return LR * ahead / (np.sqrt(self.v / (1 - BETA2**self.t)) + EPS)

    def select(self, mask, old, names):
        """Puts the frozen entries of these arrays back."""
        for name in names:
            setattr(self, name, np.where(mask, getattr(self, name), old[name]))


ALL = ("w", "m", "v", "hat")


def keras_run(case, *, masked=False, clear=(), keep=ALL):
    """The steps of a case; what is masked, cleared before and put back after is told."""
    a = case.arrays
    optimizer = Optimizer(case.options, a["weights"])
    weights, moves = [], []
    for mask, gradient in zip(a["masks"] != 0, a["gradients"], strict=True):
        old = {name: getattr(optimizer, name) for name in ALL}
        for name in clear:
            setattr(optimizer, name, np.where(mask, getattr(optimizer, name), 0.0))
        optimizer.step(np.where(mask, gradient, 0.0) if masked else gradient)
        optimizer.select(mask, old, keep)
        weights.append(optimizer.w)
        moves.append(np.where(mask, 0.0, optimizer.w - old["w"]))
    return {"weights": np.stack(weights), MOVES: np.stack(moves)}


def frozen_truth(case):
    run = keras_run(case)
    zeros = {MOVES: np.zeros_like(run[MOVES]), MOVED: 0, SLOTS_MOVED: 0}
    return {"weights": run["weights"], **zeros, "steps counted": len(run["weights"])}


def _frozen_mistake(*hows):
    def answer(case):
        runs = [keras_run(case, **how) for how in hows]
        return {key: Either(*(run[key] for run in runs)) for key in ("weights", MOVES)}

    return answer


def _frozen_case(rng, name, shape, masks, options, part, **how):
    dtype, kind = how.get("dtype", "float32"), how.get("kind", "bool")
    masks = np.asarray(masks, bool).reshape(len(masks), *shape)
    gradients = draw.upstream(rng, (len(masks), *shape), dtype)
    if "clipnorm" in options:  # the norm is taken over what moves
        gradients = (gradients * masks).astype(dtype)
    inputs = {
        "weights": draw.upstream(rng, shape, dtype),
        "gradients": gradients,
        "masks": masks if kind == "bool" else masks.astype(dtype),
    }
    settings = {"learning_rate": LR, "beta_1": BETA1, "beta_2": BETA2, "epsilon": EPS}
    settings |= {k: v for k, v in options.items() if k != "kind"}
    modes = how.get("modes", CALLED)
    data = {**options, "settings": settings, "others": how.get("others", 0)}
    return Case(name, inputs, part=part, modes=modes, options=data)


def _inverted(case):
    """Active and frozen exchanged; with the slots, or the weights alone."""
    flipped = {**case.inputs, "masks": case.inputs["masks"] == 0}
    swapped = Case(case.name, flipped, part=case.part, options=case.options)
    return [keras_run(swapped, keep=keep)["weights"] for keep in (ALL, ("w",))]


def _counted(case):
    """The counter where it is restored as if it were an entry of the (scalar) weight."""
    return int(sum(case.arrays["masks"] != 0)) if case.arrays["weights"].ndim == 0 else _steps(case)


def _steps(case):
    return len(case.arrays["masks"])


# Two entries move, rest and move again, one rests twice; each step costs 10 ms.
STEPS = [[1, 1, 1, 1], [0, 1, 0, 0], [1, 1, 0, 1]]


def frozen_cases(rng):
    def four(name, options, part, **how):
        return _frozen_case(rng, name, (4,), STEPS, options, part, **how)

    adam, adamw = {"kind": "Adam"}, {"kind": "AdamW", "weight_decay": 0.25}
    six = [[1] * 6, [1, 0, 1, 0, 0, 1], [0, 1, 1, 0, 1, 1], [1] * 6]
    scalar = [[1], [0], [0], [1]]
    return [
        four("Adam", adam, "value", modes=BOTH),
        four("AdamW with amsgrad", {**adamw, "amsgrad": True}, "variants", modes=TRACED),
        four("Nadam with clipnorm", {"kind": "Nadam", "clipnorm": 0.5}, "variants"),
        _frozen_case(rng, "a scalar in float64", (), scalar, adamw, "robust", dtype="float64"),
        _frozen_case(rng, "shape (2, 3), a mask of 0 and 1", (2, 3), six, adamw, "robust",
                     kind="float", others=1),
    ]  # fmt: skip


# update_subset --------------------------------------------------------------------------------

RESTING = "variables that should rest and moved"


def _chosen(name, names):
    return name in {n.removesuffix(":0") for n in names}


def _stripped(name, names):
    return name.rstrip(":0") in {n.rstrip(":0") for n in names}


def subset_run(case, chosen=_chosen, zeros=False, alone=False, back=False):
    """Adam or AdamW on several variables; `zeros` feeds zero gradients to those not chosen, `back`
    lets them step and puts the weights back, `alone` steps the optimizer once for each variable."""
    a, o, count = case.arrays, case.options, 0
    states = {name: Optimizer(o, a[name]) for name in o["order"]}
    history = {name: [] for name in states}
    for t, names in enumerate(o["names"]):
        start = count
        for name, state in states.items():
            picked, old = chosen(name, names), state.w
            if picked or zeros or back:
                state.t = count if alone else start  # the counter is the optimizer's
                gradient = a[f"{name} gradients"][t]
                state.step(gradient if picked or back else np.zeros_like(gradient))
                count = state.t
            state.w = old if back and not picked else state.w
            history[name].append(state.w)
    return {f"variable {name}": np.stack(steps) for name, steps in history.items()}


def subset_as_written(case):
    """Names compared as they are: a `tf.Variable` has ':0' at its end, a keras variable has not."""
    end = "" if case.options["flavour"] == "keras" else ":0"
    runs = [subset_run(case, lambda name, names: name + end in names, alone=alone)
            for alone in (False, True)]  # fmt: skip
    return {key: Either(*(run[key] for run in runs)) for key in runs[0]}


def subset_truth(case):
    return {**subset_run(case), RESTING: 0}


def _subset_case(rng, name, shapes, names, options, part, flavour="tf", dtype="float32"):
    inputs = {}
    for variable, shape in shapes.items():
        inputs[variable] = draw.upstream(rng, shape, dtype)
        inputs[f"{variable} gradients"] = draw.upstream(rng, (len(names), *shape), dtype)
    settings = {"learning_rate": LR, "beta_1": BETA1, "beta_2": BETA2, "epsilon": EPS}
    settings |= {k: v for k, v in options.items() if k != "kind"}
    data = {**options, "order": list(shapes), "names": names, "settings": settings}
    data["flavour"] = flavour
    return Case(name, inputs, part=part, modes=("eager",), options=data)


def subset_cases(rng):
    shapes = {"kernel_1": (2, 2), "bias": (2,), "kernel_10": (2, 2)}
    turns = [["kernel_1", "bias"], ["bias"], ["bias:0", "kernel_10"], ["kernel_1:0"]]
    adam, adamw = {"kind": "Adam"}, {"kind": "AdamW", "weight_decay": 0.25}
    keras_turns = [["bias"], ["kernel", "bias"], ["kernel:0"]]
    layer = {"kernel": (3, 2), "bias": (2,)}
    scalars = {"gain": (), "offset": (2,)}
    return [
        _subset_case(rng, "Adam, four steps", shapes, turns, adam, "value"),
        _subset_case(rng, "AdamW, four steps", shapes, turns, adamw, "value"),
        _subset_case(rng, "keras variables", layer, keras_turns, adamw, "robust", "keras"),
        _subset_case(rng, "float64, a scalar among them", scalars, [["offset"], ["gain"]], adam,
                     "robust", dtype="float64"),
    ]  # fmt: skip


# thaw_step_size -------------------------------------------------------------------------------


def _thaw(case, t):
    p = case.inputs
    lengthened = _lengthened(p["lr"], p["beta1"], p["beta2"], t)
    return float(lengthened * (1 - p["beta1"]) / np.sqrt(1 - p["beta2"]))


def thaw_truth(case):
    return {"value": _thaw(case, case.inputs["t"] + 1)}


def uncorrected(case):
    p = case.inputs
    return {"value": float(p["lr"] * (1 - p["beta1"]) / np.sqrt(1 - p["beta2"]))}


def thaw_cases(rng):
    def case(name, t, lr, beta1, beta2, part="value"):
        inputs = {"t": t, "lr": lr, "beta1": beta1, "beta2": beta2}
        return Case(name, inputs, part=part, modes=("eager",), wants=("value",))

    late = int(rng.integers(20, 60))
    return [
        case("thawed after 10 steps", 10, 0.1, 0.9, 0.999),
        case(f"thawed after {late} steps", late, 0.02, 0.9, 0.999),
        case("free from the start", 0, 0.1, 0.9, 0.999, "robust"),
        case("after 5000 steps", 5000, 0.1, 0.9, 0.999, "robust"),
        case("other betas", 7, 0.25, 0.75, 0.9, "robust"),
    ]


# magnitude_mask -------------------------------------------------------------------------------


def _largest(size, count, order):
    mask = np.zeros(size, bool)
    mask[order[:count]] = True
    return mask


def _mask(case, key, count=None):
    w, keep = case.arrays["weights"], case.inputs["keep"]
    count = round(keep * w.size) if count is None else count
    order = np.argsort(key(w).ravel(), kind="stable")
    return {"value": _largest(w.size, count, order).reshape(w.shape)}


def mask_truth(case):
    return {**_mask(case, lambda w: -np.abs(w)), "dtype": "bool"}


def by_threshold(case):
    """Everything that is at least as large as the last one kept: ties all stay."""
    w, keep = np.abs(case.arrays["weights"]), case.inputs["keep"]
    count = round(keep * w.size)
    return {"value": w >= np.sort(w.ravel())[::-1][count - 1]} if count else {}


def above_threshold(case):
    w, keep = np.abs(case.arrays["weights"]), case.inputs["keep"]
    count = round(keep * w.size)
    return {"value": w > np.sort(w.ravel())[::-1][count]} if count < w.size else {}


def ties(case):
    """Ties kept all, dropped all, or given to the higher index."""
    w = case.arrays["weights"]
    later = np.lexsort((-np.arange(w.size), -np.abs(w).ravel()))
    count = round(case.inputs["keep"] * w.size)
    last = {"value": _largest(w.size, count, later).reshape(w.shape)}
    given = [by_threshold(case), above_threshold(case), last]
    return {"value": Either(*(g["value"] for g in given if g))}


def pruned_fraction(case):
    """Keeps 1 − keep of the entries instead of keep."""
    w, keep = case.arrays["weights"], case.inputs["keep"]
    return _mask(case, lambda w: -np.abs(w), round((1 - keep) * w.size))


def another_rounding(case):
    """keep · n rounded down, up, or from one half on up, where that is another count."""
    share = case.inputs["keep"] * case.arrays["weights"].size
    counts = {int(share), math.ceil(share), int(share + 0.5)} - {round(share)}
    given = [_mask(case, lambda w: -np.abs(w), count)["value"] for count in sorted(counts)]
    return {"value": Either(*given)} if given else {}


def _mask_case(rng, name, shape, keep, part, dtype="float32", tied=False):
    weights = draw.upstream(rng, shape, dtype)
    if tied:  # magnitudes from a small set, so that the border runs through equals
        weights = (np.sign(weights) * rng.permutation([1, 2, 2, 2, 2, 2, 3, 3])).astype(dtype)
    inputs = {"weights": weights, "keep": keep}
    return Case(name, inputs, part=part, modes=CALLED, wants=("value",))


def mask_cases(rng):
    # keep · n: 2.7 goes up, 12.4 down, and 4.5 to the even neighbour.
    return [
        _mask_case(rng, "nine weights, keep 0.3", (9,), 0.3, "value"),
        _mask_case(rng, "eight weights with ties, keep 0.5", (8,), 0.5, "value", tied=True),
        _mask_case(rng, "a kernel of shape (4, 5), keep 0.62", (4, 5), 0.62, "value"),
        _mask_case(rng, "a scalar, kept", (), 1.0, "robust"),
        _mask_case(rng, "nothing kept", (3,), 0.0, "robust"),
        _mask_case(rng, "float64, shape (2, 3, 3)", (2, 3, 3), 0.25, "robust", "float64"),
    ]


MOMENTUM = "It steps by a moving average of gradients, which a zero gradient leaves standing."
NO_MEMORY = "Its step is the current gradient times a number: zero in, zero out."

MOVERS = {
    "SGD": Entry("stays", NO_MEMORY),
    "SGD with momentum": Entry("moves", MOMENTUM),
    "Adagrad": Entry("stays", "It remembers squares, and only divides by them. " + NO_MEMORY),
    "RMSprop": Entry("stays", "It remembers squares, and only divides by them. " + NO_MEMORY),
    "RMSprop with momentum": Entry("moves", MOMENTUM),
    "Adam": Entry("moves", MOMENTUM),
    "Adam with amsgrad": Entry("moves", "`amsgrad` changes the denominator only. " + MOMENTUM),
    "AdamW": Entry("moves", "Its moments move the entry, and its decay does so besides."),
    "Nadam": Entry("moves", MOMENTUM + " The gradient counts extra; what is left is small."),
    "Lion": Entry("moves", "It steps by the sign of a moving average: a full step every time."),
}


def _all_but(truth, said):
    """The whole table, the entries with this truth answered otherwise."""
    answers = {name: entry.answer for name, entry in MOVERS.items()}
    return {f"entry:{n}": Either(a, said) if a == truth else a for n, a in answers.items()}


EXERCISES = [
    Exercise(
        id="adam_step",
        cases=adam_cases,
        truth=adam_truth,
        parts={"value": 3, "robust": 1},
        hints=(
            "Move both moments first: `m` towards `g` by 1 − beta1, `v` towards g² by 1 − beta2. "
            "The step uses the new ones.",
            "The averages start at zero and are too small at first. Keras puts both corrections "
            "into the step size: lr · √(1 − beta2**t) / (1 − beta1**t).",
            "w − step · m / (√v + eps), with the new `m` and `v` and that step size; `eps` is "
            "added after the root. Return `w, m, v`.",
        ),
        mistakes=(
            Mistake(
                "bias correction",
                "This is Adam without its bias correction. `m` and `v` start at zero and are too "
                "small in the first steps; the factor √(1 − beta2**t) / (1 − beta1**t) makes up "
                "for it.",
                weight_alone(no_correction),
            ),
            Mistake(
                "eps inside the root",
                "You add `eps` before taking the root. Keras takes the root of `v` and adds `eps` "
                "then.",
                weight_alone(eps_inside),
            ),
            Mistake(
                "eps with the corrected moments",
                "This is the paper's first form (PyTorch has it, too): `eps` is added to the root "
                "of the corrected `v`. Keras corrects the step size and adds `eps` to the root of "
                "`v` itself. With a small `eps` nobody sees the difference.",
                weight_alone(eps_on_corrected),
            ),
            Mistake(
                "one correction",
                "Only one of the two moments has its bias correction. Both start at zero: the "
                "factor is √(1 − beta2**t) / (1 − beta1**t).",
                weight_alone(one_correction),
            ),
            Mistake(
                "uphill",
                "The step goes the wrong way: it is taken from `w`.",
                weight_alone(uphill),
            ),
            Mistake(
                "corrected moments returned",
                "The moments that you return are divided by their corrections. The optimizer keeps "
                "them as they are, and the next step corrects anew.",
                corrected_moments,
            ),
            Mistake(
                "moments exchanged",
                "`m` and `v` stand for each other in what you return. The order is `w, m, v`.",
                exchanged_moments,
            ),
            Mistake(
                "old moments",
                "The step uses `m` and `v` as they stood before. Move them first.",
                old_moments,
            ),
            Mistake(
                "square forgotten",
                "`v` is the average of the squared gradient; yours averages the gradient.",
                square_forgotten,
            ),
        ),
        reread="Adam by hand",
        also="With corrected moments M = m / (1 − beta1**t) and V = v / (1 − beta2**t) the same "
        "step is lr · M / (√V + eps / √(1 − beta2**t)).",
    ),
    Exercise(
        id="drift",
        cases=drift_cases,
        truth=drift_truth,
        parts={"value": 3, "robust": 1},
        tolerance=5.0,
        hints=(
            "Put `g = 0` into your `adam_step` and look what is left of each line.",
            "With `g = 0` the moments become beta1 · m and beta2 · v; the weight still moves by "
            "them. Mind the sign: a step goes against `m`.",
            "−lr · √(1 − beta2**t) / (1 − beta1**t) · beta1 · m / (√(beta2 · v) + eps).",
        ),
        mistakes=(
            Mistake(
                "zero",
                "Zero is what the gradient says. The moments remember earlier gradients, and Adam "
                "steps by the moments.",
                pattern="zeros",
            ),
            Mistake(
                "magnitude",
                "This is the size of the drift without its direction. The weight moves against "
                "`m`.",
                lambda case: {"value": np.abs(drift_truth(case)["value"])},
            ),
            Mistake(
                "moments after the step",
                "You use `m` and `v` as given. The step decays them first, to beta1 · m and beta2 "
                "· v, and then moves the weight by the decayed ones.",
                lambda case: {"value": _drifted(case, 1.0, 1.0)},
            ),
            Mistake(
                "sign",
                "The drift has the wrong sign: the weight goes on against `m`, as it did before.",
                lambda case: {"value": -drift_truth(case)["value"]},
            ),
            Mistake(
                "bias correction",
                "The step size lacks its factor √(1 − beta2**t) / (1 − beta1**t).",
                drift_uncorrected,
            ),
            Mistake(
                "eps with the corrected moments",
                "`eps` is added to the root of the corrected `v`, as in the paper. Keras adds it "
                "to the root of `v` itself and corrects the step size.",
                drift_on_corrected,
            ),
            Mistake(
                "only m decayed",
                "`m` is decayed in your formula, `v` is not. A zero gradient shrinks both.",
                lambda case: {"value": _drifted(case, case.inputs["beta1"], 1.0)},
            ),
        ),
        reread="The drift at zero gradient",
        also=(
            "One whole Adam step from `w = 0` with `g = 0`: the new `w` is the drift, with "
            "nothing simplified by hand."
        ),
    ),
    table(
        "which_still_move",
        MOVERS,
        ("moves", "stays"),
        (
            "Ask of each optimizer: is its step a multiple of the current gradient, or of an "
            "average of past ones?",
            "Squared averages only divide; first moments and momentum move; decay always moves. "
            "Three of the ten stay.",
        ),
        weight=3,
        reread="Which optimizers remember",
        mistakes=(
            Mistake(
                "squares taken for momentum",
                "An average of squared gradients only divides. Where the gradient is zero the step "
                "is zero, whatever it is divided by.",
                lambda case: _all_but("stays", "moves"),
            ),
            Mistake(
                "zero gradient taken for rest",
                "A zero gradient stops an optimizer only if its step is a multiple of the current "
                "gradient. An average of past gradients goes on.",
                lambda case: _all_but("moves", "stays"),
            ),
        ),
    ),
    Exercise(
        id="freeze_by_slots",
        cases=slots_cases,
        truth=slots_truth,
        parts={"frozen": 3, "thawed": 3, "robust": 1},
        probe="by_slots",
        hints=(
            "`optimizer.get_slot(variable, 'm')` is a variable: read it, and assign to it. Before "
            "the first step it is None, and there is nothing to do.",
            "Save copies of `m` and `v` and the mask. Then assign `m` with its frozen entries at "
            "zero: `tf.where(mask, m, zeros)`. `v` may stay; it only divides.",
            "`restore_slots`: for `'m'` and `'v'` assign `tf.where(mask, slot, saved copy)`, so "
            "that active entries keep what they have learned in the meantime.",
        ),
        mistakes=(
            Mistake(
                "gradient only",
                "The frozen entries drift: a zero gradient alone leaves their first moment "
                "standing, and Adam steps by it. Set it to zero for the time of the freeze.",
                _slots_mistake(clear=(), restore=()),
            ),
            Mistake(
                "weights put back",
                "The frozen entries move at every step of the freeze, and `restore_slots` puts "
                "them back at its end. They are to stay: clear their first moments before the "
                "steps.",
                _slots_mistake(clear=(), weights_back=True),
            ),
            Mistake(
                "v cleared and m kept",
                "You cleared `v` and kept `m`. Now the step is m / (0 + eps), an explosion. Clear "
                "`m`: then the step is 0 / √v, which is zero.",
                _slots_mistake(clear=("v",)),
            ),
            Mistake(
                "nothing restored",
                "The entries stay, but when they thaw their moments are gone. Put `m` and `v` of "
                "the frozen entries back.",
                lambda case: _slots_mistake(("weights",), restore=())(case)
                if case.part != "frozen"
                else {},
            ),
            Mistake(
                "v not restored",
                "`m` comes back, `v` does not. While the gradient is zero `v` decays, so a thawed "
                "entry takes too large a step. Save and restore both.",
                _slots_mistake(("weights",), restore=("m",)),
            ),
            Mistake(
                "restored everywhere",
                "You put the old moments back at every entry. The active ones have moved on since "
                "and lose what they learned: restore only where the mask was 0.",
                _slots_mistake(("weights",), everywhere=True),
            ),
            Mistake(
                "no slots yet",
                "Before the first step `get_slot` returns None: there is nothing to clear, and "
                "nothing to restore later.",
                raises="NoneType",
            ),
        ),
        reread="Freezing by the slots",
        also=(
            "`v` may be cleared along with `m`: then the step is 0 / (0 + eps), zero as well. "
            "Both are put back, so only the time between differs."
        ),
    ),
    Exercise(
        id="frozen_step",
        cases=frozen_cases,
        truth=frozen_truth,
        parts={"value": 3, "variants": 3, "robust": 1},
        probe="frozen_step",
        hints=(
            "Do not fight the optimizer's rule: let it make its step, and put back what must not "
            "have moved.",
            "Before: copies of the variable and of every optimizer variable that has one entry "
            "per weight (same shape; momentum, velocity, `velocity_hat`, average). Then "
            "`apply_gradients`.",
            "After: `v.assign(tf.where(mask, v, old))` for the variable and each of these slots. "
            "The step counter and the learning rate are no slots; leave them alone.",
        ),
        mistakes=(
            Mistake(
                "decay still moves",
                "The moments are silent, and the frozen entries still shrink: weight decay acts on "
                "the weight itself, whatever the gradient. Put the weight back after the step.",
                _frozen_mistake({"masked": True, "clear": ("m",), "keep": ("m", "v", "hat")}),
            ),
            Mistake(
                "gradient only",
                "Only the gradient is masked, so the frozen entries drift by their moments.",
                _frozen_mistake({"masked": True, "keep": ()}),
            ),
            Mistake(
                "slots moved",
                "The weights are put back, their moments are not. A thawed entry then goes on with "
                "moments of steps it never made. Select over every per-entry slot, too.",
                _frozen_mistake({"keep": ("w",)}, {"masked": True, "keep": ("w",)}),
            ),
            Mistake(
                "mask the wrong way round",
                "You freeze where the mask is 1. A mask is 1 where an entry may move.",
                lambda case: {"weights": Either(*_inverted(case))},
            ),
            Mistake(
                "nothing frozen",
                "Every entry moves as if there were no mask. Is the old weight copied before the "
                "step? `old = variable` is no copy, `old = tf.identity(variable)` is one.",
                _frozen_mistake({"keep": ()}),
            ),
            Mistake(
                "nothing moves",
                "No entry has moved, and the optimizer counted no step. "
                "`optimizer.apply_gradients` makes one.",
                lambda case: {
                    "weights": np.stack([case.arrays["weights"]] * _steps(case)),
                    "steps counted": 0,
                },
            ),
            Mistake(
                "counter put back",
                "The optimizer's step counter does not go on, so later steps have another size. It "
                "is global: put back only what has one entry per weight. Beside a scalar weight "
                "the shape alone does not tell: the counter is a scalar, too.",
                lambda case: {"steps counted": _counted(case)},
            ),
            Mistake(
                "mask not boolean",
                "The mask also comes as 0 and 1, and `tf.where` wants bool: `tf.cast(mask, "
                "tf.bool)`.",
                raises=r"expected to be a bool|bool tensor|but is a float|to be a Tensor of type "
                r"bool|cannot compute SelectV2",
            ),
        ),
        reread="Freezing by a snapshot",
        also=(
            "The gradient may be masked first: `tf.where(mask, gradient, "
            "tf.zeros_like(gradient))`. It matters only where a norm is taken over all entries, "
            "as with `clipnorm`: the frozen gradients no longer count in it."
        ),
    ),
    Exercise(
        id="update_subset",
        cases=subset_cases,
        truth=subset_truth,
        parts={"value": 3, "robust": 1},
        probe="update_subset",
        hints=(
            "A Keras 3 optimizer knows the variables it was built with and refuses others. Build "
            "it once with all of them.",
            "Compare names without the `':0'` on both sides, and compare them whole.",
            "`if not optimizer.built: optimizer.build(variables)`; then `apply_gradients` with "
            "the pairs `(gradient, variable)` whose name is wanted.",
        ),
        mistakes=(
            Mistake(
                "unbuilt optimizer",
                "At its first call the optimizer was built with the subset alone, and later it "
                "refuses every other variable. Call `optimizer.build(variables)` with all of them.",
                raises="Unknown variable",
            ),
            Mistake(
                "trainable flag alone",
                "A `tf.Variable`'s `trainable` flag cannot be set after it is made.",
                raises="has no setter|can't set attribute",
            ),
            Mistake(
                "trainable flag alone",
                "The `trainable` flag is read when a model collects its variables. An optimizer "
                "never looks at it: whatever pair you hand it moves.",
                lambda case: subset_run(case, lambda name, names: True),
            ),
            Mistake(
                "zero gradients",
                "You hand over zeros for the others. Zero gradient is not zero motion: momentum "
                "and weight decay go on. Leave these pairs out.",
                lambda case: subset_run(case, zeros=True),
            ),
            Mistake(
                "part of a name",
                "`kernel_1` is also a part of `kernel_10`. Compare whole names.",
                lambda case: subset_run(
                    case, lambda name, names: any(n.removesuffix(":0") in name for n in names)
                ),
            ),
            Mistake(
                "zeros taken off the name",
                "`rstrip(':0')` takes off every `:` and `0` at the end: `kernel_10` becomes "
                "`kernel_1`, and moves with it. Take off the suffix `':0'` alone.",
                lambda case: subset_run(case, _stripped),
            ),
            Mistake(
                "suffix of the name",
                "No variable was chosen: a `tf.Variable` is called `'kernel:0'`, a keras variable "
                "`'kernel'`. Take the `':0'` off before you compare.",
                raises="not enough values to unpack|No gradients provided",
            ),
            Mistake(
                "suffix of the name",
                "Names are compared as they are written. A `tf.Variable` is called `'kernel:0'`, a "
                "keras variable `'kernel'`, and `names` holds either form. Take the `':0'` off on "
                "both sides.",
                subset_as_written,
            ),
            Mistake(
                "a step for each variable",
                "`apply_gradients` is called once for each variable, and each call counts as a "
                "step: the step sizes are those of later steps. Hand over all pairs in one call.",
                lambda case: subset_run(case, alone=True),
            ),
            Mistake(
                "weights put back",
                "All variables make a step and some weights are put back. Their moments have "
                "moved, and the next step shows it. Leave these pairs out.",
                lambda case: subset_run(case, back=True),
            ),
            Mistake(
                "the others moved",
                "The variables in `names` rest and the others move. It is to be the other way "
                "round.",
                lambda case: subset_run(case, lambda name, names: not _chosen(name, names)),
            ),
            Mistake(
                "nothing moves",
                "No variable has moved. `optimizer.apply_gradients` makes the step.",
                lambda case: subset_run(case, lambda name, names: False),
            ),
        ),
        reread="Freezing whole variables",
        also="Hand over every variable, with None as the gradient of those that rest: Keras "
        "leaves these pairs out, and warns that it does.",
    ),
    Exercise(
        id="thaw_step_size",
        cases=thaw_cases,
        truth=thaw_truth,
        parts={"value": 2, "robust": 1},
        tolerance=5.0,
        hints=(
            "Start from `m = v = 0` and put one gradient `g` into `adam_step`: m = (1 − beta1) · "
            "g, v = (1 − beta2) · g². What does m / √v become?",
            "The size of `g` cancels; its sign is the direction. Only the step size is left, and "
            "it counts all the steps the optimizer has made, `t + 1` of them.",
            "lr · √(1 − beta2**(t + 1)) / (1 − beta1**(t + 1)) · (1 − beta1) / √(1 − beta2).",
        ),
        mistakes=(
            Mistake(
                "lr",
                "`lr` is the first step of an entry that was free from the start, when the bias "
                "corrections fit. The counter is global: here they are those of step `t + 1`.",
                lambda case: {"value": float(case.inputs["lr"])},
            ),
            Mistake(
                "bias correction",
                "The bias corrections of step `t + 1` are missing.",
                uncorrected,
            ),
            Mistake(
                "one step early",
                "After `t` steps the next one has the number `t + 1`.",
                lambda case: {"value": _thaw(case, case.inputs["t"])} if case.inputs["t"] else {},
            ),
        ),
        reread="The first step after the thaw",
        also=(
            "With a number in place of algebra: any `g`, such as 2.0, then `m = (1 - beta1) * g` "
            "and `v = (1 - beta2) * g * g`, and the step made of them. `g` cancels."
        ),
    ),
    Exercise(
        id="magnitude_mask",
        cases=mask_cases,
        truth=mask_truth,
        parts={"value": 3, "robust": 1},
        probe="mask",
        hints=(
            "Sort the magnitudes of the flat weights and mark the first round(keep · n) places. A "
            "threshold cannot tell equal magnitudes apart; places can.",
            "`tf.math.top_k` on the flat magnitudes returns the places, and among equals the "
            "lower one first. `tf.argsort` with `stable=True` on minus the magnitudes does so, "
            "too.",
            "Scatter True to these places (`tf.tensor_scatter_nd_update` on zeros of type bool, "
            "or a `one_hot` and `any`), then reshape to the weights' shape.",
        ),
        mistakes=(
            Mistake(
                "wrong end",
                "You keep the smallest magnitudes and prune the largest.",
                lambda case: _mask(case, np.abs),
            ),
            Mistake(
                "fraction of the wrong end",
                "`keep` is the fraction that stays. You prune that fraction.",
                pruned_fraction,
            ),
            Mistake(
                "signed values",
                "You rank the values themselves; a large negative weight is large, too.",
                lambda case: _mask(case, lambda w: -w),
            ),
            Mistake(
                "ties",
                "Where magnitudes are equal at the border, exactly round(keep · n) are asked, "
                "lower index first. A threshold keeps all or none, a sort may turn them round.",
                ties,
            ),
            Mistake(
                "another rounding",
                "The count is off by one. Python's `round` takes the nearest whole number, and of "
                "two equally near ones the even one.",
                another_rounding,
            ),
            Mistake(
                "mask of numbers",
                "The right entries, as numbers. A bool tensor is asked: `tf.where` takes no other.",
                lambda case: mask_truth(case)
                | {"dtype": Either("float32", "float64", "int32", "int64")},
            ),
        ),
        reread="Pruning, then fine-tuning",
        also=(
            "By places instead of ranks: the first `round(keep * n)` places of the stable "
            "argsort, made into a mask by `tf.one_hot(places, n, True, False)` and "
            "`tf.reduce_any` over axis 0."
        ),
    ),
]  # fmt: skip
