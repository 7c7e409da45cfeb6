"""Chapter 01 in closed form: what is right, and what each mistake would give. NumPy only."""

from __future__ import annotations

import numpy as np

from grader import draw
from grader.contract import Case, Either, Entry, Exercise, Mistake, Source, table

FOUR = "None, zero, number, error"
STATE = "State is not an operation"
DETOUR = "A detour through NumPy"
RECORDING = "What the tape is told"
TAPES = "Tapes beside tapes, tapes in tapes"
CAUSES = "Six broken tapes"
# Tracing is what takes time: what differs in its input alone is called directly.
BOTH, CALLED, TRACED = ("eager", "outside"), ("eager",), ("outside",)
# What is raised where a tensor that is being traced is handed to NumPy.
IN_NUMPY = (
    "has no attribute 'numpy'|numpy\\(\\) is only available|Cannot convert a symbolic|NumPy call"
)


def up(case: Case) -> np.ndarray:
    """The upstream gradient in float64."""
    return np.asarray(case.upstream, np.float64)


# predictions -------------------------------------------------------------------------------------

predictions = table(
    "predictions",
    {
        "round": Entry("none", "`Round` is registered with a rule that returns None."),
        "sign": Entry(
            "zero",
            "`Sign` has a rule that returns zeros: there is a path, and it carries nothing.",
        ),
        "floor": Entry(
            "none", "`Floor` is registered with a rule that returns None, as `round` is."
        ),
        "cast to int": Entry(
            "none", "Integers carry no gradient: the path ends where `x` becomes an integer."
        ),
        "argmax": Entry("none", "`argmax` gives an index, an integer: no path leads back to `x`."),
        "x.numpy()": Entry(
            "error",
            "`np.sin` gives a NumPy number; the tape cannot be asked about what is no tensor.",
        ),
        "float(x)": Entry(
            "number",
            "One factor is still the tensor `x`. The other one is a constant to the tape, so half "
            "of the derivative is missing and nothing warns you.",
        ),
        "comparison": Entry("none", "`x > 0` gives a bool, which carries no gradient."),
        "stop_gradient": Entry("none", "`stop_gradient` cuts the path, on purpose."),
        "abs at 0": Entry(
            "zero",
            "The rule of `abs` is the sign of `x`, and the sign of 0 is 0: a path that carries 0.",
        ),
    },
    allowed=("none", "zero", "number", "error"),
    hints=(
        "Ask of each line: is the result a float tensor? If it is no tensor at all, the tape "
        "raises.",
        "Then follow the value backwards. An integer or a bool on the way, or a rule that returns "
        "nothing, gives None. A rule that multiplies by 0 gives zero.",
        "`round`, `floor`, both casts by way of int or bool, `argmax` and `stop_gradient` give "
        "one and the same word; `sign` and `abs` at 0 give another one; `float(x)` and "
        "`x.numpy()` one each.",
    ),
    reread=FOUR,
    weight=2,
    mistakes=(
        Mistake(
            "None and zero confused",
            "None and zero are two answers. None: no path leads back to `x`. Zero: a path does, "
            "and what it carries is 0.",
            answer=lambda case: {
                **{f"entry:{k}": "zero" for k in NONES},
                **{f"entry:{k}": "none" for k in ("sign", "abs at 0")},
            },
        ),
    ),
)

NONES = ("round", "floor", "cast to int", "argmax", "comparison", "stop_gradient")

# difference --------------------------------------------------------------------------------------


def _nonzero(rng, shape, dtype="float32"):
    """Factors of both signs between 0.6 and 1.8: no product is near zero."""
    size = rng.uniform(0.6, 1.8, shape)
    return np.asarray(np.where(rng.random(shape) < 0.3, -size, size)).astype(dtype)


