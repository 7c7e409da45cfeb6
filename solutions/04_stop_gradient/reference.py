"""Chapter 04 in closed form: what is right, and what each mistake would give. NumPy only."""

from __future__ import annotations

import numpy as np

from grader import draw
from grader.contract import (
    DEFAULT_MODES,
    EAGER,
    EVERYWHERE,
    INSIDE,
    OUTSIDE,
    Case,
    Either,
    Exercise,
    Mistake,
    Source,
)
from grader.verdict import words

IDENTITY = "One identity, two directions"
HANDLES = "Handles: the value stays, the gradient changes"
STRAIGHT = "Straight through a staircase"
BINARY = "Sign, clipped and scaled"
RELAXED = "Relax the staircase instead"
NOISE = "What a surrogate truly differentiates"
CHANCE = "Masks and chance"

# Each dtype and rank eagerly or traced, not all of them in every way: tracing is what takes time.
ROBUST = (
    ("float64", (4,), "float64", DEFAULT_MODES),
    ("a scalar", (), "float32", (EAGER,)),
    ("a batch of shape (2, 3, 2)", (2, 3, 2), "float32", (INSIDE,)),
)


def up(case: Case) -> np.ndarray:
    """The upstream gradient in float64."""
    return np.asarray(case.upstream, np.float64)


def zeros(case: Case) -> np.ndarray:
    return np.zeros_like(up(case))


def along_x(make, main="a vector of 6", shape=(6,), modes=DEFAULT_MODES):
    """Cases for a function of x and plain numbers: the main one, and the three robust ones.

    `make(rng, shape, dtype)` gives the inputs, x first.
    """

    def cases(rng):
        rows = [(main, shape, "float32", modes, None), *((*row, "robust") for row in ROBUST)]
        found = []
        for name, size, dtype, where, part in rows:
            inputs = make(rng, size, dtype)
            found.append(Case(name, inputs, draw.like(rng, inputs["x"]), part, where))
        return found

    return cases


NONE_SAYS = (
    "The tape returns None: the only path leads through an operation that passes nothing. Leave "
    "that operation to the stopped part, and give the gradient a path of its own."
)
ZERO_SAYS = (
    "The gradient is zero. If two paths lead back to `x`, one counts +1, the other −1, and one of "
    "them has to be stopped. If there is one, something on it has the derivative 0."
)
NONE = Mistake("none", NONE_SAYS, pattern="none")
ZERO = Mistake("zero", ZERO_SAYS, pattern="zeros")

# surrogate ---------------------------------------------------------------------------------------

SMOOTH = "lambda x: tf.abs(x) * 0.7"  # the one with a gradient of its own
FORWARD = {
    SMOOTH: lambda x: np.abs(x) * 0.7,
    "lambda x: tf.sign(x) * 0.83": lambda x: np.sign(x) * 0.83,
    "lambda x: tf.round(x)": np.round,
    "lambda x: tf.floor(x) + 0.1": lambda x: np.floor(x) + 0.1,
    "lambda x: tf.cast(x > 0.0, x.dtype) * 0.7": lambda x: (x > 0) * 0.7,
}
BACKWARD = {
    "lambda x: x": (lambda x: x, np.ones_like),
    "lambda x: tf.tanh(x)": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "lambda x: tf.sin(2.0 * x)": (lambda x: np.sin(2 * x), lambda x: 2 * np.cos(2 * x)),
    "lambda x: 3.0 * x": (lambda x: 3 * x, lambda x: np.full_like(x, 3.0)),
}
JUMPS = (-2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5)


def surrogate_cases(rng):
    def case(f, g, shape, part=None, dtype="float32", size=1.0, modes=DEFAULT_MODES):
        x = draw.away(draw.uniform(rng, -2.8, 2.8, shape, dtype), JUMPS, 0.02)
        x = np.asarray(x * size).astype(dtype)
        of = f"{f.split(': ', 1)[1]} forward, {g.split(': ', 1)[1]} backward"
        name = f"{of}, x {dtype} of shape {shape}" + (f", up to {3 * size:.0e}" if size > 1 else "")
        inputs = {"forward": Source(f), "backward": Source(g), "x": x}
        return Case(name, inputs, draw.like(rng, x), part, modes)

    (_, sign, *stairs), straight = FORWARD, next(iter(BACKWARD))
    others = [str(f) for f in rng.permutation(stairs)]
    curved = [str(g) for g in rng.permutation(list(BACKWARD)[1:])]
    return [
        case(sign, straight, (300,)),
        case(SMOOTH, curved[0], (40,)),
        case(others[0], curved[1], (50,), "robust", "float64"),
        case(others[1], curved[2], (), "robust", modes=(EAGER,)),
        case(others[2], curved[0], (2, 3, 2), "robust", modes=(INSIDE,)),
        case(sign, straight, (8,), "robust", size=1e8, modes=(EAGER,)),
    ]


def _pair(case):
    x = case.arrays["x"]
    value, slope = BACKWARD[case.inputs["backward"].text]
    return FORWARD[case.inputs["forward"].text](x), value(x), slope(x)


def surrogate_truth(case):
    value, _, slope = _pair(case)
    return {
        "value": value,
        "bit exact": True,
        "gradient:x": up(case) * slope,
        "gradient made by": "stop_gradient",
    }


def _own_slope(case):
    """The derivative of the forward function: 0, but for the one that has one."""
    x = case.arrays["x"]
    return np.sign(x) * 0.7 if case.inputs["forward"].text == SMOOTH else np.zeros_like(x)


def _forward_alone(case):
    """What the tape says of forward itself: round and floor return None, sign zeros."""
    own = up(case) * _own_slope(case)
    return {"gradient:x": own if np.any(own) else Either(None, own)}


def _rounded(case):
    """t + (f − t), rounded after each operation as TensorFlow rounds."""
    value, t, _ = _pair(case)
    f, t = (np.asarray(a).astype(case.dtype) for a in (value, t))
    return {"value": (t + (f - t)).astype(np.float64), "bit exact": False}


def _single(case):
    """x cut to float32 on the way: right to its digits, and no bit of float64 beyond them."""
    return {"bit exact": case.dtype != "float64"}


def _quotient(case):
    """f / t · t, one of them stopped: the gradient of t, times f / t."""
    value, t, slope = _pair(case)
    return {"gradient:x": up(case) * slope * value / t}


