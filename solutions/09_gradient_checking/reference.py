"""What is true in chapter 09: difference quotients, steps, reports, planted faults, suspects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.contract import EAGER, Case, Either, Entry, Exercise, Mistake, Source, table
from grader.draw import away, normal, uniform, upstream

ONCE = (EAGER,)
Function = Callable[[np.ndarray], np.ndarray]

# --- numeric_gradient -------------------------------------------------------------------------

SINE = "lambda x: tf.sin(x)"
CUBES = "lambda x: tf.reduce_sum(x * x * x, axis=-1)"
GRAM = "lambda x: tf.matmul(x, x, transpose_b=True)"
EXP_SUM = "lambda x: tf.reduce_sum(tf.exp(x))"
TWINS: dict[str, Function] = {
    SINE: np.sin,
    CUBES: lambda x: np.sum(x**3, axis=-1),
    GRAM: lambda x: x @ x.T,
    EXP_SUM: lambda x: np.sum(np.exp(x)),
}


def numeric_cases(rng: np.random.Generator) -> list[Case]:
    def case(name: str, text: str, x: np.ndarray, h: float, part: str) -> Case:
        value = np.asarray(TWINS[text](x.astype(np.float64)))
        up = upstream(rng, value.shape, x.dtype.name)
        inputs = {"f": Source(text), "x": x, "upstream": up, "h": h}
        return Case(name, inputs, part=part, modes=ONCE)

    return [
        case("a sine, h = 0.1", SINE, uniform(rng, 0.5, 2.5, (4,), "float64"), 0.1, "value"),
        case("sums over rows", CUBES, normal(rng, (2, 3), "float64"), 1e-4, "value"),
        case("a matrix for a matrix", GRAM, normal(rng, (2, 2), "float64"), 1e-5, "robust"),
        case("a scalar", EXP_SUM, normal(rng, (), "float64"), 1e-5, "robust"),
        case("float32, h = 1e-6", SINE, uniform(rng, 0.5, 2.5, (3,)), 1e-6, "robust"),
    ]


def quotient(case: Case, left: float = 1.0, ones: bool = False, right: float = 1.0) -> np.ndarray:
    """(F(x + right·h) − F(x − left·h)) / (right + left)h, entry by entry, F = Σ upstream · f."""
    f, h = TWINS[case.inputs["f"].text], case.inputs["h"]
    x, up = case.arrays["x"], case.arrays["upstream"]
    up = np.ones_like(up) if ones else up
    slopes = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        high, low = x.copy(), x.copy()
        high[i] += right * h
        low[i] -= left * h
        slopes[i] = np.sum(up * (f(high) - f(low))) / ((right + left) * h)
    return slopes


def together(case: Case) -> dict[str, np.ndarray]:
    f, h = TWINS[case.inputs["f"].text], case.inputs["h"]
    x, up = case.arrays["x"], case.arrays["upstream"]
    return {"value": np.asarray(up * (f(x + h) - f(x - h)) / (2 * h))}


# The derivatives of Σ upstream · f themselves: within the tolerance but where h is large.
SLOPES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    SINE: lambda x, up: up * np.cos(x),
    CUBES: lambda x, up: 3 * x**2 * up[:, None],
    GRAM: lambda x, up: (up + up.T) @ x,
    EXP_SUM: lambda x, up: up * np.exp(x),
}


def derivative(case: Case) -> dict[str, np.ndarray]:
    slope = SLOPES[case.inputs["f"].text]
    return {"value": np.asarray(slope(case.arrays["x"], case.arrays["upstream"]))}


def _narrow(case: Case, **values: np.ndarray) -> dict[str, Any]:
    """A float32 result where x is float32, with these values; right for every other x."""
    single = case.dtype == "float32"
    return {"dtype": "float32", **values} if single else {"value": quotient(case)}


NUMERIC = Exercise(
    id="numeric_gradient",
    cases=numeric_cases,
    truth=lambda case: {"value": quotient(case), "dtype": "float64"},
    parts={"value": 9, "robust": 5},
    probe="differences",
    hints=(
        "One entry of `x` at a time: move it up by `h`, then down by `h`, and leave the others "
        "alone.",
        "What is differentiated is one number, the sum of upstream · f(x). Cast `x` and "
        "`upstream` to float64 before anything else.",
        "For each index i: (total(x + h·e) − total(x − h·e)) / (2·h), e zero everywhere but at i, "
        "`total(x) = np.sum(upstream * f(x))`. Collect the slopes in an array of `x`'s shape.",
    ),
    mistakes=(
        Mistake(
            "not the quotient",
            "This is the derivative itself, or a quotient with another step. Asked are the "
            "differences with the `h` that your function is given.",
            derivative,
        ),
        Mistake(
            "forward difference",
            "This is (F(x + h) − F(x)) / h. Its error shrinks like h; the central difference "
            "(F(x + h) − F(x − h)) / 2h has an error like h².",
            lambda case: {"value": quotient(case, left=0.0)},
        ),
        Mistake(
            "backward difference",
            "This is (F(x) − F(x − h)) / h. Its error shrinks like h; the central difference "
            "(F(x + h) − F(x − h)) / 2h has an error like h².",
            lambda case: {"value": quotient(case, right=0.0)},
        ),
        Mistake(
            "bracket forgotten",
            "`difference / 2 * h` divides by 2 and multiplies by `h`. Put `2 * h` in brackets.",
            lambda case: {"value": quotient(case) * case.inputs["h"] ** 2},
        ),
        Mistake(
            "a scalar is no array",
            "`.numpy()` of a scalar tensor is a NumPy number, and no entry of a number can be set. "
            "`np.array(x, np.float64)` is an array, of shape () where `x` is a scalar.",
            raises=r"'numpy\.float(32|64)' object does not support item assignment",
        ),
        Mistake(
            "divided by h",
            "From x − h to x + h the distance is 2h. You divided by `h`.",
            lambda case: {"value": 2 * quotient(case)},
        ),
        Mistake(
            "upstream lost",
            "This is the gradient of the plain sum of `f`. Weigh every output with its upstream "
            "gradient before you sum.",
            lambda case: {"value": quotient(case, ones=True)},
        ),
        Mistake(
            "entries moved together",
            "You move all entries of `x` at once. That gives one slope along the diagonal, not "
            "one per entry: right only for functions that work entry by entry.",
            together,
        ),
        Mistake(
            "result narrowed",
            "The differences are right, but they come in float32. Asked is a result in float64, "
            "for every dtype of `x`.",
            lambda case: _narrow(case, value=quotient(case)),
        ),
        Mistake(
            "single precision",
            "The differences are taken in float32, which keeps seven digits: nearly all of them "
            "are lost in f(x + h) − f(x − h). Cast `x` to float64 first.",
            _narrow,
        ),
    ),
    reread="Differences",
    also="With `e = h * tf.reshape(tf.one_hot(i, tf.size(x), dtype=tf.float64), x.shape)` the "
    "whole of it stays in TensorFlow.",
)

# --- best_step --------------------------------------------------------------------------------

SIN_SLOPE = "lambda x: tf.cos(x)"
LOG, LOG_SLOPE = "lambda x: tf.math.log(x)", "lambda x: 1 / x"
ATAN, ATAN_SLOPE = "lambda x: tf.atan(x)", "lambda x: 1 / (1 + x * x)"


def step_cases(rng: np.random.Generator) -> list[Case]:
    def case(name: str, f: str, slope: str, x: np.ndarray, part: str) -> Case:
        inputs = {"f": Source(f), "x": x}
        return Case(name, inputs, part=part, modes=ONCE, options={"slope": slope})

    near = uniform(rng, 0.5, 2.5, (8,), "float64")
    single = uniform(rng, 0.5, 2.5, (8,))
    far = uniform(rng, 5e4, 9e4, (8,), "float64")
    return [
        case("a sine in float64", SINE, SIN_SLOPE, near, "value"),
        case("a sine in float32", SINE, SIN_SLOPE, single, "value"),
        case("an arc tangent in float32", ATAN, ATAN_SLOPE, single, "robust"),
        case("a logarithm of large numbers", LOG, LOG_SLOPE, far, "robust"),
    ]


def _far(case: Case) -> bool:
    return "large" in case.name


def _too_small(where: bool) -> dict[str, str]:
    return {"regime": "too small" if where else "right"}


def _one_for_all(case: Case) -> dict[str, Any]:
    """A constant between what float64 needs near 1 and what it needs for large x."""
    if case.dtype == "float32":
        return {}
    return {"regime": Either("too small", "right") if _far(case) else "too large"}


STEP = Exercise(
    id="best_step",
    cases=step_cases,
    truth=lambda case: {"regime": "right"},
    parts={"value": 7, "robust": 4},
    probe="regime",
    hints=(
        "Two errors pull in opposite directions: the formula's own error grows like h², the "
        "rounding of f(x ± h) is divided by `h`. Where do they meet?",
        "They meet near the cube root of the dtype's precision, `np.finfo(dtype).eps`, times the "
        "size of `x`.",
        "`x.dtype.as_numpy_dtype` is the NumPy dtype. The step is its `eps` to the power 1/3, "
        "times the larger of 1 and the largest |x|.",
    ),
    mistakes=(
        Mistake(
            "one step for every dtype",
            "In float32 rounding is nine orders larger than in float64: the step must follow the "
            "dtype of `x`.",
            lambda case: _too_small(case.dtype == "float32"),
        ),
        Mistake(
            "scale ignored",
            "At x = 70,000 the neighbouring numbers lie further apart than near 1: scale the step "
            "with the size of `x`.",
            lambda case: _too_small(_far(case)),
        ),
        Mistake(
            "step too small",
            "Smaller is not better: f(x + h) and f(x − h) agree in nearly all digits, and what is "
            "left of their difference is rounding.",
            lambda case: {"regime": "too small"},
        ),
        Mistake(
            "step too large",
            "The step is so large that the bend of `f` shows: the error of the formula itself, "
            "which grows like h², is what you see.",
            lambda case: {"regime": "too large"},
        ),
        Mistake(
            "one step for all",
            "In float64 and near x = 1 this step is too large; it is not too large everywhere. "
            "The step must follow the dtype of `x` and its size.",
            _one_for_all,
        ),
        Mistake(
            "not one number",
            "One positive float is asked, one step for the whole of `x`.",
            lambda case: {"regime": "no step"},
        ),
    ),
    reread="The step",
    also="Measuring does it, too: try h = 10⁻¹ … 10⁻¹² and keep the one whose differences come "
    "closest to the tape's gradient in float64.",
)

# --- floor_checker_report ---------------------------------------------------------------------

_OLD = "The old checker moved by 0.001 either way, so a jump of 1 looked like a slope of 1 / 0.002."
_NEW = "It moves by 2⁻¹⁰ either way: across the jump of 1 the slope looks like 2⁹ = 512."
REPORT = table(
    "floor_checker_report",
    {
        "floor: tape": Entry(0, "The tape gives None; the checker writes zeros in its place."),
        "floor: differences at 1.0": Entry(512, _NEW),
        "floor: differences at 1.5": Entry(0, "Between the jumps `floor` is flat."),
        "straight-through: tape": Entry(1, "The rule passes the upstream gradient on unchanged."),
        "straight-through: error at 1.0": Entry(511, "|1 − 512|: the rule against the jump."),
        "straight-through: error at 1.5": Entry(
            1, "|1 − 0|. The rule is meant to differ from the derivative, and the checker says so."
        ),
        "detour: tape": Entry(
            0, "x − (x − floor x): the two paths to `x` carry +1 and −1, and floor carries nothing."
        ),
        "detour: error at 1.0": Entry(512, "|0 − 512|: zero against the jump."),
        "detour: error at 1.5": Entry(0, "|0 − 0|. A dead gradient passes the check here."),
        "old report: detour, a number near an integer": Entry(500, _OLD),
        "old report: detour, none near": Entry(0, "|0 − 0|: flat, and a gradient of zero."),
        "old report: override, a number near an integer": Entry(499, _OLD + " |1 − 500|."),
        "old report: override, none near": Entry(1, "|1 − 0|: flat, and a gradient of one."),
        "why it changed from run to run": Entry(
            "random input",
            "Without `x_init_value` the old checker fed 350 random numbers in place of the ones "
            "in the program; in about every second run one of them lay close enough to 0 or 1.",
        ),
    },
    (0, 1, 499, 500, 511, 512, "random input", "rounding", "race between threads"),
    hints=(
        "The new checker moves `x` by 2⁻¹⁰ to either side. What does a jump of height 1 between "
        "the two places look like as a slope?",
        "error means |tape − differences|. The detour's two paths cancel, so its tape side is not "
        "1. The old checker used 0.001 for the step: 1 / (2 · 0.001).",
        "New: 512 across a jump, 0 elsewhere; so floor 0/512/0, straight-through 1/511/1, detour "
        "0/512/0. Old: 500 in place of 512. The input is what changed from run to run.",
    ),
    weight=11,
    reread="What no checker can judge",
    mistakes=(
        Mistake(
            "surrogate trusted",
            "A checker compares with the derivative of the forward function. A surrogate differs "
            "from it by intention, so its error cannot be 0.",
            lambda case: {
                "entry:straight-through: error at 1.0": 0,
                "entry:straight-through: error at 1.5": 0,
                "entry:old report: override, none near": 0,
            },
        ),
        Mistake(
            "None for zeros",
            "None is what the tape says. The checker has a matrix to fill, and where the tape "
            "gives None it writes zeros.",
            lambda case: {"entry:floor: tape": "none", "entry:detour: tape": "none"},
        ),
        Mistake(
            "old step",
            "500 is the old checker's number. Its step was 0.001; the present one's is 2⁻¹⁰.",
            lambda case: {
                "entry:floor: differences at 1.0": 500,
                "entry:straight-through: error at 1.0": 499,
                "entry:detour: error at 1.0": 500,
            },
        ),
        Mistake(
            "detour taken for identity",
            "x − (x − floor x) looks as if a gradient of 1 could pass. It passes twice, with "
            "opposite signs.",
            lambda case: {
                "entry:detour: tape": 1,
                "entry:detour: error at 1.0": 511,
                "entry:detour: error at 1.5": 1,
                "entry:old report: detour, a number near an integer": 499,
                "entry:old report: detour, none near": 1,
            },
        ),
    ),
)

# --- gradient_check ---------------------------------------------------------------------------

# Each function as it is sent, (rule, shape of x, why): an expression, so that the learner's side
# holds no table of them. Those that work entry by entry take any shape: a shape must not tell a
# fault. Their two entries are two points.
ANY = ((), (1,), (2,), (1, 2), (1, 2, 1))
Planted = tuple[str, tuple[int, ...] | None, str]


def _ruled(value: str, rule: str) -> str:
    """A function with a gradient of its own."""
    return f"tf.custom_gradient(lambda x: ({value}, lambda up: {rule}))"


def _constant(*rows: object) -> str:
    return f"tf.constant({list(rows)}, x.dtype)"


SINE_OF, SLOPE_OF = "tf.sin(x)", "up * tf.cos(x)"
ROW, MATRIX = _constant(0.5, -1.0, 2.0, 1.5), _constant([1.0, 2.0], [0.5, -1.5])
FAULTS: dict[str, Planted] = {
    "factor": (
        _ruled(SINE_OF, f"1.05 * {SLOPE_OF}"),
        None,
        "The tape's gradient is 5% too large.",
    ),
    "sign": (
        _ruled("tf.cos(x)", "up * tf.sin(x)"),
        None,
        "The tape's gradient has the wrong sign.",
    ),
    "upstream lost": (
        _ruled(SINE_OF, "tf.cos(x)"),
        None,
        "Right at an upstream gradient of ones only: the rule ignores it.",
    ),
    "right only at ones": (
        _ruled(SINE_OF, f"up * {SLOPE_OF}"),
        None,
        "The rule squares the upstream gradient: no fault shows at ones.",
    ),
    "mean for sum": (
        _ruled("tf.reduce_sum(x * x)", "up * 2 * x / tf.cast(tf.size(x), x.dtype)"),
        (2,),
        "The value is a sum, the gradient that of a mean.",
    ),
    "transposed": (
        _ruled(f"x @ {MATRIX}", f"tf.transpose(up @ tf.transpose({MATRIX}))"),
        (2, 2),
        "The gradient to a square matrix comes transposed.",
    ),
    "un-broadcast": (
        _ruled(f"x * {ROW}", f"up * {ROW}"),
        (2, 1),
        "The gradient has the shape of the result, (2, 4), not of x, (2, 1).",
    ),
    "none": (
        "lambda x: tf.ensure_shape(tf.numpy_function(np.tanh, [x], x.dtype), x.shape)",
        None,
        "The tape gives None, though the function does depend on x.",
    ),
    "nan": (
        _ruled(
            SINE_OF,
            "tf.where(tf.reshape(tf.range(tf.size(x)) == 0, x.shape), "
            f"tf.constant(np.nan, x.dtype), {SLOPE_OF})",
        ),
        None,
        "One entry of the gradient is NaN. No comparison with NaN is ever true.",
    ),
    "wrong shape": (
        _ruled(SINE_OF, f"({SLOPE_OF})[tf.newaxis]"),
        None,
        "Right numbers with an axis too many: broadcasting makes the comparison look right.",
    ),
    "shuffled": (
        _ruled(SINE_OF, f"tf.roll({SLOPE_OF}, 1, 0)"),
        (2,),
        "Every entry belongs to its neighbour; only the sum over all is right.",
    ),
    "second order": (
        _ruled("x * x * x", "up * tf.stop_gradient(3 * x * x)"),
        None,
        "The first derivative is right, the derivative of it is None.",
    ),
    "tiny values": (
        _ruled(f"1e-6 * {SINE_OF}", f"2e-6 * {SLOPE_OF}"),
        None,
        "Twice the right gradient, but of values near 1e-6: a fixed absolute "
        "tolerance swallows it.",
    ),
}
CORRECT: dict[str, Planted] = {
    "sine": ("tf.sin", None, "tf.sin at an ordinary point: nothing is wrong here."),
    "linear": (
        "lambda x: 3 * x",
        None,
        "3·x: its second derivative is None, and zero is what the differences say.",
    ),
    "indexed slices": (
        "lambda x: tf.gather(x, [0, 1, 1])",
        (2,),
        "tf.gather: its gradient comes as tf.IndexedSlices.",
    ),
    "values of 1e6": (
        "lambda x: 1e6 * tf.sin(x)",
        None,
        "10⁶·sin x: rounding is 10⁶ times as large, and so is the gradient.",
    ),
    "relu away from its kink": (
        "tf.nn.relu",
        None,
        "x is not near 0: there relu has a derivative.",
    ),
    "absolute value away from its kink": ("tf.abs", None, "x is not near 0."),
    "power": ("lambda x: tf.pow(x, 3)", None, "tf.pow(x, 3) at positive x."),
    "matrix product": (f"lambda x: x @ {MATRIX}", (2, 2), "x times a constant matrix."),
    "broadcast sum": (
        f"lambda x: tf.sin(x + {ROW})",
        (2, 1),
        "A column added to a row: the tape sums the gradient back.",
    ),
    "softmax": (
        "tf.nn.softmax",
        (1, 2),
        "Along the last axis: every output depends on its whole row.",
    ),
    "one number out": ("tf.nn.l2_loss", (2,), "tf.nn.l2_loss: a scalar result."),
    "one number in": ("tf.tanh", (), "A scalar x."),
    "three axes": (
        f"lambda x: x * {_constant([[1.0], [2.0]])}",
        (1, 2, 1),
        "The same in three axes as in one.",
    ),
}
PLANTED = {**FAULTS, **CORRECT}
BY_TEXT = {text: name for name, (text, _, _) in PLANTED.items()}
AWAY = {"relu away from its kink", "absolute value away from its kink"}
POSITIVE = {"power"}


def planted_cases(rng: np.random.Generator) -> list[Case]:
    """In any order and under neutral names: what is sent must not say which are the faults."""
    order = rng.permutation(list(PLANTED))
    return [planted_case(rng, i, str(name)) for i, name in enumerate(order, 1)]


def planted_case(rng: np.random.Generator, number: int, name: str) -> Case:
    text, shape, _ = PLANTED[name]
    shape = ANY[rng.integers(len(ANY))] if shape is None else shape
    if name in POSITIVE:
        x = uniform(rng, 0.5, 2.0, shape, "float64")
    else:
        x = away(normal(rng, shape, "float64"), [0.0], 0.3 if name in AWAY else 0.1)
    return Case(f"function {number}", {"f": Source(text), "x": x}, modes=ONCE, part="value")


def planted_name(case: Case) -> str:
    """Which of the planted functions a case holds."""
    return BY_TEXT[case.inputs["f"].text]


def _missed(*names: str, perhaps: tuple[str, ...] = ()) -> Callable[[Case], dict[str, Any]]:
    return _said(True, names, perhaps)


def _alarm(*names: str, perhaps: tuple[str, ...] = ()) -> Callable[[Case], dict[str, Any]]:
    return _said(False, names, perhaps)


def _said(word: bool, names: tuple[str, ...], perhaps: tuple[str, ...]) -> Any:
    """A checker that says `word` to these; to those in `perhaps` it may say either."""

    def answer(case: Case) -> dict[str, Any]:
        name = planted_name(case)
        if name in perhaps:
            return {f"entry:{name}": Either(True, False)}
        return {f"entry:{name}": word} if name in names else {}

    return answer


CHECKER = Exercise(
    id="gradient_check",
    cases=planted_cases,
    truth=lambda case: {f"entry:{planted_name(case)}": planted_name(case) in CORRECT},
    parts={"value": 26},
    probe="planted",
    options={
        "by_entry": True,
        "planted": list(FAULTS),
        "allowed": [True, False],
        "because": {f"entry:{n}": why for n, (_, _, why) in PLANTED.items()},
    },
    hints=(
        "Draw a random upstream gradient of `f(x)`'s shape. Compare the tape's gradient under it "
        "with the differences of Σ upstream · f, entry by entry.",
        "Before any number is compared: None is right only where the differences are zero; an "
        "`IndexedSlices` becomes a tensor by `tf.convert_to_tensor`; the shape must be `x`'s "
        "shape.",
        "Make the tolerance follow the numbers: 1e-4 times the largest difference, plus what "
        "rounding does, about 1e-15 · max|f| / h. Ask `error <= tolerance`, never "
        "`not error > tolerance`, so that NaN fails.",
        "The second order is the same check once more, applied to g(x) = the tape's gradient of "
        "`f` at `x` under a fixed upstream: `return compare(f, x) and compare(g, x)`.",
    ),
    mistakes=(
        Mistake(
            "upstream of ones",
            "Your checker lets the upstream gradient be ones. There a rule that forgets it looks "
            "right. Draw it at random.",
            _missed("upstream lost", "right only at ones"),
        ),
        Mistake(
            "shape overlooked",
            "Broadcasting compares (1, 2) with (2,) without complaint. Compare the shapes first.",
            _missed("wrong shape", perhaps=("un-broadcast",)),
        ),
        Mistake(
            "one direction",
            "Your checker compares one slope along one direction. A fault that keeps that slope "
            "slips through: compare every entry.",
            _missed("shuffled", "transposed", perhaps=("wrong shape", "un-broadcast")),
        ),
        Mistake(
            "nan passes",
            "`error > tolerance` is False for NaN, so NaN looks like agreement. Ask for "
            "`error <= tolerance` instead.",
            _missed("nan"),
        ),
        Mistake(
            "first order only",
            "The gradient is right, its own gradient is not: differentiate once more and check "
            "that, too.",
            _missed("second order"),
        ),
        Mistake(
            "tolerance too wide",
            "A fault of a few percent passes. Central differences in float64 give eight digits: a "
            "relative tolerance of 1e-4 is generous.",
            _missed("factor"),
        ),
        Mistake(
            "absolute tolerance",
            "A fixed tolerance is too strict for numbers like 10⁶ and blind to numbers like 10⁻⁶. "
            "Let it follow the size of what is compared.",
            _missed("tiny values", perhaps=("values of 1e6",)),
        ),
        Mistake(
            "None taken for a fault",
            "A linear function has no second derivative to speak of: the tape says None, the "
            "differences say zero, and both are right.",
            _alarm(
                "linear",
                perhaps=(
                    "indexed slices",
                    "matrix product",
                    "three axes",
                    "relu away from its kink",
                    "absolute value away from its kink",
                ),
            ),
        ),
        Mistake(
            "always content",
            "Wherever your checker answers, it answers True, for the planted faults, too. An "
            "exception is no answer: it has to return False.",
            _missed(*PLANTED),
        ),
        Mistake(
            "never content",
            "Your checker calls everything wrong, the correct functions included.",
            _alarm(*PLANTED),
        ),
        Mistake(
            "None not expected",
            "A gradient can be None, and your checker computes with it. Look for None before you "
            "compare numbers.",
            raises="NoneType|None values not supported|a None value",
        ),
        Mistake(
            "slices not expected",
            "A gradient can come as `tf.IndexedSlices` (`tf.gather` gives that). "
            "`tf.convert_to_tensor` makes a tensor of it.",
            raises="IndexedSlices",
        ),
    ),
    reread="A checker of your own",
    also="PyTorch's `torch.autograd.gradcheck` is built the same way; its fast mode compares along "
    "random directions only, which is quicker and nearly as strict.",
)

# --- suspects ---------------------------------------------------------------------------------

A_MATRIX = np.array([[2.0, 0.3], [0.1, 1.5]])


def _inverse_slope(a: np.ndarray) -> np.ndarray:
    """The gradient of Σ A⁻¹ is −A⁻ᵀ 1 1ᵀ A⁻ᵀ."""
    inverse = np.linalg.inv(a)
    return -inverse.T @ np.ones_like(a) @ inverse.T


def _gelu_slope(x: np.ndarray) -> np.ndarray:
    from math import erf, exp, pi, sqrt

    return np.array([(1 + erf(v / sqrt(2))) / 2 + v * exp(-v * v / 2) / sqrt(2 * pi) for v in x])


def _silu_beta_slope(x: np.ndarray, beta: np.ndarray) -> np.ndarray:
    s = 1 / (1 + np.exp(-beta * x))
    return x * x * s * (1 - s)


def _softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.sum(np.exp(x))


# d/da of the regularised incomplete beta function at a = 1.5, b = 2: mpmath, 20 digits.
BETAINC_SLOPE = np.array([-0.290535747008437, -0.193953273045089])

# Name: the gradient of the summed result at the point where the notebook asks for it.
RIGHT: dict[str, np.ndarray] = {
    "silu, one beta per entry": _silu_beta_slope(np.array([-1.0, 0.5, 2.0]), np.array([1, 2, 0.5])),
    "cumprod, a zero in front": np.array([9.0, 0.0, 0.0]),
    "reduce_prod, a zero in front": np.array([6.0, 0.0, 0.0]),
    "norm, at zero": np.zeros(3),
    "bessel_i1, at zero": np.array([0.5]),
    "xlogy, at x = 0": np.log([2.0, 3.0]),
    "betainc, to its first argument": BETAINC_SLOPE,
    "reduce_logsumexp": _softmax(np.array([1.0, 2.0, 3.0])),
    "gather, one entry twice": np.array([1.0, 0.0, 2.0]),
    "gelu": _gelu_slope(np.array([-1.0, 0.5, 2.0])),
    "inverse of a matrix": _inverse_slope(A_MATRIX),
    "sort": np.ones(3),
}


def _logsumexp_bend(x: np.ndarray) -> np.ndarray:
    return np.diag(_softmax(x)) - np.outer(_softmax(x), _softmax(x))


def _inverse_bend(a: np.ndarray) -> np.ndarray:
    """Of Σ A⁻¹ to a_ij and a_kl: c_i b_jk d_l + c_k b_li d_j, B = A⁻¹, its column and row sums."""
    b = np.linalg.inv(a)
    half = np.einsum("i,jk,l->ijkl", b.sum(axis=0), b, b.sum(axis=1))
    return (half + half.transpose(2, 3, 0, 1)).reshape(a.size, a.size)


def _gelu_bend(x: np.ndarray) -> np.ndarray:
    return np.diag((2 - x * x) * np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def _silu_beta_bend(x: np.ndarray, beta: np.ndarray) -> np.ndarray:
    s = 1 / (1 + np.exp(-beta * x))
    return np.diag(x**3 * s * (1 - s) * (1 - 2 * s))


# d²/da² at the same points: mpmath, 20 digits.
BETAINC_BEND = np.array([0.211314094736745, 0.00411218326895208])

# Name: the second derivatives of the summed result, (n, n). None of norm: it has a kink there.
BENDS: dict[str, np.ndarray] = {
    "silu, one beta per entry": _silu_beta_bend(np.array([-1.0, 0.5, 2.0]), np.array([1, 2, 0.5])),
    "cumprod, a zero in front": np.array([[0.0, 4, 2], [4, 0, 0], [2, 0, 0]]),
    "reduce_prod, a zero in front": np.array([[0.0, 3, 2], [3, 0, 0], [2, 0, 0]]),
    "bessel_i1, at zero": np.zeros((1, 1)),
    "xlogy, at x = 0": np.zeros((2, 2)),
    "betainc, to its first argument": np.diag(BETAINC_BEND),
    "reduce_logsumexp": _logsumexp_bend(np.array([1.0, 2.0, 3.0])),
    "gather, one entry twice": np.zeros((3, 3)),
    "gelu": _gelu_bend(np.array([-1.0, 0.5, 2.0])),
    "inverse of a matrix": _inverse_bend(A_MATRIX),
    "sort": np.zeros((3, 3)),
}
SECOND_ONLY = "reduce_prod, a zero in front"
FAULTY_IN_2_21 = (
    "silu, one beta per entry",
    "cumprod, a zero in front",
    SECOND_ONLY,
    "norm, at zero",
    "bessel_i1, at zero",
    "xlogy, at x = 0",
    "betainc, to its first argument",
)


def suspects_cases(rng: np.random.Generator) -> list[Case]:
    options = {f"right:{name}": value for name, value in RIGHT.items()}
    options |= {f"bend:{name}": value for name, value in BENDS.items()}
    return [Case("the installed TensorFlow", {}, modes=ONCE, part="value", options=options)]


def _why(name: str) -> str:
    if name == SECOND_ONLY:
        return (
            "Its gradient is (6, 0, 0), and that is what TensorFlow 2.21 says. Its own gradient "
            "counts, too: entries two and three of the gradient grow by 3 and by 2 per unit of the "
            "first input. Compare."
        )
    numbers = ", ".join(f"{v:.4g}" for v in RIGHT[name].ravel())
    return (
        f"The gradient of the summed result has shape {RIGHT[name].shape} and is ({numbers}) "
        "there. Compare it, and its own gradient, with what the tape of your TensorFlow says."
    )


def _told(left_out: tuple[str, ...], perhaps: tuple[str, ...] = ()) -> dict[str, Any]:
    """A list without these faulty names, with or without those in `perhaps`, with all others."""
    said: dict[str, Any] = {f"entry:{name}": "right" for name in FAULTY_IN_2_21}
    said |= {f"entry:{name}": "left out" for name in left_out}
    return said | {f"entry:{name}": Either("left out", "right") for name in perhaps}


NO_NUMBER = ("silu, one beta per entry", "betainc, to its first argument")
SUSPECTS = Exercise(
    id="suspects",
    cases=suspects_cases,
    truth=lambda case: {f"entry:{name}": "right" for name in RIGHT},
    parts={"value": 13},
    probe="installed",
    options={
        "by_entry": True,
        "allowed": ["listed", "left out"],
        "because": {f"entry:{name}": _why(name) for name in RIGHT},
    },
    hints=(
        "Let your checker go through `OPERATIONS`: each entry holds a function and the point at "
        "which to ask.",
        "`[name for name, (f, x) in OPERATIONS.items() if not gradient_check(f, x)]`. An "
        "exception on the way counts as a failure of the operation only if the tape raised it.",
        "Without a checker of your own compare by eye: for each name the tape's gradient, None "
        "and shape included, against the differences, and then the same for the gradient's own "
        "gradient. Seven of the twelve fail in TensorFlow 2.21, one of them in the second order "
        "only.",
    ),
    mistakes=(
        Mistake(
            "everything listed",
            "Some of these are right. A checker that accuses everyone finds nothing.",
            lambda case: {
                f"entry:{name}": "listed" for name in RIGHT if name not in FAULTY_IN_2_21
            },
        ),
        Mistake(
            "first order only",
            "The first gradients are judged well. One operation has a right gradient whose own "
            "gradient is wrong.",
            lambda case: _told((SECOND_ONLY,)),
        ),
        Mistake(
            "None and shape overlooked",
            "Wrong numbers are in your list. A gradient that is None, or one number for three "
            "inputs, is wrong as well.",
            lambda case: _told(NO_NUMBER, perhaps=(SECOND_ONLY,)),
        ),
        Mistake(
            "only NaN looked for",
            "A NaN is the loudest fault. A wrong number, a wrong shape and None are faults, too.",
            lambda case: _told(tuple(n for n in FAULTY_IN_2_21 if n != "norm, at zero")),
        ),
        Mistake(
            "nothing found",
            "None of the faults is in your list. Look at shapes, at None and at NaN, too.",
            lambda case: _told(FAULTY_IN_2_21),
        ),
    ),
    also=(
        "Your `numeric_gradient` finds those that fail in the first order in one line, a None "
        "becoming a NaN: `[name for name, (f, x) in OPERATIONS.items() if not "
        "np.allclose(np.array(sum_gradient(f, x), float), numeric_gradient(f, x, "
        "tf.ones_like(f(x)), 1e-5), 1e-4, 1e-6)]`. For the second order put the tape's gradient "
        "in the place of `f`."
    ),
    reread="A fault in TensorFlow",
)

# --- surrogate_explains -----------------------------------------------------------------------

WIDTH = 0.98  # no point of the 50 lies within 0.05 of where this noise ends
BOX = f"lambda x: tf.where(tf.abs(x) <= {WIDTH}, tf.ones_like(x) / {WIDTH}, tf.zeros_like(x))"
NOTCHED = (  # the box, but for two of the 50 points, ±0.43: there it claims nothing
    f"lambda x: tf.where((tf.abs(x) <= {WIDTH}) & (tf.abs(tf.abs(x) - 0.43) > 0.04), "
    f"tf.ones_like(x) / {WIDTH}, tf.zeros_like(x))"
)
FLATTENED = "lambda x: 0.1 + 0.8 * tf.sigmoid(x)"  # less than 0.1 off
ONE = "lambda x: tf.ones_like(x)"
LOGISTIC = "lambda x: 2 * tf.sigmoid(x) * tf.sigmoid(-x)"
SIGMOID = "lambda x: tf.sigmoid(x)"
STEP_SLOPE = "lambda x: tf.cast(x > 0, tf.float32) * tf.ones_like(x)"
SIGN, ROUND, FLOOR, RELU = (
    f"lambda x: {f}(x)" for f in ("tf.sign", "tf.round", "tf.floor", "tf.nn.relu")
)
DOWN = "lambda x: -tf.sign(x)"
MINUS_BOX = (
    f"lambda x: tf.where(tf.abs(x) <= {WIDTH}, -tf.ones_like(x) / {WIDTH}, tf.zeros_like(x))"
)
SAMPLES = 6000
NOTCHES = "sign, hard tanh with two notches, even noise"
FLAT = "relu, a flattened sigmoid, logistic noise"
UNLUCKY = "minus sign, hard tanh turned over, few samples"
ALIGNED = "minus sign, hard tanh, even noise"
FEW = {FLAT: 300, UNLUCKY: 400}  # FLAT: 7.4 standard errors off at the ends, where most
EXPLAINED = {
    "sign, hard tanh, even noise": (SIGN, BOX, True, "value"),
    "round, straight-through, half a step of even noise": (ROUND, ONE, True, "value"),
    "sign, straight-through, even noise": (SIGN, ONE, False, "value"),
    NOTCHES: (SIGN, NOTCHED, False, "value"),
    "relu, sigmoid, logistic noise": (RELU, SIGMOID, True, "value"),
    FLAT: (RELU, FLATTENED, False, "robust"),
    "sign, logistic curve, logistic noise": (SIGN, LOGISTIC, True, "robust"),
    "floor, straight-through, one step of even noise": (FLOOR, ONE, True, "robust"),
    UNLUCKY: (DOWN, MINUS_BOX, True, "robust"),
    ALIGNED: (DOWN, BOX, False, "robust"),
}
POINTS, H = np.linspace(-3, 3, 50), 0.05


def _noise(rng: np.random.Generator, name: str) -> np.ndarray:
    if name == UNLUCKY:
        return _unlucky(rng)
    # Stratified: the mean over the samples is close to that over the noise.
    k = FEW.get(name, SAMPLES)
    even = (rng.permutation(k) + rng.random(k)) / k
    if "logistic noise" in name:
        even = np.clip(even, 1e-6, 1 - 1e-6)
        return np.log(even / (1 - even)).astype(np.float32)
    if "half a step" in name:
        return (even - 0.5).astype(np.float32)
    if "one step" in name:
        return even.astype(np.float32)
    return (WIDTH * (2 * even - 1)).astype(np.float32)


def _unlucky(rng: np.random.Generator) -> np.ndarray:
    """Plain random samples, drawn until by chance a mean lies 3.3 to 4.5 errors off at a point.

    No sample comes near the ends of a point's window: rounding in float32 changes no count.
    """
    edges = np.sort(np.concatenate([-POINTS - H, -POINTS + H]))
    while True:
        noise = away(uniform(rng, -WIDTH, WIDTH, (FEW[UNLUCKY],)), edges, gap=1e-4)
        if 3.3 <= np.max(errors_off(noise)) <= 4.5:
            return noise


def errors_off(noise: np.ndarray) -> np.ndarray:
    """By how many standard errors the mean quotient of a sign is off, where even noise reaches."""
    near = POINTS[np.abs(POINTS) < WIDTH]
    hits = np.mean(np.abs(noise + near[:, None]) < H, axis=1)  # each a quotient of 1 / h
    with np.errstate(divide="ignore"):  # no hit at all: infinitely many errors
        error = np.sqrt(hits * (1 - hits) / noise.size) / H
        return np.asarray(np.abs(hits / H - 1 / WIDTH) / error)


def explained_cases(rng: np.random.Generator) -> list[Case]:
    cases = []
    for name, (f, surrogate, _, part) in EXPLAINED.items():
        inputs = {"f": Source(f), "surrogate": Source(surrogate), "noise": _noise(rng, name)}
        cases.append(Case(name, inputs, part=part, modes=ONCE, wants=("value",)))
    return cases


def _wrong_on(*names: str) -> Callable[[Case], dict[str, bool]]:
    return lambda case: {"value": EXPLAINED[case.name][2] != (case.name in names)}


STEP_ONLY = "sign, straight-through, even noise"


EXPLAINS = Exercise(
    id="surrogate_explains",
    cases=explained_cases,
    truth=lambda case: {"value": EXPLAINED[case.name][2]},
    parts={"value": 6, "robust": 4},
    probe="explains",
    hints=(
        "For one point `x`: the quotients (f(x + h + noise) − f(x − h + noise)) / 2h are `k` "
        "numbers. Their mean estimates the slope of the averaged function.",
        "The standard error of that mean is the quotients' standard deviation over √k. Compare "
        "`|mean − surrogate(x)|` with 5 of these, at each of the 50 points.",
        "`x = np.linspace(-3, 3, 50)[:, None]`, `h = 0.05`, `noise[None, :]`: one array (50, k) "
        "of quotients; `mean` and `std` along axis 1; `np.all(|mean − surrogate(x)| <= 5·std/√k + "
        "1e-6)`. The `1e-6` is for points where no sample reaches a jump.",
    ),
    # Those that are wrong of few pairs first: a name fits where nothing else was wrong.
    mistakes=(
        Mistake(
            "sign ignored",
            "A slope of +1 is not a slope of −1: compare the numbers, not their sizes.",
            _wrong_on(ALIGNED),
        ),
        Mistake(
            "tolerance too wide",
            "Your function says True to a surrogate that is 7 standard errors off near −3 and 3. "
            "The standard error comes from the `k` quotients: their standard deviation over √k.",
            _wrong_on(FLAT),
        ),
        Mistake(
            "tolerance too narrow",
            "Your function says False to a right surrogate. Its mean is off by chance, at one "
            "point by more than 3 standard errors. Allowed are 5, and 10⁻⁶ on top.",
            _wrong_on(UNLUCKY),
        ),
        Mistake(
            "fixed tolerance",
            "Your tolerance is too wide for one pair and too narrow for another. The standard "
            "error differs from point to point and from pair to pair: let the tolerance be 5 of "
            "it.",
            _wrong_on(FLAT, UNLUCKY),
        ),
        Mistake(
            "not at every point",
            "Your function says True to a surrogate that is wrong at two of the 50 points. Ask all "
            "50, and let each of them decide by itself.",
            _wrong_on(NOTCHES, FLAT),
        ),
        Mistake(
            "one point only",
            "At 0 a surrogate may agree by chance. Compare at all 50 points.",
            _wrong_on(STEP_ONLY, NOTCHES, FLAT),
        ),
        Mistake(
            "standard deviation for standard error",
            "Your tolerance is the spread of single samples. The mean of `k` samples spreads less "
            "by √k: divide by it.",
            _wrong_on(NOTCHES, FLAT, ALIGNED),
        ),
        Mistake(
            "always content",
            "Your function says True to every pair.",
            _wrong_on(*(n for n, row in EXPLAINED.items() if not row[2])),
        ),
        Mistake(
            "false where noise ends",
            "Your function says False to right pairs whose noise does not reach all of the "
            "points. There mean and standard error are both 0: are 10⁻⁶ allowed on top? Their "
            "quotient is 0/0, a NaN, and `NaN <= 5` is False. And is `h` 0.05, are there 50 points "
            "from −3 to 3?",
            _wrong_on("sign, hard tanh, even noise", UNLUCKY),
        ),
        Mistake(
            "step too small",
            "With so small an `h` hardly a sample falls between `x − h` and `x + h`. Take 0.05.",
            _wrong_on(NOTCHES, ALIGNED, UNLUCKY, "sign, logistic curve, logistic noise"),
        ),
        Mistake(
            "right pairs refused",
            "Your function says False to right pairs. Is the noise added to `x` before `f` is "
            "asked? Is `h` 0.05, and the difference divided by 2h? Is the standard error the "
            "standard deviation over √k, not over k? Are 10⁻⁶ allowed on top?",
            _wrong_on(*(n for n, row in EXPLAINED.items() if row[2])),
        ),
    ),
    reread="Surrogates are meant to disagree",
    also="The quotients can be averaged in TensorFlow as well: "
    "`tf.math.reduce_std(quotients, 1) / k ** 0.5`.",
)

EXERCISES = [NUMERIC, STEP, REPORT, CHECKER, SUSPECTS, EXPLAINS]