def difference_cases(rng):
    def case(name, n, k, m, part=None, dtype="float32", modes=BOTH, variables=()):
        prod, box = draw.until(
            lambda: (_nonzero(rng, (n, k), dtype), _nonzero(rng, (k, m), dtype)),
            lambda made: (
                np.abs(1 - made[0].prod(axis=1)[:, None] / made[1].prod(axis=0)).max() > 0.1
            ),
        )
        inputs = {"prod": prod, "box": box}
        upstream = draw.upstream(rng, (n, m), dtype)
        return Case(name, inputs, upstream, part, modes, variables=variables)

    return [
        case("prod (3, 4), box (4, 2)", 3, 4, 2),
        case("float64, prod (2, 3), box (3, 3)", 2, 3, 3, "robust", "float64", CALLED),
        case("a batch of one, k = 1", 1, 1, 1, "robust", modes=CALLED),
        case("box a tf.Variable", 2, 2, 3, "robust", modes=CALLED, variables=("box",)),
    ]


def difference_truth(case):
    prod, box, u = case.arrays["prod"], case.arrays["box"], up(case)
    p, b = prod.prod(axis=1), box.prod(axis=0)
    return {
        "value": (b[None, :] - p[:, None]) / b[None, :],
        # d/dP_i = −Σ_j U_ij / B_j, and dP_i/dprod_ik = P_i / prod_ik.
        "gradient:prod": -(u / b[None, :]).sum(axis=1)[:, None] * p[:, None] / prod,
        # d/dB_j = Σ_i U_ij P_i / B_j², and dB_j/dbox_kj = B_j / box_kj.
        "gradient:box": (u * p[:, None] / b[None, :]).sum(axis=0)[None, :] / box,
    }


def _sums(case):
    prod, box = case.arrays["prod"], case.arrays["box"]
    p, b = prod.sum(axis=1), box.sum(axis=0)
    u = up(case)
    return {
        "value": 1 - p[:, None] / b[None, :],
        "gradient:prod": np.broadcast_to(-(u / b[None, :]).sum(axis=1)[:, None], prod.shape),
        "gradient:box": np.broadcast_to(
            (u * p[:, None] / b[None, :] ** 2).sum(axis=0)[None, :], box.shape
        ),
    }


def _over_prod(case):
    p, b = case.arrays["prod"].prod(axis=1), case.arrays["box"].prod(axis=0)
    return {"value": (b[None, :] - p[:, None]) / p[:, None]}


difference = Exercise(
    id="difference",
    cases=difference_cases,
    truth=difference_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    hints=(
        "No entry needs a place of its own to be written into. Both rows of products can be "
        "computed at once: `tf.reduce_prod` with an axis.",
        "`P = tf.reduce_prod(prod, axis=1)` has shape (n,), `B = tf.reduce_prod(box, axis=0)` has "
        "shape (m,). Broadcasting makes a table of them if `P` stands as a column.",
        "`P[:, tf.newaxis]` has shape (n, 1). Against `B`, of shape (m,), arithmetic gives (n, m).",
    ),
    mistakes=(
        Mistake(
            "assign",
            "The result lives in a `tf.Variable`. Assigning to it leaves no trace on the tape, "
            "and a variable made at each call is refused by `tf.function`. Return a tensor "
            "computed from `prod` and `box`.",
            raises="singleton tf.Variables|does not support item assignment",
        ),
        Mistake(
            "assign",
            "What you write into, a variable or a NumPy array, keeps values and forgets the "
            "operations behind them: the gradient is None. Return a tensor computed from `prod` "
            "and `box`.",
            answer=lambda case: {"gradient:prod": None, "gradient:box": None},
        ),
        Mistake(
            "NumPy detour",
            "The values leave TensorFlow on the way: what NumPy computes, no tape can see, and "
            "`tf.function` refuses it. Use `tf.reduce_prod`, and make the table by broadcasting.",
            raises=f"{IN_NUMPY}|setting an array element",
        ),
        Mistake(
            "sum for product",
            "You sum along `k` where the product is asked: `tf.reduce_prod`.",
            answer=_sums,
        ),
        Mistake(
            "divided by P",
            "You divide by the product of `prod`. The difference is taken relative to `box`: "
            "divide by `B`.",
            answer=_over_prod,
        ),
    ),
    options={"entire": True},
    reread=STATE,
    also=(
        "With the axes named: `1.0 - tf.einsum('i,j->ij', tf.reduce_prod(prod, 1), 1.0 / "
        "tf.reduce_prod(box, 0))`."
    ),
)

