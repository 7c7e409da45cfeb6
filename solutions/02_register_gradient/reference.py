"""Chapter 02 in closed form: what is right, and what each mistake would give. NumPy only."""

from __future__ import annotations

import numpy as np

from grader import draw, words
from grader.contract import (
    EAGER,
    GRAPH,
    GRAPH_MODES,
    OUTSIDE,
    Case,
    Either,
    Entry,
    Exercise,
    Mistake,
    table,
)
from grader.narrow import between, beyond, in_float32

RULE = "What a rule is"
REGISTRY = "The registry takes a name once"
INPUTS = "One gradient for each input, one argument for each output"
RETURNS = "What a rule may return"
NUMPY = "A gradient for NumPy code"
CHECKED = "A published rule, checked"

GRADIENT = ("gradient",)
NONE_SAYS = (
    "Your rule returns None for an input that has a gradient. To TensorFlow that says: there is "
    "no gradient to this input."
)
COUNTS = "(Where a `return` is missing, None comes back, and that counts as one.)"


def up(case: Case) -> np.ndarray:
    """The upstream gradient in float64."""
    return np.asarray(case.upstream, np.float64)


def ranks(rng, precise, wants=GRADIENT):
    """float64, a scalar and a batch for a function of x, as the part `robust`, each in one way.
    `precise` is the x of float64: on it, and on an upstream beyond float32, float32 shows."""
    wide = beyond(draw.like(rng, precise))
    cases = [Case("float64", {"x": precise}, wide, "robust", (OUTSIDE,), wants)]
    for name, shape in (("a scalar", ()), ("a batch of shape (2, 3, 2)", (2, 3, 2))):
        x = draw.away(draw.normal(rng, shape, scale=1.5), (0.0,))
        cases.append(Case(name, {"x": x}, draw.like(rng, x), "robust", (GRAPH,), wants))
    return cases


# square_grad -------------------------------------------------------------------------------------


def square_cases(rng):
    x = draw.away(draw.normal(rng, (2, 3), scale=2.0), (0.0,))
    other, third = (draw.away(draw.normal(rng, (n,)), (0.0,), 0.2) for n in (4, 3))
    return [
        Case("a float32 matrix", {"x": x}, draw.like(rng, x), None, GRAPH_MODES, GRADIENT),
        Case(
            "a second derivative", {"x": other}, draw.like(rng, other), "second", (OUTSIDE,),
            ("second",),
        ),
        Case(
            "a second derivative of the square", {"x": third, "again": True}, draw.like(rng, third),
            "second", (OUTSIDE,), ("second",),
        ),
        *ranks(rng, beyond(draw.upstream(rng, (4,), "float64"))),
    ]  # fmt: skip


def twice(case: Case, first, second, again=None):
    """First derivative where it is asked, second where that is, and of x⁴ = (x²)² likewise."""
    if "again" in case.inputs:
        return {} if again is None else {"second:x": again}
    return {"second:x": second} if case.part == "second" else {"gradient:x": first}


def square_truth(case: Case):
    x = case.arrays["x"]
    return twice(case, 2 * x * up(case), 2 * up(case), 12 * x**2 * up(case))


def upstream_stopped(case: Case):
    """Differentiated twice, x⁴ keeps the term in which the rule itself depends on x."""
    kept = {"second:x": 4 * case.arrays["x"] ** 2 * up(case)}
    return kept if "again" in case.inputs else square_truth(case)


def second_lost(case: Case):
    """No second derivative; of x⁴ there may be the term in which the upstream depends on x."""
    through_upstream = Either(None, 8 * case.arrays["x"] ** 2 * up(case))
    none = twice(case, None, None, through_upstream)
    return none if case.part == "second" else square_truth(case)


