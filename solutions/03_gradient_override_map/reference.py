"""Chapter 03 in closed form: what is right, and what each mistake would give. NumPy only."""

from __future__ import annotations

import numpy as np

from grader import draw
from grader.contract import (
    EAGER,
    EVERYWHERE,
    GRAPH,
    GRAPH_MODES,
    INSIDE,
    OUTSIDE,
    Case,
    Either,
    Entry,
    Exercise,
    Mistake,
    Source,
    table,
)

TYPES = "A type, not a name"
WHERE = "Where an override acts"
HANDLE = "Identity is a handle"
STRAIGHT = "Straight through"
XNOR = "XNOR in steps"
EVERY = "The rule that works everywhere"
GUIDED = "A rule that asks about the upstream gradient"


def up(case: Case) -> np.ndarray:
    """The upstream gradient in float64."""
    return np.asarray(case.upstream, np.float64)


# One way for each: a graph in a session is made in half the time of a tf.function.
IN_GRAPHS = ((OUTSIDE,), (GRAPH,), (GRAPH,))


def robust(rng, points=(), scale=1.5, modes=IN_GRAPHS, **given):
    """float64, a scalar, and a batch: the same contract on inputs of other dtypes and ranks.

    `modes` says where each of the three runs. `given` are further arguments of the function,
    passed as they are.
    """
    cases = []
    rows = (
        ("float64", (4,), "float64"),
        ("a scalar", (), "float32"),
        ("a batch of shape (2, 3, 2)", (2, 3, 2), "float32"),
    )
    for (name, shape, dtype), where in zip(rows, modes, strict=True):
        x = draw.away(draw.normal(rng, shape, dtype, scale), points)
        inputs = {"x": x, **given}
        cases.append(Case(name, inputs, draw.like(rng, x), "robust", where))
    return cases


# op_types ----------------------------------------------------------------------------------------

# What TensorFlow emits when these are traced: op types, then node names.
ONE_TO_ONE = {
    "lambda x: tf.floor(x) * 2.0": (["Floor", "Mul"], ["Floor", "mul"]),
    "lambda x: tf.where(x > 0.0, x, 0.1 * x)": (
        ["Greater", "Mul", "SelectV2"],
        ["Greater", "mul", "SelectV2"],
    ),
    "lambda x: tf.round(x) - x": (["Round", "Sub"], ["Round", "sub"]),
    "lambda x: x // 2.0 + x": (["FloorDiv", "AddV2"], ["floordiv", "add"]),
    "lambda x: tf.clip_by_value(x, -1.0, 1.0)": (
        ["Minimum", "Maximum"],
        ["clip_by_value/Minimum", "clip_by_value"],
    ),
    "lambda x: tf.reduce_mean(tf.abs(x)) / 2.0": (
        ["Abs", "Mean", "RealDiv"],
        ["Abs", "Mean", "truediv"],
    ),
    "lambda x: tf.square(x) * tf.sigmoid(x)": (
        ["Square", "Sigmoid", "Mul"],
        ["Square", "Sigmoid", "mul"],
    ),
    "lambda x: tf.exp(x) + x ** 2.0": (["Exp", "Pow", "AddV2"], ["Exp", "pow", "add"]),
}
REPEATED = {
    "lambda x: x * x * x": (["Mul", "Mul"], ["mul", "mul_1"]),
    "lambda x: tf.floor(x) + tf.floor(-x)": (
        ["Floor", "Neg", "Floor", "AddV2"],
        ["Floor", "Neg", "Floor_1", "add"],
    ),
    "lambda x: tf.sin(x) * tf.sin(2.0 * x)": (
        ["Sin", "Mul", "Sin", "Mul"],
        ["Sin", "mul", "Sin_1", "mul_1"],
    ),
}
WITH_IDENTITIES = {
    "lambda x: tf.identity(tf.sign(x)) * x": (
        ["Sign", "Identity", "Mul"],
        ["Sign", "Identity", "mul"],
    ),
    "lambda x: -tf.identity(x)": (["Identity", "Neg"], ["Identity", "Neg"]),
    "lambda x: tf.nn.relu(tf.identity(x)) + x": (
        ["Identity", "Relu", "AddV2"],
        ["Identity", "Relu", "add"],
    ),
}
TWO_OUTPUTS = {
    "lambda x: (tf.abs(x), -x)": (["Abs", "Neg"], ["Abs", "Neg"]),
    "lambda x: (tf.tanh(x), x * x)": (["Tanh", "Mul"], ["Tanh", "mul"]),
}
PRODUCTS = {
    2: (["MatMul", "AddV2"], ["matmul", "add"]),
    3: (["BatchMatMulV2", "AddV2"], ["matmul", "add"]),
}
PRODUCT = "lambda x, y: x @ y + y"
ONE_ARGUMENT = ONE_TO_ONE | REPEATED | WITH_IDENTITIES | TWO_OUTPUTS