# energy ------------------------------------------------------------------------------------------


def energy_cases(rng):
    def case(name, shape, part=None, dtype="float32", modes=CALLED, high=3.0):
        x = draw.until(
            lambda: draw.uniform(rng, -high, high, shape, dtype), lambda x: abs(_energy(x)) > 0.2
        )
        return Case(name, {"x": x}, draw.upstream(rng, (), dtype), part, modes)

    return [
        case("a vector of 5", (5,)),
        case("a matrix (2, 3)", (2, 3), modes=TRACED),
        case("float64", (4,), "robust", "float64", TRACED),
        case("a scalar", (), "robust"),
        case("a batch (2, 2, 3) up to 20", (2, 2, 3), "robust", high=20.0),
    ]


def _energy(x):
    return np.asarray(0.5 * np.sum(x * x) + np.log(np.exp(x).sum()))


def energy_truth(case):
    x, u = case.arrays["x"], up(case)
    e = np.exp(x)
    return {
        "value": _energy(x),
        "gradient:x": u * (x + e / e.sum()),
    }


def _energy_by_rows(case):
    x = case.arrays["x"]
    if x.ndim < 2:
        return {}
    return {"value": np.asarray(0.5 * np.sum(x * x) + np.log(np.exp(x).sum(axis=-1)).sum())}


def _energy_without_half(case):
    x, u = case.arrays["x"], up(case)
    e = np.exp(x)
    return {
        "value": np.asarray(np.sum(x * x) + np.log(e.sum())),
        "gradient:x": u * (2 * x + e / e.sum()),
    }


HALF = (
    "Only the first term is connected: you get `x`, and the softmax of `x` is missing. The second "
    "term leaves the tape on its way. Nothing warns you, because one path is left."
)
energy = Exercise(
    id="energy",
    cases=energy_cases,
    truth=energy_truth,
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "Every step of the second term has a TensorFlow operation: `tf.exp`, `tf.reduce_sum`, "
        "`tf.math.log`.",
        "There is one operation for the three steps together, `tf.reduce_logsumexp`, and it does "
        "not overflow where `exp` does.",
        "`0.5 * tf.reduce_sum(x * x)` plus `tf.reduce_logsumexp(x)`. Both reduce over all entries.",
    ),
    mistakes=(
        Mistake(
            "only half connected",
            "The second term leaves TensorFlow. Called directly this loses half of the gradient "
            "without a word; traced by `tf.function` it raises. Stay in TensorFlow.",
            raises=f"{IN_NUMPY}|must be real number",
        ),
        Mistake(
            "only half connected", HALF, answer=lambda c: {"gradient:x": up(c) * c.arrays["x"]}
        ),
        Mistake(
            "half forgotten",
            "The first term is half of the sum of squares; you have the whole of it.",
            answer=_energy_without_half,
        ),
        Mistake(
            "rows apart",
            "You reduce along one axis only. Both terms reduce over all entries.",
            answer=_energy_by_rows,
        ),
    ),
    reread=DETOUR,
    also=(
        "By hand, shifted so that `exp` cannot overflow: `m + tf.math.log(tf.reduce_sum(tf.exp(x "
        "- m)))` with `m = tf.stop_gradient(tf.reduce_max(x))`."
    ),
)

# running_energy ----------------------------------------------------------------------------------


def running_cases(rng):
    def case(name, n, part=None, dtype="float32", modes=BOTH):
        x = draw.normal(rng, (n,), dtype)
        return Case(name, {"steps": x}, draw.like(rng, x), part, modes)

    return [
        case("6 steps", 6),
        case("float64", 4, "robust", "float64"),
        case("one step", 1, "robust", modes=CALLED),
        case("tape and function traced together", 5, "robust", modes=("inside",)),
    ]


def _suffix(values):
    return np.cumsum(values[::-1])[::-1]


def running_truth(case):
    x, u = case.arrays["steps"], up(case)
    return {"value": np.cumsum(x * x), "gradient:steps": 2 * x * _suffix(u)}


def _reversed(case):
    x, u = case.arrays["steps"], up(case)
    return {"value": _suffix(x * x), "gradient:steps": 2 * x * np.cumsum(u)}