surrogate = Exercise(
    id="surrogate",
    cases=surrogate_cases,
    truth=surrogate_truth,
    parts={"value": 2, "gradient": 2, "robust": 2},
    hints=(
        "You need the value of `f` and the gradient of `t`. Stop `f`, and add something made of "
        "`t` that is 0 as a number and `t` to the tape.",
        "`t` minus itself, one of the two stopped: 0 as a number, and the tape sees the other one.",
        "Return a function of `x` that adds `tf.stop_gradient(forward(x))` and `t - "
        "tf.stop_gradient(t)`, where `t = backward(x)`. Keep the brackets: `t` minus itself is "
        "exactly 0.",
    ),
    mistakes=(
        Mistake(
            "float32 inside",
            "With a float64 `x` something on the way is float32, which holds half the digits. "
            "Leave the dtype to `forward` and `backward`.",
            answer=_single,
        ),
        Mistake(
            "a quotient for a difference",
            "The value is `f` by way of `f / t · t`, so the gradient is `f / t` times that of `t`. "
            "Add what is 0 as a number: `t` minus itself, one of the two stopped.",
            answer=_quotient,
        ),
        Mistake(
            "no function returned",
            "`surrogate` returned None. A function of `x` is asked: is the outer `return` missing?",
            raises=r"'NoneType' object is not callable",
        ),
        Mistake(
            "value off by rounding",
            "The value is off in the last digits, and for large `t` by all of it: a sum or a "
            "difference of `f` and `t` is rounded, and nothing undoes that. Take `t` from `t` "
            "first, in brackets: that is exactly 0, and `f` plus 0 is `f`.",
            answer=_rounded,
        ),
        Mistake(
            "forward not stopped",
            "Where forward has a gradient of its own, yours is the sum of two: that of `backward` "
            "and that of `forward`. To the tape `forward(x)` must be a constant.",
            answer=lambda case: {"gradient:x": up(case) * (_pair(case)[2] + _own_slope(case))},
        ),
        Mistake(  # before "roles swapped", whose gradients these are
            "true derivative",
            words.PATTERNS["true derivative"],
            answer=_forward_alone,
        ),
        Mistake(
            "backward alone",
            "This is `backward` itself: its gradient is asked, its value is not. The value is that "
            "of `forward`, stopped.",
            answer=lambda case: {"value": _pair(case)[1], "bit exact": False},
        ),
        Mistake(
            "roles swapped",
            "Value and gradient stand for each other: this has the value of `backward`. The "
            "stopped one gives the value.",
            answer=lambda case: {
                "value": _pair(case)[1],
                "bit exact": False,
                "gradient:x": Either(None, up(case) * _own_slope(case)),
            },
        ),
        Mistake(
            "backward ignored",
            "The gradient is the upstream gradient itself, whatever `backward` is. Its derivative "
            "is asked.",
            answer=lambda case: {"gradient:x": up(case)},
        ),
        Mistake(
            "nothing taken away",
            "The value is `forward + backward`. Whatever is added for the sake of its gradient "
            "must be taken away again, stopped.",
            answer=lambda case: {"value": sum(_pair(case)[:2]), "bit exact": False},
        ),
        Mistake(
            "another tool",
            "Value and gradient are right, but a custom rule made them. Here `tf.stop_gradient` "
            "alone is asked; chapter 05 is about the other way.",
            answer=lambda case: {
                "gradient made by": "custom rule",
                "gradient:x": surrogate_truth(case)["gradient:x"],
            },
        ),
        ZERO,
    ),
    plain=_forward_alone,
    probe="made_function",
    reread=IDENTITY,
    also=(
        "By a stopped copy of the input: `s = tf.stop_gradient(x)`, then `forward(s) + "
        "(backward(x) - backward(s))`."
    ),
)

# reverse_by_stopping, scale_gradient -------------------------------------------------------------


def _scaled_inputs(name, low, high):
    def make(rng, shape, dtype):
        size = round(float(rng.uniform(low, high)), 3)
        return {"x": draw.normal(rng, shape, dtype), name: size}

    return make


def _handled(name, usual, other):
    """The usual cases of a factor, and one with a factor on the other side of 1."""

    def cases(rng):
        inputs = _scaled_inputs(name, *other)(rng, (3,), "float32")
        more = Case(f"another {name}", inputs, draw.like(rng, inputs["x"]), modes=(EAGER,))
        return [*along_x(_scaled_inputs(name, *usual))(rng), more]

    return cases


def _reverse_truth(case):
    return {"value": case.arrays["x"], "gradient:x": -case.inputs["strength"] * up(case)}


reverse_by_stopping = Exercise(
    id="reverse_by_stopping",
    cases=_handled("strength", (0.3, 0.8), (1.5, 3.0)),
    truth=_reverse_truth,
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "The forward function is the identity, the backward one is another line through 0. Which "
        "slope has it?",
        "`backward(x) = -strength * x`. Now it is a case of `surrogate`.",
        "With `t = -strength * x`: stop `x`, and add `t` minus the stopped `t`.",
    ),
    mistakes=(
        Mistake(
            "sign",
            "The size is right, the sign is not: the gradient has to be turned round.",
            answer=lambda case: {"gradient:x": case.inputs["strength"] * up(case)},
        ),
        Mistake(
            "strength forgotten",
            "The gradient is turned round, but not scaled by `strength`.",
            answer=lambda case: {"gradient:x": -up(case)},
        ),
        Mistake(
            "strength off by one",
            "The gradient is (1 − strength) or −(1 + strength) times the upstream gradient: an "
            "`x` too many counts.",
            answer=lambda case: {
                "gradient:x": Either(
                    (1 - case.inputs["strength"]) * up(case),
                    -(1 + case.inputs["strength"]) * up(case),
                )
            },
        ),
        Mistake(
            "strength on the forward",
            "The value is changed. Forward this function is the identity; only the gradient is "
            "reversed.",
            answer=lambda case: {
                "value": Either(
                    *(
                        times * case.arrays["x"]
                        for s in [case.inputs["strength"]]
                        for times in (-s, s, 1 - s, 1 + s, 2 - s)
                    )
                )
            },
        ),
    ),
    plain=lambda case: {"gradient:x": up(case)},
    card="x",
    reread=HANDLES,
    also=(
        "`tf.stop_gradient((1.0 + strength) * x) - strength * x` is the same but for the last "
        "digits."
    ),
)


def _scale_truth(case):
    return {"value": case.arrays["x"], "gradient:x": case.inputs["factor"] * up(case)}