square_grad = Exercise(
    id="square_grad",
    cases=square_cases,
    truth=square_truth,
    parts={"gradient": 3, "second": 1, "robust": 1},
    hints=(
        "The derivative of x² is 2x, and it depends on `x`. The rule finds `x` in `op.inputs[0]`.",
        "A rule returns upstream times derivative. `grad` is the upstream gradient.",
        "The product of `2.0`, `op.inputs[0]` and `grad`, by TensorFlow operations only: then "
        "TensorFlow can differentiate the rule once more.",
    ),
    mistakes=(
        Mistake(
            "second order None",
            "The second derivative is None: TensorFlow differentiates your rule, and finds no "
            "path from its result to `x`. Compute it from `op.inputs[0]` by TensorFlow "
            "operations, without `stop_gradient` or NumPy.",
            second_lost,
        ),
        Mistake(
            "no gradient returned",
            "Your rule gives None, which TensorFlow takes for: no gradient to this input. Is a "
            "`return` missing?",
            lambda case: dict.fromkeys(square_truth(case)),
        ),
        Mistake(
            "passed through",
            "This is the upstream gradient itself, passed through unchanged. Multiply it by the "
            "derivative of x².",
            lambda case: twice(case, up(case), None),
        ),
        Mistake(
            "x lost",
            "This is 2 times the upstream gradient. The derivative of x² is 2x: `x` is missing. "
            "It stands in `op.inputs[0]`.",
            lambda case: twice(case, 2 * up(case), None),
        ),
        Mistake(
            "upstream lost",
            "This is 2x, right only while the upstream gradient is all ones. Multiply by `grad`.",
            # Twice: 2, and once more 2x, because such a rule answers an upstream of zeros, too.
            lambda case: twice(case, 2 * case.arrays["x"], 2 + 2 * case.arrays["x"]),
        ),
        Mistake(
            "two lost",
            "The factor 2 is missing: the derivative of x² is 2x.",
            lambda case: twice(case, case.arrays["x"] * up(case), up(case)),
        ),
        Mistake(
            "upstream stopped",
            "The second derivative is right only while the upstream gradient is a constant. Where "
            "the square is used further on, `grad` depends on `x` as well: do not stop it.",
            upstream_stopped,
        ),
        Mistake(
            "sign",
            "The sign is wrong: the derivative of x² is 2x.",
            # Twice: in x⁴ the rule's own slope has the wrong sign, too, and is taken away.
            lambda case: twice(
                case,
                -2 * case.arrays["x"] * up(case),
                -2 * up(case),
                4 * case.arrays["x"] ** 2 * up(case),
            ),
        ),
        in_float32(square_truth),
    ),
    probe="op_gradient",
    options={
        "op": "Square",
        "forward": "lambda x, again=False: (lambda y: y * y if again else y)(tf.square(x))",
    },
    reread=RULE,
    also=(
        "TensorFlow's own rule has `tf.math.conj` around `x`, because `Square` takes complex "
        "numbers too."
    ),
)

# fresh_gradient ----------------------------------------------------------------------------------


def fresh_cases(rng):
    x = draw.normal(rng, (3,))
    first, second = (float(np.round(v, 2)) for v in rng.uniform((2.0, 6.0), (4.0, 9.0)))
    inputs = {"x": x, "first": first, "second": second}
    return [Case("two rules, one after the other", inputs, draw.like(rng, x), modes=(EAGER,))]


def fresh_truth(case: Case):
    return {
        "value": "two names",
        "gradient:first": case.inputs["first"] * up(case),
        "gradient:second": case.inputs["second"] * up(case),
    }


def mixed_up(case: Case):
    """Both names lead to one of the two rules."""
    first, second = (case.inputs[name] * up(case) for name in ("first", "second"))
    return {"gradient:first": Either(second, first), "gradient:second": Either(first, second)}


fresh_gradient = Exercise(
    id="fresh_gradient",
    cases=fresh_cases,
    truth=fresh_truth,
    parts={"value": 1, "gradient": 2},
    hints=(
        "Two rules may well have the same `fn.__name__`, and the cell may be run again. The name "
        "must come from something that never repeats in this process.",
        "`uuid.uuid4()` never repeats. Neither does `itertools.count()`, as long as its cell is "
        "not run again. Register with `tf.RegisterGradient(name)(fn)`.",
        "`name = f'{fn.__name__}-{uuid.uuid4()}'`, then register `fn` under it, then `return "
        "name`.",
    ),
    mistakes=(
        Mistake(
            "fixed name",
            "A later registration raised a `KeyError`: its name is taken. The registry is one for "
            "the whole process and takes each name once, so make up a new name in every call.",
            raises=r"KeyError: .*Registering two gradient",
        ),
        Mistake(
            "old function kept",
            "Two calls returned the same name. A name takes one rule only: where the `KeyError` "
            "is swallowed, the first rule still stands under it, without a word.",
            lambda case: dict.fromkeys(fresh_truth(case), "one name"),
        ),
        Mistake(
            "drawn by chance",
            "With the same seed set again your name comes again, and it is taken. Draw it from "
            "nothing that has a seed: `uuid.uuid4()`, or a counter.",
            lambda case: dict.fromkeys(fresh_truth(case), "drawn name"),
        ),
        Mistake(
            "rules mixed up",
            "One of the two names leads to the rule of the other call. Register the `fn` that "
            "this call was given, and keep nothing from one call to the next.",
            mixed_up,
        ),
        Mistake(
            "no name returned",
            "What comes back is not a string. `RegisterGradient(name)(fn)` returns `fn`; the map "
            "needs the name, so return that.",
            lambda case: dict.fromkeys(fresh_truth(case), "no text"),
        ),
        Mistake(
            "not registered",
            "Nothing is registered under the name you return. `tf.RegisterGradient(name)` is a "
            "decorator: it registers only when it is called with `fn`.",
            raises=r"LookupError: .*No gradient defined for operation",
        ),
    ),
    probe="registers",
    reread=REGISTRY,
    also=(
        "A counter made once serves as well: `numbers = itertools.count()`, and `next(numbers)` "
        "in the name, as long as the counter's cell is not run again."
    ),
)