def _sum_squared(case):
    x, u = case.arrays["steps"], up(case)
    total = np.cumsum(x)
    return {"value": total**2, "gradient:steps": _suffix(2 * total * u)}


def _only_newest(case):
    x, u = case.arrays["steps"], up(case)
    return {"gradient:steps": 2 * x * u}


def _last_everywhere(case):
    """What assign_add returns is the variable: in the end each entry reads the last total."""
    x = case.arrays["steps"]
    return {"value": np.full(x.shape, np.sum(x * x)), "gradient:steps": None}


MADE = (
    "`tf.function` refuses a variable that is made at every call, and a variable would carry no "
    "gradient anyway. Keep the total in a tensor."
)

running_energy = Exercise(
    id="running_energy",
    cases=running_cases,
    truth=running_truth,
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "The running total is a tensor that each step makes anew: `total = total + step * step`. "
        "Rebinding a Python name is no assignment to a variable.",
        "A loop over `tf.unstack(steps)` with a Python list and `tf.stack` works. There is also "
        "one operation for running sums: `tf.cumsum`.",
        "`tf.cumsum` of the squares.",
    ),
    mistakes=(
        Mistake(
            "none",
            "No operation that the tape has recorded leads from `steps` to the result. A total "
            "that lives in a variable, in NumPy or in a Python number is a value without its "
            "history: `assign_add`, too, leaves none. Keep the total in a tensor.",
            pattern="none",
        ),
        Mistake(
            "NumPy detour",
            "The sum is computed by NumPy: no tape can see it, and `tf.function` refuses it. Use "
            "TensorFlow's own operations; `tf.cumsum` is one.",
            raises=IN_NUMPY,
        ),
        Mistake(
            "reversed cumulation",
            "The sum runs from the end. Entry i is the sum of the squares up to and with step i.",
            answer=_reversed,
        ),
        Mistake(
            "squared sum",
            "You square the running sum. What is asked is the running sum of squares.",
            answer=_sum_squared,
        ),
        Mistake(
            "only the newest step",
            "Each entry passes a gradient to its own step alone. Step i is part of every later sum "
            "too: only the newest addition is connected.",
            answer=_only_newest,
        ),
        Mistake(
            "gradient cumulated forwards",
            "The value is right; the gradient adds up from the front. Step i is part of its own "
            "sum and of all later ones: add up the upstream gradient from the end.",
            answer=lambda case: {
                "value": running_truth(case)["value"],
                "gradient:steps": _reversed(case)["gradient:steps"],
            },
        ),
        Mistake("variable made at each call", MADE, raises="singleton tf.Variables"),
        Mistake("variable made at each call", MADE, answer=_last_everywhere),
    ),
    options={"entire": True},
    reread=STATE,
    also=(
        "Step by step without a variable: `tf.scan(lambda total, step: total + step, steps * "
        "steps)`."
    ),
)

# partial_gradient, gradient_after_reset ----------------------------------------------------------


def pair_cases(rng):
    def case(name, shape, part="value", dtype="float32", modes=BOTH, variables=()):
        inputs = {k: draw.away(draw.normal(rng, shape, dtype), (0.0,), 0.2) for k in ("x", "y")}
        return Case(name, inputs, None, part, modes, wants=("value",), variables=variables)

    return [
        case("two tensors", (3,)),
        case("two variables", (2,), variables=("x", "y")),
        case("float64", (2, 2), "robust", "float64"),
        case("scalars", (), "robust", modes=CALLED),
        case("x a variable, y a tensor", (4,), "robust", modes=CALLED, variables=("x",)),
    ]


def partial_truth(case):
    return {"value[0]": 2 * case.arrays["x"], "value[1]": None}


def _zero_for_none(case):
    return {"value[1]": np.zeros_like(case.arrays["y"])}


def _both_recorded(case):
    return {"value[1]": 2 * case.arrays["y"]}


def _x_unwatched(case):
    """A tf.Variable is watched without being asked."""
    return {} if "x" in case.variables else _nothing(case)


def _nothing(case):
    """Said of both derivatives: a pair in the wrong order is neither of these mistakes."""
    return {"value[0]": None, "value[1]": None}