scale_gradient = Exercise(
    id="scale_gradient",
    cases=_handled("factor", (1.5, 4.0), (0.2, 0.7)),
    truth=_scale_truth,
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "What has to stand in the place of `backward`, so that its derivative is `factor` "
        "everywhere?",
        "`t = factor * x`. Its value is taken away by its own stopped copy.",
        "Stop `x`, and add `t` minus the stopped `t`.",
    ),
    mistakes=(
        Mistake(
            "factor on the forward",
            "The value is multiplied. Forward this function is the identity.",
            answer=lambda case: {"value": case.inputs["factor"] * case.arrays["x"]},
        ),
        Mistake(
            "divided by the factor",
            "The gradient is divided by `factor` where it should be multiplied.",
            answer=lambda case: {"gradient:x": up(case) / case.inputs["factor"]},
        ),
        Mistake(
            "terms exchanged",
            "The gradient is (1 − factor) times the upstream gradient: the term that is stopped "
            "and the one that is not have changed places.",
            answer=lambda case: {"gradient:x": (1 - case.inputs["factor"]) * up(case)},
        ),
        Mistake(
            "factor off by one",
            "The gradient is (1 + factor) or (factor − 1) times the upstream gradient: an "
            "unstopped `x` counts as well.",
            answer=lambda case: {
                "gradient:x": Either(
                    (case.inputs["factor"] + 1) * up(case), (case.inputs["factor"] - 1) * up(case)
                )
            },
        ),
    ),
    plain=lambda case: {"gradient:x": up(case)},
    card="x",
    reread=HANDLES,
    also="`tf.stop_gradient((1.0 - factor) * x) + factor * x`, right but for the last digits.",
)

# round_straight_through, floor_detour ------------------------------------------------------------


def _off_the_steps(steps):
    def make(rng, shape, dtype):
        return {"x": draw.away(draw.uniform(rng, -2.9, 2.9, shape, dtype), steps, 0.05)}

    return make


HALVES = (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)
WHOLE = (-2.0, -1.0, 0.0, 1.0, 2.0)
TO_ZERO = Mistake(
    "cut towards zero",
    "Negative numbers come out too large: a cast to an integer cuts towards zero. `floor` goes "
    "down.",
    answer=lambda case: {"value": np.trunc(case.arrays["x"])},
)

round_straight_through = Exercise(
    id="round_straight_through",
    cases=along_x(_off_the_steps(HALVES)),
    truth=lambda case: {"value": np.round(case.arrays["x"]), "gradient:x": up(case)},
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "The value comes from `tf.round`, the gradient from a function whose derivative is 1.",
        "x + (round(x) − x) has the value of `round`. Which part of it must not be seen by the "
        "tape?",
        "`surrogate(tf.round, tf.identity)` does it; or `x` plus the stopped difference.",
    ),
    mistakes=(
        NONE,
        ZERO,
        Mistake(
            "another rounding",
            "The value is that of `floor` or `ceil`. `tf.round` goes to the nearest integer.",
            answer=lambda case: {
                "value": Either(np.floor(case.arrays["x"]), np.ceil(case.arrays["x"]))
            },
        ),
        Mistake(
            "cut towards zero",
            "A cast to an integer cuts towards zero, with ½ added before it, too. `tf.round` goes "
            "to the nearest integer.",
            answer=lambda case: {
                "value": Either(np.trunc(case.arrays["x"]), np.trunc(case.arrays["x"] + 0.5))
            },
        ),
        Mistake(
            "nothing taken away",
            "The value is x + round(x). Whatever is added for the sake of its gradient must be "
            "taken away again, stopped.",
            answer=lambda case: {"value": case.arrays["x"] + np.round(case.arrays["x"])},
        ),
    ),
    card="x",
    reread=STRAIGHT,
    also=(
        "`tf.grad_pass_through(tf.round)(x)` is this in one call; it uses `tf.custom_gradient` "
        "inside."
    ),
)

floor_detour = Exercise(
    id="floor_detour",
    cases=along_x(_off_the_steps(WHOLE)),
    truth=lambda case: {"value": np.floor(case.arrays["x"]), "gradient:x": up(case)},
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "Write down the derivative of x − (x − floor x) as the tape sees it: 1 from the first "
        "`x`, and from the bracket?",
        "From the bracket comes −1. Keep its value and drop its gradient.",
        "Put `tf.stop_gradient` around the bracket.",
    ),
    mistakes=(
        NONE,
        ZERO,
        TO_ZERO,
        Mistake(
            "the fraction",
            "This is the fractional part of `x`: a saw. The floor is what is left when it is "
            "taken away from `x`.",
            answer=lambda case: {"value": case.arrays["x"] - np.floor(case.arrays["x"])},
        ),
    ),
    card="x",
    reread=STRAIGHT,
    also="The saw by another operation: `x - tf.stop_gradient(tf.math.floormod(x, 1.0))`.",
)

# binarize_by_stopping, xnor_by_stopping ----------------------------------------------------------

EDGES = (-1.0, 0.0, 1.0)
BESIDE = (-1.0001, -0.9999, 0.9999, 1.0001)  # a window that is a little too wide or narrow shows


def binarize_cases(rng):
    inner = draw.away(draw.uniform(rng, -0.9, 0.9, (3,)), (0.0,))
    outer = draw.uniform(rng, 1.1, 2.5, (3,)) * np.where(rng.random(3) < 0.5, -1.0, 1.0)
    x = np.concatenate([EDGES, BESIDE, inner, outer]).astype("float32")
    others = along_x(
        lambda rng, shape, dtype: {"x": draw.away(draw.normal(rng, shape, dtype, 1.2), EDGES)},
        modes=EVERYWHERE,
    )
    main = Case("edges, inside and beyond", {"x": x}, draw.like(rng, x), modes=EVERYWHERE)
    return [main, *others(rng)[1:]]


def _one_side(case):
    """The sign by a comparison, which puts zero on one of the sides."""
    x = case.arrays["x"]
    return np.where(x >= 0, 1.0, -1.0), np.where(x > 0, 1.0, -1.0)


def _inside(case, *, left=True, right=True):
    """The upstream gradient from −1 to 1, with these ends or without."""
    x = case.arrays["x"]
    inner = (x >= -1 if left else x > -1) & (x <= 1 if right else x < 1)
    return np.where(inner, up(case), 0.0)