# multiply_grad -----------------------------------------------------------------------------------


def _product(rng, name, shapes, part, modes=GRAPH_MODES, dtype="float32") -> Case:
    def made():
        x, y = (beyond(draw.away(draw.normal(rng, s, dtype, 1.5), (0.0,), 0.2)) for s in shapes)
        return x, y, beyond(draw.upstream(rng, np.broadcast_shapes(*shapes), dtype))

    x, y, passed = draw.until(made, _keeps_digits)
    return Case(name, {"x": x, "y": y}, passed, part, modes, GRADIENT)


def _keeps_digits(made: tuple[np.ndarray, ...]) -> bool:
    x, y, passed = (part.astype(np.float64) for part in made)
    return draw.clear(y * passed, x.shape) and draw.clear(x * passed, y.shape)


def multiply_cases(rng):
    return [
        _product(rng, "two matrices of one shape", ((2, 3), (2, 3)), None),
        _product(rng, "(2, 3) times (3,)", ((2, 3), (3,)), "broadcast", (OUTSIDE,)),
        _product(rng, "(3, 1) times (1, 4)", ((3, 1), (1, 4)), "broadcast", (GRAPH,)),
        _product(rng, "(2, 1) times (3, 2, 4)", ((2, 1), (3, 2, 4)), "broadcast", (GRAPH,)),
        _product(
            rng, "(3, 1) times (2,) in float64", ((3, 1), (2,)), "robust", (OUTSIDE,), "float64"
        ),
        _product(rng, "two scalars", ((), ()), "robust", (GRAPH,)),
        _product(rng, "a scalar times a batch", ((), (2, 3, 2)), "robust", (GRAPH,)),
    ]


def products(case: Case, left: str, right: str, passed=None):
    """Gradients to x and y: upstream times the input named left (right), reduced to the shapes."""
    a, passed = case.arrays, up(case) if passed is None else passed
    return {
        "gradient:x": draw.reduce_to(a[left] * passed, a["x"].shape),
        "gradient:y": draw.reduce_to(a[right] * passed, a["y"].shape),
    }


def overflown(case: Case):
    """The products of what float32 makes of numbers beyond it: infinities, and of both signs in
    one sum NaN."""
    if case.dtype != "float64":
        return products(case, "y", "x")
    with np.errstate(over="ignore", invalid="ignore"):
        x, y, passed = (
            np.asarray(each, np.float32) for each in (*case.inputs.values(), case.upstream)
        )
        found = {"gradient:x": y * passed, "gradient:y": x * passed}
        sums = {k: draw.reduce_to(v, case.inputs[k[-1]].shape) for k, v in found.items()}
    told = in_float32(lambda case: products(case, "y", "x")).answer(case)
    return {k: Either(v.astype(np.float64), *told[k].options) for k, v in sums.items()}


def averaged(case: Case):
    """The gradients reduced by a mean in place of the sum."""
    sums = products(case, "y", "x")
    return {key: total * total.size / up(case).size for key, total in sums.items()}