SWAPPED = Mistake(
    "swapped",
    "The two derivatives stand in the wrong order: first the one with respect to `x`, then the "
    "one with respect to `y`.",
    answer=lambda case: {"value[0]": None, "value[1]": 2 * case.arrays["x"]},
)


partial_gradient = Exercise(
    id="partial_gradient",
    cases=pair_cases,
    truth=partial_truth,
    parts={"value": 2, "robust": 1},
    hints=(
        "Three things in this order inside the tape: watch `x` and `y`, compute, and around one "
        "of the squares a pause.",
        "`with tape.stop_recording():` holds what the tape must not see. The square of `x` stays "
        "outside of it.",
        "Ask at the end for both: `tape.gradient(z, [x, y])`. Return what comes, None included.",
    ),
    mistakes=(
        Mistake(
            "zero instead of None",
            "The derivative with respect to `y` comes out as zeros. What the tape says is None: "
            "it has no path to `y`. Zeros would hide that.",
            answer=_zero_for_none,
        ),
        Mistake(
            "both recorded",
            "The square of `y` was recorded: you get 2y. Compute it while the tape does not "
            "record.",
            answer=_both_recorded,
        ),
        Mistake(
            "not watched",
            "The derivative with respect to `x` is None where `x` is a plain tensor: the tape "
            "watches variables by itself, tensors only when told. Call `tape.watch` before "
            "computing.",
            answer=_x_unwatched,
        ),
        Mistake(
            "pause around everything",
            "Both derivatives are None: the square of `x` was computed during the pause as well.",
            answer=_nothing,
        ),
        SWAPPED,
    ),
    reread=RECORDING,
    also="In place of the pause `tf.stop_gradient(y * y)`, which cuts the path for every tape.",
)

gradient_after_reset = Exercise(
    id="gradient_after_reset",
    cases=pair_cases,
    truth=partial_truth,
    parts={"value": 2, "robust": 1},
    hints=(
        "`reset` throws away what was recorded so far, and with it the list of what is watched.",
        "After `tape.reset()` comes one more line before `x` is used: the tape has to be told of "
        "`x` again.",
        "`tape.reset()`, then `tape.watch(x)`, then `z = x * x + y_squared`.",
    ),
    mistakes=(
        Mistake(
            "watch forgotten",
            "The derivative with respect to `x` is None where `x` is a plain tensor. `reset` also "
            "forgets what was watched: call `tape.watch(x)` again after it.",
            answer=_x_unwatched,
        ),
        Mistake(
            "both recorded",
            "You get 2y: the square of `y` was computed after the reset, or no reset took place.",
            answer=_both_recorded,
        ),
        Mistake(
            "zero instead of None",
            "The derivative with respect to `y` comes out as zeros. What the tape says is None: "
            "what it knew of `y` is gone.",
            answer=_zero_for_none,
        ),
        Mistake(
            "reset too late",
            "Both derivatives are None: the reset came after `z` was computed, and threw that "
            "away, too. Reset before `x` is used.",
            answer=_nothing,
        ),
        SWAPPED,
    ),
    reread=RECORDING,
    also="A fresh tape in place of the reset, opened after `y * y`: usually easier to read.",
)

# two_tapes ---------------------------------------------------------------------------------------


def two_tapes_cases(rng):
    def case(name, shape, part="value", dtype="float32", modes=BOTH, variables=()):
        inputs = {k: draw.normal(rng, shape, dtype, 2.0) for k in ("x0", "x1")}
        # Both signs of the cosine in every draw: the first is negative, the second positive.
        ends = rng.uniform((2.0, -1.2), (4.2, 1.2))[: inputs["x0"].size]
        inputs["x0"].reshape(-1)[: len(ends)] = ends
        return Case(name, inputs, None, part, modes, wants=("value",), variables=variables)

    return [
        case("two tensors", (3,)),
        case("float64", (2,), "robust", "float64"),
        case("scalars", (), "robust", modes=CALLED),
        case("a batch (2, 3) of variables", (2, 3), "robust", modes=CALLED, variables=("x0", "x1")),
    ]


def _slopes(case):
    s = 1 / (1 + np.exp(-case.arrays["x1"]))
    return np.cos(case.arrays["x0"]), s * (1 - s)