binarize_by_stopping = Exercise(
    id="binarize_by_stopping",
    cases=binarize_cases,
    truth=lambda case: {"value": np.sign(case.arrays["x"]), "gradient:x": _inside(case)},
    parts={"value": 1, "gradient": 3, "robust": 1},
    hints=(
        "Look for a function that TensorFlow can differentiate, with slope 1 from −1 to 1 and "
        "slope 0 beyond.",
        "`tf.clip_by_value(x, -1.0, 1.0)` is such a function, and its gradient passes at both "
        "ends.",
        "`surrogate(tf.sign, ...)` with that clip as the backward function.",
    ),
    mistakes=(
        Mistake(
            "open interval",
            "Inside all is right, at exactly −1, at exactly 1 or at both the gradient is zero. "
            "Both ends belong to the interval.",
            answer=lambda case: {
                "gradient:x": Either(
                    _inside(case, left=False, right=False),
                    _inside(case, left=False),
                    _inside(case, right=False),
                )
            },
        ),
        Mistake(
            "unclipped",
            "The gradient passes everywhere. Beyond −1 and 1 it has to stop.",
            answer=lambda case: {"gradient:x": up(case)},
        ),
        Mistake(
            "soft surrogate",
            "This is the gradient of tanh, a bell. The one asked for is flat: all of the upstream "
            "gradient inside, nothing outside.",
            answer=lambda case: {"gradient:x": up(case) * (1 - np.tanh(case.arrays["x"]) ** 2)},
        ),
        Mistake(
            "sign of zero",
            "At 0 the value is not 0. `tf.sign(0)` is 0; a comparison puts zero on one side.",
            answer=lambda case: {"value": Either(*_one_side(case))},
        ),
        Mistake(
            "value clipped",
            "The value is the clipped `x`. It has to be the sign; the clip is for the gradient.",
            answer=lambda case: {"value": np.clip(case.arrays["x"], -1, 1)},
        ),
    ),
    plain=lambda case: {"gradient:x": zeros(case)},
    card="x",
    reread=BINARY,
    also=(
        "A mask instead of a clip: `x * tf.stop_gradient(tf.cast(tf.abs(x) <= 1.0, x.dtype))` as "
        "the function whose gradient is taken."
    ),
)


def xnor_cases(rng):
    cases = along_x(
        lambda rng, shape, dtype: {"x": draw.away(draw.normal(rng, shape, dtype), (0.0,))},
        "a float32 matrix",
        (3, 4),
        EVERYWHERE,
    )(rng)
    cases[0].inputs["x"][1, 2] = 0.0  # sign(0) is 0, and 0 counts in the mean
    nothing = np.zeros((2, 2), "float32")
    last = Case("all zeros", {"x": nothing}, draw.like(rng, nothing), "robust", (EAGER,))
    return [*cases, last]


def _mean_size(case):
    return float(np.mean(np.abs(case.arrays["x"])))


def _through_the_mean(case):
    sign = np.sign(case.arrays["x"])
    return np.sum(up(case) * sign) * sign / sign.size


def _by_axis(case):
    """A mean size for each row, or for each column."""
    x = case.arrays["x"]
    axes = (-1, 0) if x.ndim else (None,)
    means = (np.mean(np.abs(x), axis=axis, keepdims=True) for axis in axes)
    return {"value": Either(*(np.sign(x) * mean for mean in means))}


xnor_by_stopping = Exercise(
    id="xnor_by_stopping",
    cases=xnor_cases,
    truth=lambda case: {
        "value": np.sign(case.arrays["x"]) * _mean_size(case),
        "gradient:x": up(case),
    },
    parts={"value": 1, "gradient": 3, "robust": 1},
    hints=(
        "The backward function is the identity once more. The forward one is sign times mean, as a "
        "whole.",
        "Everything that has the mean in it belongs into the stopped part: then neither its factor "
        "nor its own gradient shows.",
        "Stop `tf.sign(x) * tf.reduce_mean(tf.abs(x))`, and add `x` minus the stopped `x`.",
    ),
    mistakes=(
        Mistake(
            "zero for zeros",
            "For an input of zeros the gradient is zero: there the mean size is 0, and it "
            "multiplies the gradient. Nothing has to be multiplied or divided by it.",
            answer=lambda case: {"gradient:x": up(case) if _mean_size(case) else zeros(case)},
        ),
        Mistake(
            "mean forgotten",
            "This is the sign alone. It has to be multiplied by the mean size of `x`.",
            answer=lambda case: {"value": np.sign(case.arrays["x"])},
        ),
        Mistake(
            "mean along one axis",
            "The mean is taken along one axis. One mean over all entries is asked.",
            answer=_by_axis,
        ),
        Mistake(
            "clipped",
            "Beyond −1 and 1 the gradient is zero. Here nothing is clipped: it passes everywhere.",
            answer=lambda case: {
                "gradient:x": Either(_inside(case), _mean_size(case) * _inside(case))
            },
        ),
        Mistake(
            "scaled by E",
            "The gradient is E = mean |x| times the upstream gradient: E multiplies outside of the "
            "straight-through part. Take it in.",
            answer=lambda case: {"gradient:x": _mean_size(case) * up(case)},
        ),
        Mistake(
            "mean contributes",
            "Some gradient comes back through mean |x|. The mean has to be stopped.",
            answer=lambda case: {
                "gradient:x": Either(
                    _mean_size(case) * up(case) + _through_the_mean(case),
                    up(case) + _through_the_mean(case),
                )
            },
        ),
        Mistake(
            "sign of zero",
            "One entry is 0, and the value there is 0, too: `tf.sign(0)` is 0. A comparison puts "
            "zero on one side.",
            answer=lambda case: {
                "value": Either(*(side * _mean_size(case) for side in _one_side(case)))
            },
        ),
        Mistake(
            "nan",
            "For an input of zeros something is divided by its mean size, which is 0. Nothing has "
            "to be divided here.",
            pattern="nan",
        ),
    ),
    plain=lambda case: {"gradient:x": _through_the_mean(case)},
    reread=BINARY,
    also=(
        "With the function of the first exercise: `surrogate(lambda x: tf.sign(x) * "
        "tf.reduce_mean(tf.abs(x)), tf.identity)(x)`."
    ),
)

# sigmoid_floor, ramp_floor, fourier_floor --------------------------------------------------------


def _sigmoid(z):
    return 0.5 * (1 + np.tanh(0.5 * z))