multiply_grad = Exercise(
    id="multiply_grad",
    cases=multiply_cases,
    truth=lambda case: products(case, "y", "x"),
    parts={"gradient": 1, "broadcast": 2, "robust": 1},
    hints=(
        "Without broadcasting: `x`'s gradient is `grad` times `y`, `y`'s gradient is `grad` times "
        "`x`. Return both, in the order of the inputs.",
        "Broadcasting uses an entry several times, so its gradient is a sum: over every axis that "
        "was put in front, and over every axis of length 1 that was stretched.",
        "Write a helper that reduces a gradient to a shape: first `tf.reduce_sum` over "
        "`range(rank difference)`, then over the axes where the shape says 1, with "
        "`keepdims=True`.",
    ),
    mistakes=(
        Mistake(
            "not reduced",
            "A gradient does not have the shape of its input. Where the input was broadcast, sum "
            "over the axes along which it was repeated, and keep axes of length 1.",
            raises=r"Incompatible shapes between op input and calculated input gradient",
        ),
        Mistake(
            "swapped",
            "The two gradients are exchanged: `x`'s gradient is upstream times `y`, `y`'s is "
            "upstream times `x`.",
            lambda case: products(case, "x", "y"),
        ),
        Mistake(
            "mean for sum",
            "You take a mean over the stretched axes. An entry that was used several times gets "
            "the sum of what comes back.",
            averaged,
        ),
        Mistake(
            "wrong count",
            f"`Mul` has two inputs, so a rule for it returns two gradients. {COUNTS}",
            raises=r"Num gradients \d+ generated",
        ),
        Mistake("None returned", NONE_SAYS, pattern="none"),
        Mistake("float32 inside", words.FLOAT32_INSIDE, overflown),
    ),
    probe="op_gradient",
    options={"op": "Mul", "forward": "lambda x, y: tf.multiply(x, y)"},
    reread=INPUTS,
    also=(
        "TensorFlow finds the axes itself: `tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(x), "
        "s1=tf.shape(y))` returns them for both inputs, also when shapes are not static."
    ),
)

# top_k_grad --------------------------------------------------------------------------------------


def top_k_cases(rng):
    rising = np.sort(draw.normal(rng, (5,), scale=2.0))
    batch, wide = draw.normal(rng, (3, 4)), draw.normal(rng, (2, 2, 5))
    precise = draw.normal(rng, (6,), "float64")
    one, two, three = (int(k) for k in rng.permutation([1, 2, 3]))
    given = [
        ("a float32 vector", rising, int(rng.integers(2, 4)), None),
        ("float64", precise, one, "robust"),
        ("a batch of shape (3, 4)", batch, two, "robust"),
        ("a batch of shape (2, 2, 5)", wide, three, "robust"),
    ]
    cases = []
    for name, x, k, part in given:
        passed = beyond(draw.upstream(rng, (*x.shape[:-1], k), x.dtype.name))
        # Not in a tf.Graph: there `indices == place` compares identities.
        cases.append(Case(f"{name}, k = {k}", {"x": x, "k": k}, passed, part, (OUTSIDE,), GRADIENT))
    return cases


def scattered(case: Case, *, by_place: bool = False) -> np.ndarray:
    """The upstream entries at the places of the k largest, in order of size (or of place)."""
    x = case.arrays["x"]
    places = np.argsort(-x, axis=-1)[..., : case.inputs["k"]]
    found = np.zeros_like(x)
    np.put_along_axis(found, np.sort(places, -1) if by_place else places, up(case), -1)
    return found


def padded(case: Case) -> np.ndarray:
    """The upstream entries in front, zeros behind."""
    found = np.zeros_like(case.arrays["x"])
    found[..., : case.inputs["k"]] = up(case)
    return found


def spread(case: Case) -> np.ndarray:
    """The sum of the upstream entries everywhere."""
    return np.broadcast_to(up(case).sum(-1, keepdims=True), case.arrays["x"].shape)