def op_types_cases(rng):
    texts = [*rng.choice(list(ONE_TO_ONE), 3, replace=False), rng.choice(list(REPEATED))]
    cases = [_types_case(rng, str(text), None) for text in texts]
    for pool in (WITH_IDENTITIES, TWO_OUTPUTS):
        cases.append(_types_case(rng, str(rng.choice(list(pool))), "robust"))
    for rank in (2, 3):
        x, y = (draw.normal(rng, (2,) * rank) for _ in range(2))
        inputs = {"fn": Source(PRODUCT), "x": x, "y": y}
        name = f"{PRODUCT.split(': ')[1]}, rank {rank}"
        cases.append(Case(name, inputs, None, "robust", (EAGER,), ("value",)))
    return cases


def _types_case(rng, text: str, part: str | None) -> Case:
    inputs = {"fn": Source(text), "x": draw.normal(rng, (3,))}
    return Case(text.split(": ", 1)[1], inputs, None, part, (EAGER,), ("value",))


def traced(case: Case) -> tuple[list[str], list[str]]:
    """Op types and node names of a case's function."""
    text = case.inputs["fn"].text
    if text == PRODUCT:
        return PRODUCTS[case.inputs["x"].ndim]
    return ONE_ARGUMENT[text]


def _outputs(case: Case) -> int:
    return 2 if case.inputs["fn"].text in TWO_OUTPUTS else 1


def _tf_names(case: Case):
    lower = [name.lower() for name in traced(case)[0]]
    return {"value": Either([f"tf.{name}" for name in lower], lower)}


def _once_each(case: Case) -> list[str]:
    return list(dict.fromkeys(traced(case)[0]))


op_types = Exercise(
    id="op_types",
    cases=op_types_cases,
    truth=lambda case: {"value": traced(case)[0]},
    parts={"value": 2, "robust": 1},
    hints=(
        "Trace first: `tf.function(fn).get_concrete_function(*args)` has a `.graph`, and a graph "
        "has `.get_operations()`, in the order in which they were made.",
        "An op has a `.name` (of the node) and a `.type` (of the op). The map asks for the type. "
        "Leave out the types `Placeholder`, `Const` and `NoOp`.",
        "The Identities at the end are those that produce the graph's outputs: `ends = {t.op.name "
        "for t in graph.outputs}`, and skip an op whose name is in `ends`.",
    ),
    mistakes=(
        Mistake(
            "node names",
            "These are the names of the nodes. A name belongs to one node and can be anything; "
            "`op.type` says what kind of op it is, and that is what the map looks up.",
            lambda case: {"value": traced(case)[1]},
        ),
        Mistake(
            "tf names",
            "These are names of Python functions or their lower-case form. The map wants the op "
            "type as TensorFlow registers it, capitals included: read `op.type`.",
            _tf_names,
        ),
        Mistake(
            "return identities kept",
            "The Identities at the end were added by `tf.function` for what is returned. They are "
            "not yours: leave out the ops that produce `graph.outputs`.",
            lambda case: {"value": traced(case)[0] + ["Identity"] * _outputs(case)},
        ),
        Mistake(
            "written identities lost",
            "You drop every `Identity`. One that `fn` itself calls must stay: it is the op that "
            "most overrides are hung on. Leave out only those that produce `graph.outputs`.",
            lambda case: {"value": [t for t in traced(case)[0] if t != "Identity"]},
            part="robust",
        ),
        Mistake(
            "repeats lost",
            "A type that `fn` emits twice stands in your list once. Every op counts, in the order "
            "in which `fn` made them.",
            lambda case: {"value": _once_each(case)},
        ),
        Mistake(
            "order lost",
            "The types are right, their order is not: a set or a sort has lost it. "
            "`graph.get_operations()` gives the order in which `fn` made them.",
            lambda case: {"value": Either(sorted(traced(case)[0]), sorted(_once_each(case)))},
        ),
    ),
    probe="listed",
    reread=TYPES,
    also=(
        "A `tf.Graph` has no return Identities to remove: `with tf.Graph().as_default() as graph: "
        "fn(*[tf.constant(a.numpy()) for a in args])`, then read `graph.get_operations()`."
    ),
)