def _stairs(case, integers=None, outer=1.0, shift=1.0):
    """low + Σ outer·sigmoid(s·x − shift_k·k) and its derivative, over the given integers."""
    x, s = case.arrays["x"], case.inputs["sharpness"]
    low, high = case.inputs["low"], case.inputs["high"]
    ks = range(low + 1, high + 1) if integers is None else integers
    total, slope = np.full_like(x, float(low)), np.zeros_like(x)
    for k in ks:
        part = _sigmoid(s * (x - k)) if shift == 1.0 else _sigmoid(s * x - k)
        total, slope = total + outer * part, slope + outer * s * part * (1 - part)
    return {"value": total, "gradient:x": up(case) * slope}


def _either(*answers):
    """One answer out of several, key by key."""
    return {key: Either(*(a[key] for a in answers)) for key in answers[0]}


def _off_by_one(case):
    low, high = case.inputs["low"], case.inputs["high"]
    ranges = (range(low, high), range(low + 1, high), range(low, high + 1))
    return _either(*(_stairs(case, r) for r in ranges))


def _sharpness_misplaced(case):
    x, s = case.arrays["x"], case.inputs["sharpness"]
    low, high = case.inputs["low"], case.inputs["high"]
    parts = [_sigmoid(x - k) for k in range(low + 1, high + 1)]
    slope = sum(p * (1 - p) for p in parts)
    outside = [
        {"value": low + c * sum(parts), "gradient:x": up(case) * c * slope} for c in (s, 1.0, 1 / s)
    ]
    return _either(_stairs(case, shift=0.0), *outside)


def _downstairs(case):
    """low + Σ sigmoid(−s·(x − k)): of each step what is missing to 1."""
    low, high = case.inputs["low"], case.inputs["high"]
    up_stairs = _stairs(case)
    value = 2 * low + (high - low) - up_stairs["value"]
    return {"value": value, "gradient:x": -up_stairs["gradient:x"]}


def _sigmoid_inputs(rng, shape, dtype):
    low = int(rng.integers(-3, 0))
    high = low + int(rng.integers(3, 6))
    x = draw.uniform(rng, low + 0.1, high + 0.9, shape, dtype)
    return {"x": x, "sharpness": round(float(rng.uniform(3, 7)), 2), "low": low, "high": high}


sigmoid_floor = Exercise(
    id="sigmoid_floor",
    cases=along_x(_sigmoid_inputs),
    truth=_stairs,
    parts={"value": 2, "gradient": 1, "robust": 1},
    hints=(
        "The staircase begins at `low` and goes up by 1 at each integer of (low, high]. Which "
        "integers are these in Python's `range`?",
        "`range(low + 1, high + 1)`. Each contributes one sigmoid, centred on its integer.",
        "Begin with `low` and add `tf.sigmoid(sharpness * (x - k))` for each of these `k`.",
    ),
    mistakes=(
        Mistake(
            "off by one step",
            "A step is missing, added or shifted. The integers are those of (low, high]: `low` is "
            "not one of them, `high` is.",
            answer=_off_by_one,
        ),
        Mistake(
            "sharpness in the wrong place",
            "`sharpness` multiplies the whole distance x − k, inside the sigmoid. Outside it "
            "would change the height of the steps, and without the bracket their places.",
            answer=_sharpness_misplaced,
        ),
        Mistake(
            "low forgotten",
            "The staircase begins at 0. It has to begin at `low`.",
            answer=lambda case: {"value": _stairs(case)["value"] - case.inputs["low"]},
        ),
        Mistake(
            "low taken away",
            "The staircase begins at −low. It has to begin at `low`: add it.",
            answer=lambda case: {"value": _stairs(case)["value"] - 2 * case.inputs["low"]},
        ),
        Mistake(
            "steps go down",
            "Each step goes down where it should go up: the distance is x − k, without a minus.",
            answer=_downstairs,
        ),
        NONE,
    ),
    card="x",
    reread=RELAXED,
    also=(
        "In one go over a new axis: `low + tf.reduce_sum(tf.sigmoid(sharpness * (x[..., None] - "
        "ks)), -1)`, `ks` a tensor of the integers."
    ),
)


def _ramp_inputs(rng, shape, dtype):
    width = round(float(rng.uniform(0.2, 0.6)), 2)
    x = draw.uniform(rng, -2.95, 2.95, shape, dtype).astype(np.float64)
    whole, part = np.floor(x), x - np.floor(x)
    for kink in (0.0, width, 1 - width, 1.0):  # off the joints of this ramp and of the wrong one
        part = np.where(np.abs(part - kink) < 0.03, np.clip(kink, 0.07, 0.93) + 0.035, part)
    part = np.where(rng.random(shape) < 0.4, 1 - width * 0.4, part)  # enough of them on the ramp
    # One on it in any draw, and one on the wrong ramp: without it that is no ramp at all.
    first = [1 - width * 0.4, width * 0.6][: part.size]
    part.reshape(-1)[: len(first)] = first
    return {"x": np.asarray(whole + part).astype(dtype), "width": width}


def _ramp(case, *, early=False, steep=True):
    x, w = case.arrays["x"], case.inputs["width"]
    part = x - np.floor(x)
    slope = 1 / w if steep else 1.0
    rise = np.minimum(part, w) if early else np.maximum(part - (1 - w), 0.0)
    on = part < w if early else part > 1 - w
    return {
        "value": np.floor(x) + slope * rise,
        "gradient:x": up(case) * np.where(on, slope, 0.0),
    }


def _early_ramp(case):
    after = _ramp(case, early=True)
    return _either(after, {**after, "value": after["value"] - 1})


ramp_floor = Exercise(
    id="ramp_floor",
    cases=along_x(_ramp_inputs, "a vector of 8", (8,)),
    truth=_ramp,
    parts={"value": 2, "gradient": 1, "robust": 1},
    hints=(
        "Let r = x − floor(x) be the fractional part. On the flat piece `r` is below 1 − width, "
        "on the ramp above it.",
        "On the ramp the height goes from 0 to 1 while `r` goes from 1 − width to 1: (r − (1 − "
        "width)) / width. On the flat piece this is negative.",
        "floor(x) plus `relu` of that. `tf.floor` needs no stopping: its gradient is None, and "
        "`r` still has the one of `x`.",
    ),
    mistakes=(
        Mistake(
            "ramp after the integer",
            "The ramp stands at the wrong end of the step: it rises after an integer. It should "
            "rise on the last `width` before the next one.",
            answer=_early_ramp,
        ),
        Mistake(
            "slope too gentle",
            "The ramp is not steep enough to reach the next step: it has to rise by 1 within "
            "`width`.",
            answer=lambda case: _ramp(case, steep=False),
        ),
        Mistake(
            "no ramp",
            "The value is that of floor itself: the ramps are missing.",
            answer=lambda case: {"value": np.floor(case.arrays["x"])},
        ),
        NONE,
    ),
    card="x",
    reread=RELAXED,
    also="By clipping: `tf.floor(x) + tf.clip_by_value((r - 1.0) / width + 1.0, 0.0, 1.0)`.",
)