top_k_grad = Exercise(
    id="top_k_grad",
    cases=top_k_cases,
    truth=lambda case: {"gradient:x": scattered(case), "gradient returns": "tensor, none"},
    parts={"gradient": 3, "robust": 1},
    hints=(
        "The op has two outputs, `values` and `indices`: so the rule has two gradient arguments. "
        "It has two inputs, `x` and `k`: so the rule returns two things. `k` is an integer and "
        "gets None.",
        "Entry j of `grad_values` belongs to the input at place `op.outputs[1][..., j]`. All "
        "other places get 0.",
        "`tf.one_hot(op.outputs[1], n, dtype=grad_values.dtype)` has shape (..., k, n), a row for "
        "each chosen place. Multiply by `grad_values[..., None]` and sum over axis `-2`.",
    ),
    mistakes=(
        Mistake(
            "wrong count",
            "`TopKV2` has two inputs, `x` and `k`. Return a gradient for each of them: None for "
            f"`k`. {COUNTS}",
            raises=r"Num gradients \d+ generated",
        ),
        Mistake(
            "wrong signature",
            "The rule is called with the op and one gradient for each output. `TopKV2` has two "
            "outputs, so the rule takes three arguments.",
            raises=r"takes 2 positional arguments but 3 were given",
        ),
        Mistake(
            "not the shape of x",
            "A gradient has the shape of its input: for `x` that of `x`, with zeros where no value "
            "was taken from. For `k` it is None.",
            raises=r"Incompatible shapes between op input and calculated input gradient",
        ),
        Mistake(
            "None returned",
            NONE_SAYS,
            lambda case: {"gradient:x": None, "gradient returns": "none, none"},
        ),
        Mistake(
            "number for k",
            "A Python number is no gradient. For an input that has none, return None.",
            raises=r"'(int|float)' object has no attribute",
        ),
        Mistake(
            "k gets a gradient",
            "The gradient to `x` is right. For `k`, an integer, return None, not a tensor.",
            lambda case: {"gradient returns": "tensor, tensor"},
        ),
        Mistake(
            "not scattered",
            "The upstream gradients stand at the front. They belong at the places from which the "
            "values were taken: `op.outputs[1]`.",
            lambda case: {"gradient:x": padded(case)},
        ),
        Mistake(
            "order lost",
            "The right places, in the wrong order: entry j of `grad_values` belongs to the j-th "
            "largest value, not to the j-th place from the left.",
            lambda case: {"gradient:x": scattered(case, by_place=True)},
        ),
        Mistake(
            "dense where zeros belong",
            "Every place gets a gradient. Inputs that were not among the largest had no part in "
            "the output: zero for them.",
            lambda case: {"gradient:x": spread(case)},
        ),
        in_float32(lambda case: {"gradient:x": scattered(case)}),
    ),
    probe="op_gradient",
    options={"op": "TopKV2", "forward": "lambda x, k: tf.math.top_k(x, k=k).values"},
    reread=INPUTS,
    also=(
        "For a vector `tf.scatter_nd(op.outputs[1][:, None], grad_values, tf.shape(x))` does it; "
        "with leading axes, flatten first."
    ),
)

# return_contract ---------------------------------------------------------------------------------

# Errors by their names in Python; words are compared in small letters.
NUMBER, NONE, ATTRIBUTE, VALUE = "number", "none", "attributeerror", "valueerror"
RETURNED = {
    "the int 0": Entry(
        ATTRIBUTE, "TensorFlow asks what comes back for its name, and an int has none."
    ),
    "a NumPy array": Entry(
        ATTRIBUTE, "Not even an array of the right shape and dtype is converted: it is no tensor."
    ),
    "None": Entry(NONE, "None is allowed. It means: no gradient to this input."),
    "[tensor]": Entry(NUMBER, "A list or tuple with one tensor for each input is what is asked."),
    "two tensors": Entry(
        VALUE, "The number of gradients must be the number of the op's inputs, here one."
    ),
    "a tensor of shape ()": Entry(
        VALUE, "A gradient has the shape of its input. There is no broadcasting here."
    ),
}


def _expecting(words: dict[str, str]):
    return {f"entry:{key}": word for key, word in words.items()}


return_contract = table(
    "return_contract",
    RETURNED,
    (NUMBER, NONE, ATTRIBUTE, VALUE),
    hints=(
        "TensorFlow needs a tensor or None, one for each input, of the input's shape. Which of the "
        "six are that?",
        "What is no tensor at all fails with an `AttributeError`, because TensorFlow looks for "
        "its name. A wrong number and a wrong shape of tensors fail with a `ValueError`.",
        "Try each one: `attempt(lambda op, grad: 0)` and so on. Only None and `[tensor]` get "
        "through.",
    ),
    weight=4,
    reread=RETURNS,
    mistakes=(
        Mistake(
            "conversion expected",
            "You expect TensorFlow to convert numbers and arrays to tensors here, as it does "
            "nearly everywhere else. It does not.",
            lambda case: _expecting({"the int 0": NUMBER, "a NumPy array": NUMBER}),
        ),
        Mistake(
            "broadcast expected",
            "You expect a gradient of shape () to be broadcast to its input's shape. It is not.",
            lambda case: _expecting({"a tensor of shape ()": NUMBER}),
        ),
        Mistake(
            "none refused",
            "None is no error: it says that there is no gradient to this input.",
            lambda case: _expecting({"None": Either(ATTRIBUTE, VALUE)}),
        ),
    ),
)