# where_it_acts -----------------------------------------------------------------------------------

ACTS, IGNORED = "acts", "ignored"
PLACES = {
    "eager": Entry(
        IGNORED,
        "The map belongs to a graph. An eager op goes into no graph; the tape looks up the "
        "gradient of its type.",
    ),
    "tape outside": Entry(
        ACTS,
        "The tape asks the traced function for its backward function, and that one is built from "
        "the graph, where the node carries the override.",
    ),
    "tape inside": Entry(
        IGNORED,
        "Inside the function the tape itself records the op, and a tape goes by op type.",
    ),
    "tf.gradients inside": Entry(
        ACTS, "`tf.gradients` walks the graph's nodes and reads the override from each of them."
    ),
    "nested function": Entry(
        IGNORED,
        "The inner `tf.function` is a graph of its own. The map of the outer graph does not reach "
        "into it.",
    ),
    "keras fit": Entry(
        IGNORED, "Keras puts its tape inside the traced training step: that is `'tape inside'`."
    ),
    "lower-case key": Entry(
        IGNORED, "`'sign'` is no op type. The map accepts any string and says nothing."
    ),
    "tf.cond body": Entry(
        IGNORED, "A branch is a graph of its own. Enter the map inside the branch function."
    ),
    "v1 session": Entry(
        ACTS, "One graph, and `tf.compat.v1.gradients` reads the override: the map's home."
    ),
    "rank-3 matmul": Entry(
        IGNORED, "From rank 3 on the op is `BatchMatMulV2`. There is no `MatMul` to override."
    ),
}


def _expecting(word: str):
    """The table of someone who expects `word` wherever the truth is the other one."""
    return {f"entry:{key}": word for key in PLACES}


where_it_acts = table(
    "where_it_acts",
    PLACES,
    (ACTS, IGNORED),
    hints=(
        "Ask of every setting: who looks up the gradient, a tape that recorded the op itself, or "
        "code that reads the node of a graph? Only the second one sees the override.",
        "Then ask: is the node made in the very graph on which the map was entered? A nested "
        "function and a branch are graphs of their own. Then: is the key the type of the op?",
        "Three of the ten act: a tape around the call of the traced function, `tf.gradients`, and "
        "the v1 graph. Or try each one with `gradient_of` from above.",
    ),
    weight=5,
    reread=WHERE,
    mistakes=(
        Mistake(
            "overrated",
            "You expect the override to act where it is silently ignored.",
            lambda case: _expecting(ACTS),
        ),
        Mistake(
            "underrated",
            "You expect the override to be ignored where it acts.",
            lambda case: _expecting(IGNORED),
        ),
        Mistake(
            "tapes swapped",
            "The two tapes are exchanged: the one outside the traced function sees the override, "
            "the one inside does not.",
            lambda case: {"entry:tape outside": IGNORED, "entry:tape inside": ACTS},
        ),
    ),
)

# times_five, reverse_gradient --------------------------------------------------------------------

NOT_MAPPED = (
    "The gradient is right, but by another way: no `{op}` op carries an override, or it makes no "
    "difference. Here the override itself is the exercise."
)


def mapped_cases(op: str, points=()):
    def cases(rng):
        x = draw.away(draw.normal(rng, (3, 4), scale=2.0), points)
        options = {"op": op}
        main = Case("a float32 matrix", {"x": x}, draw.like(rng, x), None, GRAPH_MODES)
        return [
            Case(main.name, main.inputs, main.upstream, None, GRAPH_MODES, options=options),
            *(
                Case(c.name, c.inputs, c.upstream, c.part, c.modes, options=options)
                for c in robust(rng, points, 2.0)
            ),
        ]

    return cases


times_five = Exercise(
    id="times_five",
    cases=mapped_cases("Identity"),
    truth=lambda case: {
        "value": case.arrays["x"],
        "gradient:x": 5 * up(case),
        "graph/gradient mapped": "mapped",
    },
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "Write the rule first: a function of `(op, grad)` that returns 5 times `grad`. Register "
        "it with `register`, which gives you its name.",
        "Then enter a map whose key is the op type of `tf.identity`, and call `tf.identity` "
        "inside it.",
        "`with overriding({'Identity': register(rule)}): return tf.identity(x)`",
    ),
    mistakes=(
        Mistake(
            "factor on the forward",
            "The value is 5·x. The forward pass must not change: multiply in the rule, not in "
            "the function.",
            lambda case: {"value": 5 * case.arrays["x"]},
        ),
        Mistake(
            "applied twice",
            "The gradient is 25 times the upstream one: two Identities stand inside the map, and "
            "each multiplies by 5.",
            lambda case: {"gradient:x": 25 * up(case)},
        ),
        Mistake(
            "another tool",
            NOT_MAPPED.format(op="Identity"),
            lambda case: {"gradient mapped": Either("absent", "plain")},
        ),
    ),
    plain=lambda case: {"gradient:x": up(case), "gradient mapped": Either("absent", "plain")},
    probe="mapped",
    card="x",
    reread=HANDLE,
    also="Registered once for the whole notebook, the rule serves as well: the name is a string.",
)