def _fourier(case, sign=1.0, half=0.5, orders=None, circle=2 * np.pi, height=1.0):
    """x − ½ + Σ height·sin(circle·k·x) / (πk); `height` a number or a function of k."""
    x, n = case.arrays["x"], case.inputs["terms"]
    value, slope = x - half, np.ones_like(x)
    for k in range(1, n + 1) if orders is None else orders:
        size = sign * (height(k) if callable(height) else height) / (np.pi * k)
        value = value + size * np.sin(circle * k * x)
        slope = slope + size * circle * k * np.cos(circle * k * x)
    return {"value": value, "gradient:x": up(case) * slope}


def _fourier_inputs(fewest, most):
    def make(rng, shape, dtype):
        x = draw.uniform(rng, -2.4, 2.4, shape, dtype)
        return {"x": x, "terms": int(rng.integers(fewest, most + 1))}

    return make


def fourier_cases(rng):
    """Many waves called directly: so nobody writes them out. Few traced: each takes its time."""
    many = along_x(_fourier_inputs(4, 5), "4 or 5 terms", modes=(EAGER,))(rng)[0]
    return [many, *along_x(_fourier_inputs(1, 3), modes=(OUTSIDE,))(rng)]


fourier_floor = Exercise(
    id="fourier_floor",
    cases=fourier_cases,
    truth=_fourier,
    parts={"value": 2, "gradient": 1, "robust": 1},
    hints=(
        "The saw x − floor(x) has the Fourier series ½ − Σ sin(2πkx) / (πk). So floor(x) is `x` "
        "minus this.",
        "x − ½ + Σ: the sum comes with a plus, the half with a minus. `k` runs from 1 to `terms`.",
        "Add `tf.sin(2.0 * np.pi * k * x) / (np.pi * k)` `for k in range(1, terms + 1)`.",
    ),
    mistakes=(
        Mistake(
            "sign",
            "The sum has the wrong sign: with a minus the saw is added once more, not taken away.",
            answer=lambda case: _fourier(case, sign=-1.0),
        ),
        Mistake(
            "missing ½",
            "Everything is shifted by a half. The saw has mean ½, which has to be taken away too.",
            answer=lambda case: {
                "value": Either(
                    _fourier(case, half=0.0)["value"], _fourier(case, half=-0.5)["value"]
                )
            },
        ),
        Mistake(
            "one term too few",
            "The last term is missing: `k` runs from 1 to `terms`, both included.",
            answer=lambda case: _fourier(case, orders=range(1, case.inputs["terms"])),
        ),
        Mistake(
            "one term too many",
            "There is a term too many: `k` runs from 1 to `terms`, both included.",
            answer=lambda case: _fourier(case, orders=range(1, case.inputs["terms"] + 2)),
        ),
        Mistake(
            "waves of the wrong height",
            "The waves are too high or too low: each sine is divided by πk.",
            answer=lambda case: _either(
                _fourier(case, height=lambda k: k),
                _fourier(case, height=0.5),
                _fourier(case, height=lambda k: 1 / k),
                _fourier(case, height=np.pi),
            ),
        ),
        Mistake(
            "half a turn",
            "The waves are too long: one wave for each step takes sin(2πkx).",
            answer=lambda case: _fourier(case, circle=np.pi),
        ),
        NONE,
    ),
    tolerance=50.0,
    card="x",
    reread=RELAXED,
    also=(
        "All waves at once: `k = tf.range(1, terms + 1, dtype=x.dtype)`, then `tf.sin(2.0 * np.pi "
        "* x[..., None] * k) / (np.pi * k)`, summed over the last axis."
    ),
)

# smoothed_sign -----------------------------------------------------------------------------------


def _smoothed_inputs(rng, shape, dtype):
    width = round(float(rng.uniform(0.52, 0.8)), 2)  # at one half two mistakes are the same
    x = draw.uniform(rng, -1.6, 1.6, shape, dtype)
    near = rng.random(shape) < 0.4
    x = np.asarray(np.where(near, x * width / 2, x)).astype(dtype)
    # One on the line and one between its end and 1, in any draw: there the mistakes part.
    first = (rng.choice([-1, 1], 2) * [width / 2, (1 + width) / 2])[: x.size]
    x.reshape(-1)[: len(first)] = first
    return {"x": draw.away(x, (-1.0, -width, width, 1.0), 0.03), "width": width}


def _clip_line(case, slope, edge):
    x = case.arrays["x"]
    inner = np.abs(x) < edge
    return {
        "value": slope * np.clip(x, -edge, edge),
        "gradient:x": up(case) * np.where(inner, slope, 0.0),
    }


def _tanh_line(case):
    x, w = case.arrays["x"], case.inputs["width"]
    t = np.tanh(x / w)
    return {"value": t, "gradient:x": up(case) * (1 - t * t) / w}


def _share(case):
    """The probability that x + u is positive: half of the mean of sign, and a half."""
    mean = _clip_line(case, 1 / case.inputs["width"], case.inputs["width"])
    return {"value": (mean["value"] + 1) / 2, "gradient:x": mean["gradient:x"] / 2}