def two_tapes_truth(case):
    first, second = _slopes(case)
    return {"value[0]": first, "value[1]": second}


def _swapped_tapes(case):
    first, second = _slopes(case)
    return {"value[0]": Either(None, second), "value[1]": Either(None, first)}


def _sigmoid_inside(case):
    """sin(sigmoid) and the like are rare; the usual slip is the derivative of sigmoid itself."""
    s = 1 / (1 + np.exp(-case.arrays["x1"]))
    return {"value[1]": s}


two_tapes = Exercise(
    id="two_tapes",
    cases=two_tapes_cases,
    truth=two_tapes_truth,
    parts={"value": 2, "robust": 1},
    hints=(
        "One `with` statement opens both: `with tf.GradientTape() as tape0, tf.GradientTape() as "
        "tape1`.",
        "Constants have to be watched: `tape0` watches `x0`, `tape1` watches `x1`. `z` is "
        "recorded by both.",
        "Return `tape0.gradient(z, x0)` first, then `tape1.gradient(z, x1)`.",
    ),
    mistakes=(
        Mistake(
            "tapes swapped",
            "Each derivative is None or stands in the other's place. A tape answers only for what "
            "it watches: ask the tape that watches `x0` for `x0`, the other one for `x1`, and "
            "return them in this order.",
            answer=_swapped_tapes,
        ),
        Mistake(
            "value for derivative",
            "The second number is sigmoid itself. Its derivative is asked: let the tape compute "
            "it.",
            answer=_sigmoid_inside,
        ),
    ),
    reread=TAPES,
    also="One tape that watches both, and one call: `tape.gradient(z, [x0, x1])`.",
)

# gradient_or_zeros -------------------------------------------------------------------------------

CONNECTED = {
    "lambda x: tf.sin(x)": np.cos,
    "lambda x: x * x * x": lambda x: 3 * x**2,
    "lambda x: tf.exp(-x)": lambda x: -np.exp(-x),
    "lambda x: tf.reduce_sum(x * tf.floor(x))": np.floor,
    "lambda x: 4.0 * x": lambda x: np.full_like(x, 4.0),
}
REDUCING = "lambda x: tf.reduce_sum(tf.round(x), axis=0) + 1.0"
ENTRY_BY_ENTRY = (
    "lambda x: tf.floor(x)",
    "lambda x: tf.ones_like(x)",
    "lambda x: tf.cast(x > 0.0, x.dtype)",
)
UNCONNECTED = dict.fromkeys((REDUCING, *ENTRY_BY_ENTRY), np.zeros_like)


def zeros_cases(rng):
    def case(text, shape, part="value", dtype="float32", modes=BOTH):
        x = draw.away(draw.normal(rng, shape, dtype), (-1.0, 0.0, 1.0), 0.1)
        name = f"f(x) = {text.split(': ', 1)[1]}, x {dtype} of shape {shape}"
        return Case(name, {"f": Source(text), "x": x}, None, part, modes, wants=("value",))

    live = [str(t) for t in rng.choice(list(CONNECTED), 3, replace=False)]
    dead = [str(t) for t in rng.choice(ENTRY_BY_ENTRY, 2, replace=False)]
    return [
        case(live[0], (3,)),
        case(REDUCING, (3, 2)),  # zeros of the shape of f(x) would be of another shape
        case(live[1], (2,), "robust", "float64", TRACED),
        case(live[2], (), "robust", modes=CALLED),
        case(dead[0], (2, 2), "robust", "float64", CALLED),
        case(dead[1], (), "robust", modes=TRACED),
    ]


def zeros_truth(case):
    rule = (CONNECTED | UNCONNECTED)[case.inputs["f"].text]
    return {"value": np.asarray(rule(case.arrays["x"]), np.float64)}


def _none_through(case):
    dead = case.inputs["f"].text in UNCONNECTED
    return {"value": None} if dead else zeros_truth(case)


def _unwatched(case):
    dead = case.inputs["f"].text in UNCONNECTED
    return {"value": None if dead else Either(None, np.zeros_like(case.arrays["x"]))}