def reverse_cases(rng):
    x = draw.normal(rng, (3, 4))
    strength = float(np.round(rng.uniform(0.2, 0.8), 2))
    other = float(np.round(rng.uniform(1.5, 3.0), 2))
    return [
        Case("a float32 matrix", {"x": x, "strength": strength}, draw.like(rng, x),
             modes=GRAPH_MODES),
        Case("another strength", {"x": x[0], "strength": other}, draw.like(rng, x[0]),
             modes=GRAPH_MODES),
        *robust(rng, strength=strength),
    ]  # fmt: skip


reverse_gradient = Exercise(
    id="reverse_gradient",
    cases=reverse_cases,
    truth=lambda case: {
        "value": case.arrays["x"],
        "gradient:x": -case.inputs["strength"] * up(case),
    },
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "It is `times_five` with another factor. The rule is written inside `reverse_gradient`, "
        "so it can see `strength`.",
        "The factor is minus `strength`; a rule that returns `-grad` only works for `strength` 1.",
        "`def rule(op, grad): return -strength * grad`, then map `'Identity'` on `register(rule)`.",
    ),
    mistakes=(
        Mistake(
            "sign",
            "The gradient is scaled by `+strength`. Reversal is the minus sign: the layers below "
            "are to make the domain classifier worse.",
            lambda case: {"gradient:x": case.inputs["strength"] * up(case)},
        ),
        Mistake(
            "strength on the forward",
            "The `strength` has changed the value. Forward must be the identity; the `strength` "
            "belongs in the rule.",
            lambda case: {
                "value": Either(
                    case.inputs["strength"] * case.arrays["x"],
                    -case.inputs["strength"] * case.arrays["x"],
                )
            },
        ),
        Mistake(
            "strength lost",
            "The gradient is −1 times the upstream one where −strength times it is asked.",
            lambda case: {"gradient:x": -up(case)},
        ),
    ),
    plain=lambda case: {"gradient:x": up(case)},
    reread=HANDLE,
    also=(
        "With `strength` in a tensor you can change it while training, without a new trace: pass "
        "it as a second argument of a `tf.custom_gradient` function (chapter 05)."
    ),
)

# floor_passthrough, binarize ---------------------------------------------------------------------

WHOLE = tuple(range(-9, 10))

floor_passthrough = Exercise(
    id="floor_passthrough",
    cases=mapped_cases("Floor", WHOLE),
    truth=lambda case: {
        "value": np.floor(case.arrays["x"]),
        "gradient:x": up(case),
        "graph/gradient mapped": "mapped",
    },
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=(
        "No rule of your own is needed: the value of the map may be the name of any registered "
        "gradient, also that of an op type.",
        "The gradient of `Identity` hands the upstream gradient through. Map `'Floor'` on "
        "`'Identity'`.",
        "`with overriding({'Floor': 'Identity'}): return tf.floor(x)`",
    ),
    mistakes=(
        Mistake(
            "not a floor",
            "The value is right, but no op of type `Floor` is inside your map, so there is "
            "nothing to override. `x // 1` is `FloorDiv`, a cast to int and back is `Cast`. Call "
            "`tf.floor`.",
            lambda case: {
                "value": np.floor(case.arrays["x"]),
                "gradient:x": None,
                "gradient mapped": "absent",
            },
        ),
        Mistake(
            "cut towards zero",
            "Negative numbers come out too large: a cast to an integer cuts towards zero, and no "
            "op of type `Floor` is inside your map. Call `tf.floor`.",
            lambda case: {
                "value": np.trunc(case.arrays["x"]),
                "gradient:x": None,
                "gradient mapped": "absent",
            },
        ),
        Mistake(
            "another tool",
            NOT_MAPPED.format(op="Floor"),
            lambda case: {"gradient mapped": Either("absent", "plain")},
        ),
        Mistake(
            "paths cancel",
            "The gradient is zero: the two paths through `x` cancel. TensorFlow turns None into 0 "
            "here, which trains no better.",
            lambda case: {
                "gradient:x": np.zeros_like(up(case)),
                "gradient mapped": Either("absent", "plain"),
            },
        ),
    ),
    plain=lambda case: {"gradient:x": None, "gradient mapped": "plain"},
    probe="mapped",
    card="x",
    reread=STRAIGHT,
    also="Your own rule `lambda op, grad: grad`, registered, does the same as `'Identity'`.",
)