smoothed_sign = Exercise(
    id="smoothed_sign",
    cases=along_x(_smoothed_inputs, "a vector of 8", (8,)),
    truth=lambda case: _clip_line(case, 1 / case.inputs["width"], case.inputs["width"]),
    parts={"value": 2, "gradient": 1, "robust": 1},
    hints=(
        "Do not sample. Which share of [x − width, x + width] is positive, which negative? The "
        "mean of sign is the first minus the second.",
        "Beyond ±width all of the interval has one sign. Between, the mean grows along a line from "
        "−1 to 1.",
        "Clip `x / width` to the interval from −1 to 1.",
    ),
    mistakes=(
        Mistake(
            "not divided by width",
            "The line has slope 1 and ends at ±width. A mean of signs goes from −1 to 1: its "
            "slope is 1/width.",
            answer=lambda case: _clip_line(case, 1.0, case.inputs["width"]),
        ),
        Mistake(
            "not clipped",
            "The line goes on beyond ±width. There all of the interval has one sign: the mean "
            "stays at −1 or 1.",
            answer=lambda case: _clip_line(case, 1 / case.inputs["width"], np.inf),
        ),
        Mistake(
            "a share for a mean",
            "This goes from 0 to 1: the share of the interval that is positive. The mean of sign "
            "is that share minus the share that is negative.",
            answer=_share,
        ),
        Mistake(
            "width ignored",
            "This is right for `width` 1 only: the corners have to stand at ±width.",
            answer=lambda case: _clip_line(case, 1.0, 1.0),
        ),
        Mistake(
            "multiplied by width",
            "The slope is `width` and the corners stand at ±1/width. More noise makes a flatter "
            "line: divide.",
            answer=lambda case: _clip_line(case, case.inputs["width"], 1 / case.inputs["width"]),
        ),
        Mistake(
            "divided by the length",
            "You divide by 2·width, the length of the interval. Over that length the mean climbs "
            "by 2, from −1 to 1: its slope is 1/width.",
            answer=lambda case: _clip_line(
                case, 0.5 / case.inputs["width"], 2 * case.inputs["width"]
            ),
        ),
        Mistake(
            "tanh",
            "tanh has another shape. Uniform noise makes straight lines: the mean is exactly "
            "linear between the corners.",
            answer=_tanh_line,
        ),
        Mistake(
            "sign itself",
            "This is sign without any noise: the mean over u is what makes it smooth.",
            answer=lambda case: {"value": np.sign(case.arrays["x"])},
        ),
        Mistake(
            "a mean of samples",
            "The gradient is zero everywhere: each sign that you average is flat. The mean over "
            "all u is a line between two corners. Write down that line.",
            answer=lambda case: {"gradient:x": np.zeros_like(case.arrays["x"])},
        ),
        NONE,
    ),
    card="x",
    reread=NOISE,
    also="With two ramps: `(tf.abs(x + width) - tf.abs(x - width)) / (2.0 * width)`.",
)

# masked_weights ----------------------------------------------------------------------------------


def masked_cases(rng):
    def case(name, shape, dtype="float32", part=None, modes=DEFAULT_MODES, variables=()):
        w = draw.away(draw.normal(rng, shape, dtype), (0.0,), 0.1)
        mask = np.asarray(rng.random(shape) < 0.5).astype(dtype)
        if mask.size > 1:
            mask.flat[0], mask.flat[1] = 0, 1
        return Case(
            name, {"w": w, "mask": mask}, draw.like(rng, w), part, modes, variables=variables
        )

    return [
        case("a matrix of (3, 2)", (3, 2)),
        case("float64", (4,), "float64", "robust"),
        case("a scalar", (), part="robust", modes=(EAGER,)),
        case("a batch of shape (2, 3, 2)", (2, 3, 2), part="robust", modes=(INSIDE,)),
        case("w a tf.Variable", (5,), part="robust", modes=(EAGER,), variables=("w",)),
    ]


masked_weights = Exercise(
    id="masked_weights",
    cases=masked_cases,
    truth=lambda case: {
        "value": case.arrays["w"],
        "gradient:w": up(case) * case.arrays["mask"],
    },
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "Every weight appears in the value. Those with `mask = 0` appear in a form that the tape "
        "does not see.",
        "Two copies of `w`, one stopped. The `mask` chooses between them, entry by entry.",
        "`mask * w` plus `(1 - mask) * the stopped w`; or `tf.where(mask > 0, w, the stopped w)`.",
    ),
    mistakes=(
        Mistake(
            "value masked too",
            "Weights with `mask = 0` are 0 in the value. They are frozen, not removed: the value "
            "is `w` everywhere.",
            answer=lambda case: {"value": case.arrays["w"] * case.arrays["mask"]},
        ),
        Mistake(
            "mask inverted",
            "The gradient passes where the `mask` is 0. 1 means that an entry may move.",
            answer=lambda case: {"gradient:w": up(case) * (1 - case.arrays["mask"])},
        ),
        NONE,
    ),
    plain=lambda case: {"gradient:w": up(case)},
    reread=CHANCE,
    also="`tf.stop_gradient(w) + mask * (w - tf.stop_gradient(w))`: the bracket is exactly 0.",
)

# bernoulli_attention -----------------------------------------------------------------------------


def bernoulli_cases(rng):
    def case(name, shape, dtype="float32", part=None, modes=DEFAULT_MODES):
        probs = draw.uniform(rng, 0.25, 0.75, shape, dtype)
        gap = np.where(rng.random(shape) < 0.5, -1, 1) * rng.uniform(0.05, 0.24, shape)
        if np.size(gap) > 1:
            gap.flat[0], gap.flat[1] = -0.1, 0.1
        inputs = {
            "features": draw.away(draw.normal(rng, shape, dtype), (0.0,), 0.2),
            "probs": probs,
            "noise": np.asarray(probs + gap).astype(dtype),
        }
        return Case(name, inputs, draw.like(rng, probs), part, modes)

    return [
        case("a matrix of (2, 4)", (2, 4)),
        case("float64", (4,), "float64", "robust"),
        case("a scalar", (), part="robust", modes=(EAGER,)),
        case("a batch of shape (2, 3, 2)", (2, 3, 2), part="robust", modes=(INSIDE,)),
    ]


def _fired(case):
    return (case.arrays["noise"] < case.arrays["probs"]).astype(np.float64)


def bernoulli_truth(case):
    z, f = _fired(case), case.arrays["features"]
    return {"value": z * f, "gradient:features": up(case) * z, "gradient:probs": up(case) * f}


def _relaxed_comparison(case):
    """The gradient of sigmoid(k·(probs − noise)) for the usual k."""
    gap = case.arrays["probs"] - case.arrays["noise"]
    bells = [k * _sigmoid(k * gap) * (1 - _sigmoid(k * gap)) for k in (1.0, 2.0, 5.0, 10.0, 20.0)]
    return {"gradient:probs": Either(*(up(case) * case.arrays["features"] * b for b in bells))}


def _expected_value(case):
    p, f = case.arrays["probs"], case.arrays["features"]
    return {"value": p * f, "gradient:features": up(case) * p}