# numpy_sine --------------------------------------------------------------------------------------


def sine_cases(rng):
    x = draw.normal(rng, (2, 3), scale=2.0)
    main = Case("a float32 matrix", {"x": x}, draw.like(rng, x), None, GRAPH_MODES)
    # A thousand turns out, half a step of float32 moves the sine in its fifth digit.
    precise = between(draw.away(draw.normal(rng, (4,), "float64", 3000.0), (0.0,), 2000.0))
    return [main, *ranks(rng, precise, ("value", "gradient"))]


def narrow_sine(case: Case):
    """The sine of x cut to float32; of a float32 x there is nothing to cut."""
    return {"value": np.sin(case.arrays["x"].astype(np.float32).astype(np.float64))}


numpy_sine = Exercise(
    id="numpy_sine",
    cases=sine_cases,
    truth=lambda case: {
        "value": np.sin(case.arrays["x"]),
        "gradient:x": np.cos(case.arrays["x"]) * up(case),
        "graph/value shape": str(case.arrays["x"].shape),
        "graph/value by": "NumPy",
    },
    parts={"value": 2, "gradient": 2, "robust": 1},
    hints=(
        "`tf.compat.v1.py_func(np.sin, [x], x.dtype)` computes the value. Its op type is "
        "`PyFunc`, unless you say `stateful=False`: then it is `PyFuncStateless`.",
        "Enter the map around the call, with that type as key and the name of a registered rule "
        "as value. In the rule `op.inputs[0]` is `x`, and `cos` must come from TensorFlow.",
        "TensorFlow cannot know the shape of what NumPy returns: tell it, `y.set_shape(x.shape)`. "
        "Declare `x.dtype`, not `tf.float32`, or float64 breaks.",
    ),
    mistakes=(
        Mistake(
            "wrong op type",
            "The gradient is None: the map's key is not the type of the op you emit. `py_func` "
            "emits `PyFunc`, with `stateful=False` `PyFuncStateless`; `tf.numpy_function` emits "
            "`PyFunc`.",
            lambda case: {"gradient:x": None},
        ),
        Mistake(
            "shape lost",
            "The static shape is unknown: TensorFlow cannot look into NumPy. A `Dense` layer "
            "behind this would fail. Say `y.set_shape(x.shape)`.",
            lambda case: {"value shape": Either("unknown", str((None,) * case.arrays["x"].ndim))},
        ),
        Mistake(
            "float64 dtype",
            "The declared dtype and the one that NumPy returns, or that the rule multiplies, "
            "differ. Declare `x.dtype` and keep to it.",
            raises=r"is double, but expects float|is float, but expects double"
            r"|that does not match type float|must be the same type",
        ),
        Mistake(
            "not by NumPy",
            "The numbers are right, but TensorFlow computes them. Call `np.sin`, by "
            "`tf.compat.v1.py_func` or `tf.numpy_function`.",
            lambda case: {"value by": "TensorFlow"},
        ),
        Mistake(
            "by py function",
            "`tf.py_function` runs TensorFlow code eagerly and records a tape. Here the forward "
            "pass is NumPy: `tf.compat.v1.py_func` or `tf.numpy_function`, and the gradient is "
            "yours.",
            lambda case: {"value by": "py_function"},
        ),
        Mistake(
            "sine for cosine",
            "The derivative of sin is cos.",
            lambda case: {"gradient:x": np.sin(case.arrays["x"]) * up(case)},
        ),
        Mistake(
            "float32 in the value",
            "The sine of a float64 `x` is computed in float32, which holds half the digits. Keep "
            "to the dtype of `x` on the way, too.",
            narrow_sine,
        ),
        in_float32(lambda case: {"gradient:x": np.cos(case.arrays["x"]) * up(case)}),
    ),
    probe="by_numpy",
    card="x",
    reread=NUMPY,
    also=(
        "In new code: `tf.custom_gradient` around `tf.numpy_function`. No name, no op type, and "
        "it works in eager code as well (chapter 05)."
    ),
)