def _shaped_as_f(case):
    reduced = case.inputs["f"].text == REDUCING
    return {"value": np.zeros(case.arrays["x"].shape[1:])} if reduced else zeros_truth(case)


def _one_zero(case):
    dead = case.inputs["f"].text in UNCONNECTED
    return {"value": np.zeros(())} if dead else zeros_truth(case)


gradient_or_zeros = Exercise(
    id="gradient_or_zeros",
    cases=zeros_cases,
    truth=zeros_truth,
    parts={"value": 2, "robust": 1},
    hints=(
        "`x` is a constant. Without being told to, no tape watches it.",
        "`tape.gradient` takes a third argument, `unconnected_gradients`.",
        'Watch `x`, compute `f(x)`, and pass `unconnected_gradients="zero"`, or '
        "`tf.UnconnectedGradients.ZERO`.",
    ),
    mistakes=(
        Mistake(
            "None let through",
            "Where no path leads from `f(x)` to `x`, None comes back. Zeros are asked there, in "
            "the shape and dtype of `x`.",
            answer=_none_through,
        ),
        Mistake(
            "not watched",
            "Nothing is connected, not even where `f` is smooth: the tape was not told to watch "
            "`x`. Zeros in place of None then hide the fault.",
            answer=_unwatched,
        ),
        Mistake(
            "the shape of f(x)",
            "The zeros have the shape of `f(x)`. They are asked in the shape and dtype of `x`.",
            answer=_shaped_as_f,
        ),
        Mistake(
            "one zero",
            "Where nothing is connected you return a single 0. A zero for every entry is asked, "
            "in the shape and dtype of `x`: `tf.zeros_like(x)`.",
            answer=_one_zero,
        ),
    ),
    reread=TAPES,
    also="Or replace it by hand: `tf.zeros_like(x) if gradient is None else gradient`.",
)

# nth_derivative ----------------------------------------------------------------------------------


def _power(p):
    """The nth derivative of x ** p, p a whole number."""

    def derivative(x, n):
        factor = float(np.prod(np.arange(p, p - n, -1.0))) if n else 1.0
        return factor * x ** max(p - n, 0) if n <= p else np.zeros_like(x)

    return derivative


SMOOTH = {
    "lambda x: tf.sin(x)": lambda x, n: np.sin(x + n * np.pi / 2),
    "lambda x: tf.exp(0.5 * x)": lambda x, n: 0.5**n * np.exp(0.5 * x),
    "lambda x: 1.0 / x": lambda x, n: (
        (-1.0) ** n * float(np.prod(np.arange(1.0, n + 1))) / x ** (n + 1)
    ),
    "lambda x: x * x * x": _power(3),
    "lambda x: tf.square(x)": _power(2),
    "lambda x: 3.0 * x": lambda x, n: 3.0 * _power(1)(x, n),
    "lambda x: tf.floor(x)": lambda x, n: np.floor(x) if n == 0 else np.zeros_like(x),
}
NEVER_ZERO = ("lambda x: tf.sin(x)", "lambda x: tf.exp(0.5 * x)", "lambda x: 1.0 / x")


def nth_cases(rng):
    def case(text, n, shape, part="robust", dtype="float32", modes=CALLED):
        x = draw.uniform(rng, 0.6, 1.4, shape, dtype)
        x = np.asarray(np.where(rng.random(shape) < 0.4, -x, x)).astype(dtype)
        x = draw.away(x, (-1.0, 1.0), 0.1)
        name = f"f(x) = {text.split(': ', 1)[1]}, n = {n}, x {dtype} of shape {shape}"
        return Case(name, {"f": Source(text), "x": x, "n": n}, None, part, modes, wants=("value",))

    live = [str(t) for t in rng.permutation(NEVER_ZERO)]
    return [
        case(live[0], 1, (3,), "value"),
        case(live[1], 2, (3,), "value"),
        case("lambda x: x * x * x", int(rng.integers(2, 4)), (2,), "value", modes=TRACED),
        case(live[2], 0, (2,)),
        case(live[0], 5, (2, 2), dtype="float64"),
        case(live[1], 3, ()),
        case(live[2], 2, (2,)),  # who gets this one loses nothing "from the second on"
        case("lambda x: 3.0 * x", 2, (3,), modes=TRACED),
        case("lambda x: tf.square(x)", 4, (3,)),
        case("lambda x: tf.floor(x)", 1, (2,)),
    ]