EDGES = (-1.0, 0.0, 1.0)
BESIDE = (-1.0001, -0.9999, 0.9999, 1.0001)  # a window that is a little too wide or narrow shows


def binarize_cases(modes, others_modes):
    def cases(rng):
        inside = draw.away(draw.uniform(rng, -0.9, 0.9, (3,)), (0.0,))
        side = np.where(rng.random(3) < 0.5, -1.0, 1.0)
        beyond = np.asarray(rng.uniform(1.1, 2.5, 3) * side, "float32")
        x = np.concatenate([np.asarray((*EDGES, *BESIDE), "float32"), inside, beyond])
        main = Case("edges, inside and beyond", {"x": x}, draw.like(rng, x), modes=modes)
        return [main, *robust(rng, EDGES, 1.2, others_modes)]

    return cases


def clipped(case: Case) -> np.ndarray:
    """The upstream gradient where −1 ≤ x ≤ 1."""
    return np.where(np.abs(case.arrays["x"]) <= 1, up(case), 0.0)


def open_interval(case: Case) -> np.ndarray:
    """The upstream gradient where −1 < x < 1."""
    return np.where(np.abs(case.arrays["x"]) < 1, up(case), 0.0)


SAY_OPEN = (
    "Right inside, but the gradient is zero at exactly −1 and 1. Both ends belong to the "
    "interval: write `<=`, not `<`."
)
SAY_UNCLIPPED = (
    "The gradient passes everywhere. It must stop outside −1 ≤ x ≤ 1, or weights drift off "
    "without changing their sign."
)
SAY_TANH = (
    "This is the gradient of another smooth function. The one asked for is constant inside the "
    "interval: the upstream gradient or zero, nothing between."
)