# add_backprop ------------------------------------------------------------------------------------


def _sum(rng, name, shape, part, modes=GRAPH_MODES, dtype="float32") -> Case:
    inputs = {key: draw.normal(rng, shape, dtype) for key in ("c", "k", "d")}
    passed = beyond(draw.like(rng, inputs["c"]))
    return Case(name, inputs, passed, part, modes, GRADIENT)


def add_cases(rng):
    return [
        _sum(rng, "three float32 vectors", (4,), None),
        _sum(rng, "float64", (3,), "robust", (OUTSIDE,), "float64"),
        _sum(rng, "scalars", (), "robust", (GRAPH,)),
        _sum(rng, "batches of shape (2, 3)", (2, 3), "robust", (GRAPH,)),
    ]


def published(case: Case):
    """The triple that goes round: partial derivatives of d · (c + k), not of c + k."""
    c, k, d = case.arrays.values()
    return {
        "gradient:c": (c + k + d) * up(case),
        "gradient:k": d * up(case),
        "gradient:d": (c + k) * up(case),
    }


def zeros_elsewhere(case: Case):
    either = Either(np.zeros_like(up(case)), up(case))
    return {"gradient:c": either, "gradient:k": either, "gradient:d": up(case)}


def some_none(case: Case):
    """None for c, for k or for both, whatever there is for d."""
    either = Either(None, up(case))
    kinds = (f"{c}, {k}, {d}" for c in KINDS for k in KINDS for d in KINDS if "none" in (c, k))
    return {"gradient:c": either, "gradient:k": either, "gradient returns": Either(*kinds)}


KINDS = ("tensor", "none")
ALL_TENSORS = "tensor, tensor, tensor"

add_backprop = Exercise(
    id="add_backprop",
    cases=add_cases,
    truth=lambda case: {
        "gradient:c": up(case),
        "gradient:k": up(case),
        "gradient:d": np.zeros_like(up(case)),
        "gradient returns": ALL_TENSORS,
    },
    parts={"gradient": 3, "robust": 1},
    hints=(
        "A rule answers for its own op only: how does `e = c + k` change with each of the three "
        "inputs? What happens to `e` further on is already in `grad`.",
        "`e` does not depend on `d` at all. The contract asks for zeros of `d`'s shape, not for "
        "None.",
        "Return three things: `grad` for `c`, `grad` for `k`, and for `d` `tf.zeros_like` of the "
        "third input.",
    ),
    mistakes=(
        Mistake(
            "published triple",
            "These are derivatives of d · (c + k), the next node. That node has a gradient of its "
            "own, so all that runs through `d` is counted twice. Differentiate `e = c + k` only.",
            published,
        ),
        Mistake(
            "None for d",
            "None would do for TensorFlow; the contract here is zeros. Whoever adds up gradients "
            "without looking stumbles over None.",
            lambda case: {"gradient:d": None, "gradient returns": "tensor, tensor, none"},
        ),
        Mistake(
            "d gets the gradient",
            "`e = c + k` does not contain `d`. Its gradient is zero.",
            lambda case: {f"gradient:{name}": up(case) for name in "ckd"},
        ),
        Mistake(
            "wrong order",
            "The zeros stand in the wrong place. The gradients come in the order of the inputs: "
            "`c`, `k`, and last `d`, on which `e` does not depend.",
            zeros_elsewhere,
        ),
        Mistake("None returned", NONE_SAYS, some_none),
        Mistake(
            "wrong count",
            "The node has three inputs, `c`, `k` and `d`. Return a gradient for each of them. "
            f"{COUNTS}",
            raises=r"Num gradients \d+ generated",
        ),
        in_float32(lambda case: {"gradient:c": up(case), "gradient:k": up(case)}),
    ),
    probe="op_gradient",
    options={
        "op": "PyFunc",
        "forward": "lambda c, k, d: tf.ensure_shape(tf.compat.v1.py_func("
        "lambda c, k, d: (c + k).astype(c.dtype), [c, k, d], c.dtype), c.shape)",
    },
    reread=CHECKED,
    also="`0.0 * op.inputs[2]` is zeros as well, until `d` holds an infinity: 0 · inf is NaN.",
)

EXERCISES = [
    square_grad,
    fresh_gradient,
    multiply_grad,
    top_k_grad,
    return_contract,
    numpy_sine,
    add_backprop,
]