def _nth(case, n):
    return np.asarray(SMOOTH[case.inputs["f"].text](case.arrays["x"], n), np.float64)


def nth_truth(case):
    return {"value": _nth(case, case.inputs["n"])}


def _taken_outside(case):
    if case.inputs["n"] < 2:
        return nth_truth(case)
    return {"value": Either(None, np.zeros_like(case.arrays["x"]))}


def _none_at_the_end(case):
    truth = _nth(case, case.inputs["n"])
    return {"value": truth if np.any(truth) else None}


nth_derivative = Exercise(
    id="nth_derivative",
    cases=nth_cases,
    truth=nth_truth,
    parts={"value": 3, "robust": 2},
    hints=(
        "The nth derivative is the derivative of the one before it. For n = 0 it is `f(x)`.",
        "A function that calls itself opens one tape at each level: inside the tape stands the "
        "call with `n - 1`, after the tape its gradient.",
        "`if n == 0: return f(x)`. Otherwise open a tape, watch `x`, and inside it call yourself "
        "with `n - 1`; after the tape comes the gradient of what that gave, with "
        '`unconnected_gradients="zero"`.',
    ),
    mistakes=(
        Mistake(
            "None let through",
            "Where a derivative no longer depends on `x` the tape says None. Zeros are asked.",
            answer=_none_at_the_end,
        ),
        Mistake(
            "inner gradient taken outside the outer tape",
            "From the second derivative on nothing comes back. The inner gradient is an operation "
            "like others: the outer tape has to be recording while it is computed.",
            answer=_taken_outside,
        ),
        Mistake(
            "first derivative only",
            "This is the first derivative whatever `n` is.",
            answer=lambda case: {"value": _nth(case, 1)},
        ),
        Mistake(
            "one tape too few",
            "This is the derivative of order n − 1. n = 0 is `f` itself, n = 1 takes one tape.",
            answer=lambda case: {"value": _nth(case, max(case.inputs["n"] - 1, 0))},
        ),
        Mistake(
            "one tape too many",
            "This is the derivative of order n + 1. n = 0 is `f` itself, without a tape.",
            answer=lambda case: {"value": _nth(case, case.inputs["n"] + 1)},
        ),
    ),
    options={"entire": True},
    reread=TAPES,
    also=(
        "A loop works too: start from `g = f` and wrap `g` `n` times in a function that "
        "differentiates it."
    ),
)

# diagnoses ---------------------------------------------------------------------------------------

WORDS = ("not watched", "not recorded", "left TensorFlow", "state", "integer", "another tensor")

diagnoses = table(
    "diagnoses",
    {
        "a": Entry("not watched", "`x` is a constant, and nothing tells the tape about it."),
        "b": Entry("not recorded", "The square was computed before the tape was opened."),
        "c": Entry(
            "left tensorflow", "`np.exp` takes the value out of TensorFlow and brings a new one."
        ),
        "d": Entry(
            "state", "The value goes through a variable: `assign` leaves no path behind it."
        ),
        "e": Entry("integer", "The sources are integers. A gradient needs floats."),
        "f": Entry(
            "another tensor",
            "`x = x - 0.1` makes `x` a tensor; what was recorded belongs to another object than "
            "the one you ask for.",
        ),
    },
    allowed=tuple(word.lower() for word in WORDS),
    hints=(
        "Follow the value from `x` to the result, one operation after the other. Each word is "
        "used once.",
        "Look at dtypes in one, at the order of lines in one, at which object is asked for in one.",
        "a: who told the tape? b: when was it computed? c: which library computes? d: where is the "
        "value kept? e: which dtype? f: is it still the same object?",
    ),
    reread=CAUSES,
    weight=1,
)

EXERCISES = [
    predictions,
    difference,
    running_energy,
    energy,
    partial_gradient,
    gradient_after_reset,
    two_tapes,
    gradient_or_zeros,
    nth_derivative,
    diagnoses,
]