def one_side(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sign by a comparison, which puts zero on one of the sides."""
    return np.where(x >= 0, 1.0, -1.0), np.where(x > 0, 1.0, -1.0)


def binarize_truth(case: Case):
    return {"value": np.sign(case.arrays["x"]), "gradient:x": clipped(case)}


def binarize_mistakes() -> tuple[Mistake, ...]:
    return (
        Mistake("open interval", SAY_OPEN, lambda case: {"gradient:x": open_interval(case)}),
        Mistake("unclipped", SAY_UNCLIPPED, lambda case: {"gradient:x": up(case)}),
        Mistake(
            "mask inverted",
            "The gradient passes outside the interval and stops inside it: the mask is inverted.",
            lambda case: {"gradient:x": up(case) - clipped(case)},
        ),
        Mistake(
            "soft surrogate",
            SAY_TANH,
            lambda case: {"gradient:x": up(case) * (1 - np.tanh(case.arrays["x"]) ** 2)},
        ),
        Mistake(
            "sign of zero",
            "`sign(0)` must be 0, as `tf.sign` has it. A comparison puts zero on one of the sides.",
            lambda case: {"value": Either(*one_side(case.arrays["x"]))},
        ),
    )


binarize = Exercise(
    id="binarize",
    cases=binarize_cases(GRAPH_MODES, IN_GRAPHS),
    truth=binarize_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    hints=(
        "A rule can look at the op it is asked about: `op.inputs[0]` is `x`. Compare it with `-1` "
        "and `1`.",
        "Where the comparison holds return `grad`, elsewhere zeros: `tf.where` needs the mask, "
        "`grad` and `tf.zeros_like(grad)`.",
        "`mask = tf.abs(op.inputs[0]) <= 1.0`; `return tf.where(mask, grad, "
        "tf.zeros_like(grad))`; then map `'Sign'` on the registered rule around `tf.sign(x)`.",
    ),
    mistakes=binarize_mistakes(),
    plain=lambda case: {"gradient:x": np.zeros_like(up(case))},
    card="x",
    reread=STRAIGHT,
    also=(
        "The mask as a number, not a choice: `return grad * tf.cast(tf.abs(op.inputs[0]) <= 1.0, "
        "grad.dtype)`."
    ),
)

# xnor_quantize -----------------------------------------------------------------------------------


def xnor_cases(rng):
    x = draw.away(draw.normal(rng, (3, 4)), (0.0,))
    x[1, 2] = 0.0  # sign(0) is 0, and 0 counts in the mean
    zero = np.zeros((2, 2), "float32")
    return [
        Case("a float32 matrix", {"x": x}, draw.like(rng, x), modes=GRAPH_MODES),
        *robust(rng, (0.0,)),
        Case("all zeros", {"x": zero}, draw.like(rng, zero), "robust", (GRAPH,)),
    ]


def parts_of(case: Case) -> tuple[np.ndarray, np.ndarray, float]:
    """x, its sign and E = mean |x|."""
    x = case.arrays["x"]
    return x, np.sign(x), float(np.mean(np.abs(x)))


def through_mean(case: Case) -> np.ndarray:
    """The gradient that reaches x through E alone: E multiplies sign(x)."""
    x, sign, _ = parts_of(case)
    return np.sum(up(case) * sign) * sign / x.size


def xnor_truth(case: Case):
    _, sign, scale = parts_of(case)
    passed = up(case)
    # At all zeros x / E has no value; what a guarded division hands back there is up to it.
    gradient = passed if scale > 0 else Either(passed, np.zeros_like(passed))
    return {"value": sign * scale, "gradient:x": gradient}


def unstopped(case: Case):
    """x / E without a stop: E's own gradient reaches x by two ways."""
    x, sign, scale = parts_of(case)
    if scale == 0:
        return {}
    by_division = -np.sum(up(case) * x / scale) * sign / x.size
    return {"gradient:x": up(case) + through_mean(case) + by_division}


def by_scale(case: Case):
    _, _, scale = parts_of(case)
    return {"gradient:x": scale * up(case)} if scale > 0 else {}


xnor_quantize = Exercise(
    id="xnor_quantize",
    cases=xnor_cases,
    truth=xnor_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    hints=(
        "Two things are wrong with the naive version, and each has its own cure. The mean: it "
        "must be a constant for the gradient, so put `tf.stop_gradient` around it.",
        "What is left is a factor `E`: the upstream gradient goes through the product with `E` "
        "before it reaches `sign`. A division by `E` between `x` and `sign` cancels it and "
        "changes no sign.",
        "0 / 0 is NaN: divide by a safe `E` that is 1 where `E` is 0, and multiply by `E` itself.",
        "`safe = tf.where(scale > 0, scale, tf.ones_like(scale))`; inside the map: `tf.sign(x / "
        "safe) * scale`, where `scale` is the stopped mean of |x|.",
    ),
    mistakes=(
        Mistake(
            "scaled by E",
            "The gradient is `E` times the upstream one: on its way back it passes the product "
            "with `E`. Divide `x` by `E` before `sign`; that changes no sign and cancels the "
            "factor.",
            by_scale,
        ),
        Mistake(
            "mean contributes",
            "Part of your gradient comes through the mean: `E` depends on `x`. Wrap it in "
            "`tf.stop_gradient`.",
            lambda case: (
                {"gradient:x": by_scale(case)["gradient:x"] + through_mean(case)}
                if by_scale(case)
                else {}
            ),
        ),
        Mistake(
            "normalised without stop",
            "The factor `E` is gone, but the gradient still runs through the mean, in the product "
            "and in the division. One `tf.stop_gradient` around it cures both.",
            unstopped,
        ),
        Mistake(
            "zero over zero",
            "For an input of zeros only, `E` is 0 and `x / E` is 0 / 0. Divide by something that "
            "is not zero there.",
            pattern="nan",
        ),
        Mistake(
            "scale missing",
            "The value is sign(x) alone. It must be multiplied by the mean of |x|.",
            lambda case: {"value": np.sign(case.arrays["x"])},
        ),
        Mistake(
            "sign of zero",
            "One entry is 0, and `sign(0)` must be 0, as `tf.sign` has it: so is the value there. "
            "A comparison puts zero on one of the sides.",
            lambda case: {
                "value": Either(*(side * parts_of(case)[2] for side in one_side(case.arrays["x"])))
            },
        ),
    ),
    plain=lambda case: {"gradient:x": through_mean(case)},
    reread=XNOR,
    also=(
        "In new code `tf.custom_gradient` needs neither the stop nor the division: return the "
        "quantised tensor and a rule that hands the upstream gradient back."
    ),
)

# guided_relu, works_everywhere -------------------------------------------------------------------


def guided_cases(rng):
    x = draw.away(draw.normal(rng, (3, 4)), (0.0,))
    x[0, 0] = 9.0  # relu has no upper end, unlike relu6
    kernel, head = draw.normal(rng, (4, 6)), draw.normal(rng, (6, 2))
    images = _off_kinks(rng, kernel)
    ups = draw.upstream(rng, (3, 2))
    # The last row: an x close to 0, then an upstream gradient close to it. A threshold shows.
    matrix, near = draw.like(rng, x), np.float32([1e-3, -1e-3])
    x[2], matrix[2] = np.abs(x[2]), np.abs(matrix[2])
    x[2, :2], matrix[2, 2:] = near, near
    return [
        Case("a float32 matrix", {"x": x}, matrix),
        *map(_both_asked, robust(rng, (0.0,), modes=((EAGER, OUTSIDE), (EAGER,), (EAGER,)))),
        Case("a model of two layers", {"x": images, "kernel": kernel, "head": head}, ups, "model"),
    ]


def _both_asked(case: Case) -> Case:
    """The case with what each of the two conditions refuses alone, in any draw."""
    x, ups = case.inputs["x"].reshape(-1), case.upstream.reshape(-1)
    x[0], ups[0] = np.abs(x[0]), -np.abs(ups[0])
    x[1:2], ups[1:2] = -np.abs(x[1:2]), np.abs(ups[1:2])
    return case


def _off_kinks(rng, kernel) -> np.ndarray:
    """Inputs that keep every hidden unit off 0 (drawn again where one comes close).

    The first row is stretched until one unit is at 9: relu has no upper end, in any draw.
    """
    for _ in range(500):
        x = draw.normal(rng, (3, kernel.shape[0]))
        hidden = x @ kernel
        if np.abs(hidden).min() > 0.02:
            break
    x[0] *= 9.0 / hidden[0, np.abs(hidden[0]).argmax()]
    return x


def _model(case: Case, rule):
    """Value and input gradient of head(relu(kernel(x))) with a rule for the relu."""
    a = case.arrays
    hidden = a["x"] @ a["kernel"]
    value = np.maximum(hidden, 0) @ a["head"]
    return {"value": value, "gradient:x": rule(hidden, up(case) @ a["head"].T) @ a["kernel"].T}


def with_rule(rule):
    """Case to answers, for a rule of (pre-activation, upstream)."""

    def answers(case: Case):
        if case.part == "model":
            return _model(case, rule)
        x = case.arrays["x"]
        return {"value": np.maximum(x, 0), "gradient:x": rule(x, up(case))}

    return answers


def gradients_of(rule, key="gradient:x"):
    answers = with_rule(rule)
    return lambda case: {key: answers(case)["gradient:x"]}


def guided(x, g):
    return np.where((x > 0) & (g > 0), g, 0.0)


def plain_relu(x, g):
    return np.where(x > 0, g, 0.0)


def deconvolution(x, g):
    return np.where(g > 0, g, 0.0)


guided_relu = Exercise(
    id="guided_relu",
    cases=guided_cases,
    truth=with_rule(guided),
    parts={"value": 1, "gradient": 3, "robust": 1, "model": 1},
    hints=(
        "It has to work called directly, too, so an override is not enough: use "
        "`tf.custom_gradient`, as in `works_everywhere`.",
        "The rule gets the upstream gradient. It passes where two things are positive at once: "
        "`x` and the upstream gradient.",
        "`return tf.where((x > 0) & (upstream > 0), upstream, tf.zeros_like(upstream))`",
    ),
    mistakes=(
        Mistake(
            "only in graph",
            "Right when traced, but called directly this is the plain gradient of `relu`: there "
            "the tape ignores the override. Use `tf.custom_gradient`.",
            gradients_of(plain_relu, "eager/gradient:x"),
        ),
        Mistake(
            "upstream condition missing",
            "This is the plain gradient of `relu`: it passes wherever `x > 0`. Guided means that "
            "the upstream gradient must be positive as well.",
            gradients_of(plain_relu),
        ),
        Mistake(
            "input condition missing",
            "The gradient passes wherever the upstream one is positive, also where `relu` was "
            "off. Ask for `x > 0` as well.",
            gradients_of(deconvolution),
        ),
        Mistake(
            "negative part kept",
            "You keep the negative upstream gradients instead of the positive ones.",
            gradients_of(lambda x, g: np.where((x > 0) & (g < 0), g, 0.0)),
        ),
        Mistake(
            "upstream lost",
            "You return the mask, ones and zeros. What passes is the upstream gradient: multiply.",
            gradients_of(lambda x, g: np.where((x > 0) & (g > 0), 1.0, 0.0)),
        ),
    ),
    probe="in_model",
    reread=GUIDED,
    also="As a product: `tf.nn.relu(upstream) * tf.cast(x > 0, upstream.dtype)`.",
)


def everywhere_cases(rng):
    kernel = draw.away(draw.uniform(rng, -2.0, 2.0, (4, 2)), EDGES)
    x, y = draw.normal(rng, (6, 4)), draw.normal(rng, (6, 2))
    inputs = {"x": x, "y": y, "kernel": kernel, "rate": 0.1}
    fit = Case("one epoch of model.fit", inputs, None, "fit", ("fit",))
    others = ((EAGER, OUTSIDE), (EAGER,), (INSIDE,))
    return [*binarize_cases((*EVERYWHERE, GRAPH), others)(rng), fit]


def after_fit(case: Case, mask) -> np.ndarray:
    """The kernel after one step of plain SGD on the mean squared error, by hand."""
    a = case.arrays
    kernel = a["kernel"]
    error = a["x"] @ np.sign(kernel) - a["y"]
    gradient = a["x"].T @ (2 * error / error.size)
    return kernel - case.inputs["rate"] * gradient * mask(kernel)


def in_fit(answers, mask):
    """The same mistake in both kinds of case: on its own, and inside model.fit."""

    def both(case: Case):
        return {"kernel": after_fit(case, mask)} if case.part == "fit" else answers(case)

    return both


def _kernel_mask(k):
    return np.abs(k) <= 1


def only_in_graph(case: Case):
    if case.part == "fit":
        return {"kernel": case.arrays["kernel"]}
    zeros = np.zeros_like(up(case))
    return {"eager/gradient:x": zeros, "inside/gradient:x": zeros}


def mask_alone(case: Case):
    if case.part == "fit":
        kernel = case.arrays["kernel"]
        return {"kernel": kernel - case.inputs["rate"] * _kernel_mask(kernel)}
    return {"gradient:x": np.where(_kernel_mask(case.arrays["x"]), 1.0, 0.0)}


def zeros_or_still(case: Case):
    if case.part == "fit":
        return {"kernel": case.arrays["kernel"]}
    return {"gradient:x": np.zeros_like(up(case))}


works_everywhere = Exercise(
    id="works_everywhere",
    cases=everywhere_cases,
    truth=in_fit(binarize_truth, _kernel_mask),
    parts={"value": 1, "gradient": 2, "robust": 1, "fit": 2},
    hints=(
        "`tf.custom_gradient` decorates a function that returns two things: the value, and a "
        "function that takes the upstream gradient and returns the gradient to `x`.",
        "The inner function sees `x` from outside: the same mask as in `binarize`, no op needed.",
        "`return tf.sign(x), lambda upstream: tf.where(tf.abs(x) <= 1.0, upstream, "
        "tf.zeros_like(upstream))`, in a function decorated with `@tf.custom_gradient`",
    ),
    mistakes=(
        Mistake(
            "only in graph",
            "No gradient gets through in eager code, with the tape inside the function, or in "
            "`model.fit`: there an override is ignored. Use `tf.custom_gradient`.",
            only_in_graph,
        ),
        Mistake(
            "upstream lost",
            "You return the mask, ones and zeros. What passes is the upstream gradient: multiply.",
            mask_alone,
        ),
        *(
            Mistake(
                m.name,
                m.says,
                {
                    "unclipped": in_fit(m.answer, np.ones_like),
                    "mask inverted": in_fit(m.answer, lambda k: np.abs(k) > 1),
                    "soft surrogate": in_fit(m.answer, lambda k: 1 - np.tanh(k) ** 2),
                }.get(m.name, lambda case, m=m: {} if case.part == "fit" else m.answer(case)),
            )
            for m in binarize_mistakes()
        ),
    ),
    plain=zeros_or_still,
    probe="in_fit",
    card="x",
    reread=EVERY,
    also=(
        "By `stop_gradient`, the tool of the next chapter: with `t = tf.clip_by_value(x, -1.0, "
        "1.0)`, `return tf.stop_gradient(tf.sign(x)) + (t - tf.stop_gradient(t))`."
    ),
)

EXERCISES = [
    op_types,
    where_it_acts,
    times_five,
    reverse_gradient,
    floor_passthrough,
    binarize,
    xnor_quantize,
    works_everywhere,
    guided_relu,
]