bernoulli_attention = Exercise(
    id="bernoulli_attention",
    cases=bernoulli_cases,
    truth=bernoulli_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    hints=(
        "`z` is made by a comparison, which passes nothing. It needs a straight-through gradient: "
        "value `z`, and to the tape it is `probs`.",
        "Give the mask value `z` and gradient 1 to `probs` by the identity of this chapter. "
        "Multiply that by `features`; both gradients follow from the product rule.",
        "`z = tf.cast(noise < probs, features.dtype)`; `hard` = the stopped `z` plus (probs minus "
        "the stopped `probs`); `return hard * features`.",
    ),
    mistakes=(
        Mistake(
            "none",
            "No gradient reaches `probs`: a comparison gives a bool, and a bool passes nothing. "
            "The mask needs a path to `probs` that does not lead through the comparison.",
            answer=lambda case: {"gradient:probs": None},
        ),
        Mistake(
            "features stopped",
            "No gradient reaches `features`. Only the mask is made of stopped parts; what it "
            "multiplies is not stopped.",
            answer=lambda case: {"gradient:features": None},
        ),
        Mistake(
            "gradients exchanged",
            "The two gradients are exchanged: `features` gets upstream · z, `probs` gets upstream "
            "· features.",
            answer=lambda case: {
                "gradient:features": bernoulli_truth(case)["gradient:probs"],
                "gradient:probs": bernoulli_truth(case)["gradient:features"],
            },
        ),
        Mistake(
            "gradient through the comparison",
            "The gradient to `probs` is that of a softened comparison, a bell around noise = "
            "probs. The one asked for does not depend on `noise`: upstream · features.",
            answer=_relaxed_comparison,
        ),
        Mistake(
            "only where it fired",
            "The gradient to `probs` is masked by `z`. A feature that was left out says too what "
            "a larger probability would have brought: upstream · features everywhere.",
            answer=lambda case: {
                "gradient:probs": up(case) * case.arrays["features"] * _fired(case)
            },
        ),
        Mistake(
            "comparison reversed",
            "The mask is 1 where it should be 0. z = 1 where `noise < probs`: large probabilities "
            "fire often.",
            answer=lambda case: {
                "value": (1 - _fired(case)) * case.arrays["features"],
                "gradient:features": (1 - _fired(case)) * up(case),
            },
        ),
        Mistake(
            "features see the probabilities",
            "The gradient to `features` is upstream · probs. The mask that was drawn is asked: "
            "upstream · z.",
            answer=lambda case: {"gradient:features": up(case) * case.arrays["probs"]},
        ),
        Mistake(
            "expected mask",
            "The value is features · probs, the mean over the noise. The mask has to be hard: 0 "
            "or 1.",
            answer=_expected_value,
        ),
    ),
    reread=CHANCE,
    also=(
        "As two terms: `features * tf.stop_gradient(z) + tf.stop_gradient(features) * (probs - "
        "tf.stop_gradient(probs))`."
    ),
)

# reinforce_loss ----------------------------------------------------------------------------------


def reinforce_cases(rng):
    def case(name, shape, dtype="float32", part=None, modes=DEFAULT_MODES):
        log_prob = np.asarray(-draw.uniform(rng, 0.2, 2.5, shape, dtype))
        reward = draw.until(
            lambda: draw.away(draw.normal(rng, shape, dtype), (0.0,), 0.2),
            lambda reward: draw.clear(reward * log_prob),
        )
        inputs = {"log_prob": log_prob, "reward": reward}
        return Case(name, inputs, draw.upstream(rng, (), dtype), part, modes)

    return [
        case("a vector of 6", (6,)),
        case("float64", (4,), "float64", "robust"),
        case("scalars", (), part="robust", modes=(EAGER,)),
        case("a batch of shape (2, 3)", (2, 3), part="robust", modes=(INSIDE,)),
    ]


def _reinforce(case):
    lp, r = case.arrays["log_prob"], case.arrays["reward"]
    return lp, r, up(case) / lp.size


def reinforce_truth(case):
    lp, r, u = _reinforce(case)
    return {
        "value": -np.mean(r * lp),
        "gradient:log_prob": -u * r,
        "gradient:reward": Either(None, np.zeros_like(r)),
    }


def _unstopped(case):
    lp, _, u = _reinforce(case)
    return {"gradient:reward": -u * lp}


def _reinforce_sum(case):
    lp, r, _ = _reinforce(case)
    return {"value": -np.sum(r * lp), "gradient:log_prob": -up(case) * r}


def _product_of_means(case):
    lp, r, u = _reinforce(case)
    return {
        "value": -np.mean(r) * np.mean(lp),
        "gradient:log_prob": np.full_like(lp, -u * np.mean(r)),
    }


reinforce_loss = Exercise(
    id="reinforce_loss",
    cases=reinforce_cases,
    truth=reinforce_truth,
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "The gradient has to move probabilities, weighted by rewards. To the tape the rewards are "
        "plain numbers.",
        "Stop the `reward`. The loss is minus the mean of the products, over all entries.",
        "`-tf.reduce_mean(... * log_prob)`, with the stopped `reward` in the gap.",
    ),
    mistakes=(
        Mistake(
            "the other one stopped",
            "`log_prob` is stopped and `reward` is not. It is the other way round: the gradient is "
            "for `log_prob`.",
            answer=lambda case: {"gradient:log_prob": None, **_unstopped(case)},
        ),
        Mistake(
            "reward not stopped",
            "A gradient reaches the `reward`. It would train whatever made the `reward` to be "
            "larger for likely samples, which is no estimate of anything: stop it.",
            answer=_unstopped,
        ),
        Mistake(
            "sign",
            "The sign is wrong. A loss is minimised: minus the mean of reward · log_prob.",
            answer=lambda case: {
                "value": -reinforce_truth(case)["value"],
                "gradient:log_prob": -reinforce_truth(case)["gradient:log_prob"],
            },
        ),
        Mistake(
            "sum for mean",
            "You sum. The mean over all entries is asked, so that the batch size does not change "
            "the step.",
            answer=_reinforce_sum,
        ),
        Mistake(
            "product of means",
            "The means are multiplied. Each reward belongs to its own sample: multiply first.",
            answer=_product_of_means,
        ),
        Mistake(
            "none",
            "Nothing reaches `log_prob`: only the `reward` is to be stopped.",
            pattern="none",
        ),
    ),
    reread=CHANCE,
    options={"entire": True},  # of some calls the sign may be wrong for another reason
    also="With the minus inside: `tf.reduce_mean(-log_prob * tf.stop_gradient(reward))`.",
)

EXERCISES = [
    surrogate,
    reverse_by_stopping,
    scale_gradient,
    round_straight_through,
    floor_detour,
    binarize_by_stopping,
    xnor_by_stopping,
    sigmoid_floor,
    ramp_floor,
    fourier_floor,
    smoothed_sign,
    masked_weights,
    bernoulli_attention,
    reinforce_loss,
]
