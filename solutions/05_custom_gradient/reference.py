"""What is true in chapter 05: closed forms in NumPy, the mistakes people make, the hints."""

import numpy as np

from grader.contract import EVERYWHERE, Case, Entry, Exercise, Mistake, Source, table
from grader.draw import away, like, normal, uniform
from grader.narrow import between, beyond, in_float32

EAGER = ("eager",)
INSIDE = ("inside",)
EAGER_AND_TRACED = ("eager", "outside")
ALL = ("value", "gradient", "second")


def elementwise(rng, modes=EAGER_AND_TRACED, wants=("value", "gradient"), draw=normal):
    """The usual four calls of an elementwise function: a matrix, float64, a scalar, a batch. The
    upstream gradient of float64 is beyond float32, so that a rule which computes in it shows."""
    rows = (
        ("a matrix", (2, 3), "float32", None, modes),
        ("float64", (4,), "float64", "robust", EAGER_AND_TRACED),
        ("a scalar", (), "float32", "robust", EAGER),
        ("a batch", (2, 2, 3), "float32", "robust", EAGER),
    )
    for name, shape, dtype, part, where in rows:
        x = draw(rng, shape, dtype)
        yield Case(name, {"x": x}, beyond(like(rng, x)), part, where, wants)


def number(rng, low, high):
    """A Python number with two decimals, another one in every case: none can be written down."""
    return float(np.round(rng.uniform(low, high), 2))


def with_inputs(case, **more):
    """The case with more inputs after its own."""
    return Case(
        case.name, {**case.inputs, **more}, case.upstream, case.part, case.modes, case.wants
    )


def used_further(rng, x=None):
    """The second derivative of answer(x)², whose upstream gradient 2·answer(x) depends on x."""
    name, part = "a second derivative of the square", None
    if x is None:
        x = away(normal(rng, (3,)), (0.0,), 0.3)
    else:
        name, part = f"{name} in {x.dtype.name}", "robust"
    options = {"squared": True}
    return Case(name, {"x": x}, like(rng, x), part, EAGER, ("second",), options=options)


def squared(case, value, first, second):
    return {"second:x": 2 * (first**2 + value * second) * case.upstream}


def numeric(answer):
    """A mistake that says nothing where the case has options: where something else is asked."""
    return lambda case: {} if case.options else answer(case)


def stopped(value, second):
    """The mistake of a rule that stops its upstream gradient: its part of f² is missing."""
    return Mistake(
        "upstream stopped",
        "The second derivative is right only while the upstream gradient is a constant. Where the "
        "value is used further on, the upstream gradient depends on `x`, too: do not stop it.",
        answer=lambda c: (
            {"second:x": 2 * value(c.arrays["x"]) * second(c.arrays["x"]) * c.upstream}
            if c.options
            else {}
        ),
    )


def first_derivative_only(case, first):
    """What a rule without a second derivative leaves: of f² the part of its upstream gradient."""
    return {"second:x": 2 * first**2 * case.upstream if case.options else None}


# --- log1pexp ------------------------------------------------------------------------------


def sigmoid(x):
    return 0.5 * (1 + np.tanh(x / 2))


def _usual(rng, shape, dtype):
    """A scalar stays below 4: further out 1 − sigmoid(x) has lost digits, and no larger entry
    beside it says how many are right."""
    x = normal(rng, shape, dtype, 3.0)
    return x if shape else np.asarray(np.minimum(x, 4.0)).astype(dtype)


def log1pexp_cases(rng):
    usual = list(elementwise(rng, EAGER, ALL, _usual))
    # At 6 the value is still 2.5e-3 above x; beside entries of 1e4 nobody would see that.
    usual[0].inputs["x"][-1, -1] = rng.uniform(5.5, 6.5)
    sharp = [-1e4, -300.0, -95.0, 2.0, 95.0, 300.0, 1e4]
    far = np.array(sharp, "float32") * uniform(rng, 0.95, 1.0, (7,))
    wide = (np.array([-1e4, -800.0, 0.5, 800.0, 1e4]) * rng.uniform(0.95, 1.0, 5)).astype("float64")
    return [
        *usual,
        Case("inputs far from 0", {"x": far}, like(rng, far), None, EVERYWHERE, ALL),
        Case("inputs far from 0 in float64", {"x": wide}, like(rng, wide), "robust", EAGER, ALL),
        used_further(rng),
        # Half a step of float32 is 1e-6 here: each factor of f'² and of f·f'' is off by as much.
        used_further(rng, between(rng.uniform(-18.0, -16.5, 3))),
    ]


def log1pexp_truth(case):
    x = case.arrays["x"]
    value, slope = np.logaddexp(0.0, x), sigmoid(x)
    second = slope * sigmoid(-x)
    if case.options:
        return squared(case, value, slope, second)
    return {
        "value": value,
        "gradient:x": case.upstream * slope,
        "second:x": case.upstream * second,
    }


def overflowing(case, spoiled):
    """The truth, the given keys spoiled where exp(x) overflows."""
    x, truth = case.arrays["x"], log1pexp_truth(case)
    big = x > np.log(np.finfo(case.dtype).max)
    if not big.any():
        return {}
    return {key: np.where(big, bad, truth[key.split("/")[-1]]) for key, bad in spoiled.items()}


log1pexp = Exercise(
    id="log1pexp",
    cases=log1pexp_cases,
    truth=log1pexp_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    reread="Three lines that replace a derivative",
    hints=(
        "Two things overflow: the value and the rule. Take them one at a time, and begin with the "
        "rule: 1 − 1/(1 + eˣ) is a function that has a name.",
        "It is the sigmoid. A rule that uses only `tf.sigmoid(x)` never sees an infinity, so "
        "nothing that differentiates the rule can turn one into NaN.",
        "For the value take out what is large: log(1 + eˣ) = max(x, 0) + log(1 + e^(−|x|)). Or "
        "take `tf.nn.softplus(x)` as the value and `upstream * tf.sigmoid(x)` as the rule.",
    ),
    mistakes=(
        Mistake(
            "value overflows",
            "`exp(x)` is infinite beyond 88.7 in float32 (709.8 in float64), and log(1 + ∞) is ∞. "
            "A rule mends the derivative only: write the value so that nothing large is "
            "exponentiated.",
            answer=lambda c: overflowing(c, {"value": np.inf}),
        ),
        Mistake(
            "documented form",
            "This is the rule of TensorFlow's own documentation, 1 − 1/(1 + eˣ). It is right under "
            "one tape. For a second derivative the rule is differentiated, too, and if the "
            "function is traced, already when a persistent or a second tape watches. There it "
            "meets the infinite eˣ, and 0 · ∞ is NaN. Let the rule use only what stays finite.",
            answer=lambda c: overflowing(
                c, {"value": np.inf, "outside/gradient:x": np.nan, "second:x": np.nan}
            ),
        ),
        Mistake(
            "naive",
            "The derivative of log(1 + eˣ), taken op by op, is (1 / (1 + eˣ)) · eˣ. Where eˣ "
            "overflows this is 0 · ∞, which is NaN. Give the function a rule of its own.",
            answer=lambda c: overflowing(
                c, {"value": np.inf, "gradient:x": np.nan, "second:x": np.nan}
            ),
        ),
        Mistake(
            "second derivative lost",
            "The first derivative is there, the second is None: the rule does not depend on `x` "
            "in a way that a tape can follow. Write it in TensorFlow ops of `x`, without "
            "`stop_gradient`.",
            answer=lambda c: first_derivative_only(c, sigmoid(c.arrays["x"])),
        ),
        stopped(lambda x: np.logaddexp(0.0, x), lambda x: sigmoid(x) * sigmoid(-x)),
        in_float32(numeric(lambda c: without(log1pexp_truth(c), "value"))),
    ),
    probe="maybe_squared",
    also="`tf.nn.softplus(x)`, whose own rule is written this way.",
)

# --- clip_gradient_norm --------------------------------------------------------------------


def norm(a):
    return np.sqrt(np.sum(np.square(a)))


def clip_gradient_norm_cases(rng):
    cases = []
    for case in elementwise(rng, draw=lambda r, s, d: beyond(normal(r, s, d))):
        cases.append(with_inputs(case, max_norm=number(rng, 0.25, 0.45)))
    x = normal(rng, (5,))
    small, none = 0.1 * like(rng, x), np.zeros(5, "float32")
    for name, upstream in (
        ("a small upstream gradient", small),
        ("an upstream gradient of zeros", none),
    ):
        inputs = {"x": x, "max_norm": number(rng, 1.2, 2.8)}
        cases.append(Case(name, inputs, upstream.astype("float32")))
    return cases


def rescaled(case):
    up = case.upstream.astype(np.float64)
    return up * case.inputs["max_norm"] / norm(up) if norm(up) else np.zeros_like(up)


def clip_gradient_norm_truth(case):
    small = norm(case.upstream) <= case.inputs["max_norm"]
    gradient = np.asarray(case.upstream if small else rescaled(case), np.float64)
    return {"value": case.arrays["x"], "gradient:x": gradient}


def clipped_value(case):
    x, most = case.arrays["x"], case.inputs["max_norm"]
    return {"value": x * min(1.0, most / norm(x))}


NUMBERS_CONVERTED = Mistake(
    "numbers become tensors",
    "The decorated function turns each of its arguments into a tensor, a Python number into one "
    "of float32. Beside a float64 `x` it does not fit. Let the decorated function take `x` only; "
    "the numbers reach it from the function around it.",
    raises="has type float32 that does not match type float64",
)
ONE_PER_INPUT = Mistake(
    "one gradient per input",
    "Every positional argument of the decorated function is an input, Python numbers too, and the "
    "rule must return a gradient for each. Let the decorated function take `x` only; the numbers "
    "reach it from the function around it.",
    raises=r"expected to return \d+ gradients|Num gradients|returned too few gradients|"
    "has type float32 that does not match type float64",
)

clip_gradient_norm = Exercise(
    id="clip_gradient_norm",
    cases=clip_gradient_norm_cases,
    truth=clip_gradient_norm_truth,
    plain=lambda c: {"gradient:x": np.asarray(c.upstream, np.float64)},
    parts={"value": 1, "gradient": 2, "robust": 1},
    reread="Touch the gradient, leave the value",
    hints=(
        "The value is `x`. All the work is in the rule: what comes in is the upstream gradient, "
        "what goes out is that gradient, shortened where it is too long.",
        "`tf.clip_by_norm(t, max_norm)` shortens a tensor to a norm, leaves shorter ones alone, "
        "and keeps zeros zero.",
        "Inside, decorate a function of `x` alone that returns the pair `(tf.identity(x), rule)`, "
        "with `rule = lambda g: tf.clip_by_norm(g, max_norm)`. Then call it on `x`.",
    ),
    mistakes=(
        Mistake(
            "value clipped",
            "You clip `x` itself on the way forward. The value must stay `x`; the upstream "
            "gradient is what is clipped, on the way back.",
            answer=clipped_value,
        ),
        Mistake(
            "always rescaled",
            "A gradient shorter than `max_norm` is stretched to it. Only a longer one is to be "
            "changed: the factor is `min(1, max_norm / norm)`.",
            answer=lambda c: {"gradient:x": rescaled(c)} if norm(c.upstream) else {},
        ),
        Mistake(
            "clipped entry by entry",
            "Each entry is clipped on its own, which turns the gradient's direction. Multiply all "
            "entries by one factor instead.",
            answer=lambda c: {
                "gradient:x": np.clip(c.upstream, -c.inputs["max_norm"], c.inputs["max_norm"])
            },
        ),
        Mistake(
            "NaN at a zero gradient",
            "A zero upstream gradient has norm 0, and 0 / 0 is NaN. Divide by something that is "
            "never zero, or use `tf.clip_by_norm`.",
            pattern="nan",
        ),
        ONE_PER_INPUT,
        in_float32(clip_gradient_norm_truth),
    ),
    also="`upstream * max_norm / tf.maximum(tf.norm(upstream), max_norm)` in the rule.",
)

# --- clip_value_passthrough ----------------------------------------------------------------


def clip_value_cases(rng):
    cases = []
    for case in elementwise(rng, draw=lambda r, s, d: normal(r, s, d, 1.5)):
        low, high = number(rng, -1.2, -0.4), number(rng, 0.3, 1.1)
        x = away(case.inputs["x"], (low, high))
        cases.append(with_inputs(case, x=x, low=low, high=high))
    return cases


def inside(case):
    x = case.arrays["x"]
    return (x >= case.inputs["low"]) & (x <= case.inputs["high"])


clip_value_passthrough = Exercise(
    id="clip_value_passthrough",
    cases=clip_value_cases,
    truth=lambda c: {
        "value": np.clip(c.arrays["x"], c.inputs["low"], c.inputs["high"]),
        "gradient:x": np.asarray(c.upstream, np.float64),
    },
    parts={"value": 1, "gradient": 2, "robust": 1},
    card="x",
    reread="Touch the gradient, leave the value",
    hints=(
        "The value is `tf.clip_by_value(x, low, high)`. The rule hands on what it is given.",
        "As before, the decorated function takes `x` only and finds `low` and `high` in the "
        "function around it. Its rule is the identity.",
        "The decorated function returns the pair `tf.clip_by_value(x, low, high)` and `lambda g: "
        "g`. Call it on `x`.",
    ),
    mistakes=(
        Mistake(
            "gradient of the clip",
            "This is the clip's own derivative: 1 inside, 0 outside. An entry outside the range "
            "gets no gradient and can never come back. Let the rule return the upstream gradient.",
            answer=lambda c: {"gradient:x": np.where(inside(c), c.upstream, 0.0)},
        ),
        Mistake(
            "value not clipped",
            "The value is `x` itself. It must lie between `low` and `high`.",
            answer=lambda c: {"value": c.arrays["x"]},
        ),
        Mistake(
            "upstream clipped",
            "The range is applied to the gradient too. It is a range for values of `x`; the "
            "gradient goes through untouched.",
            answer=lambda c: {"gradient:x": np.clip(c.upstream, c.inputs["low"], c.inputs["high"])},
        ),
        NUMBERS_CONVERTED,
        ONE_PER_INPUT,
        in_float32(lambda c: {"gradient:x": np.asarray(c.upstream, np.float64)}),
    ),
    also="`tf.grad_pass_through(lambda x: tf.clip_by_value(x, low, high))(x)`.",
)

# --- cube ----------------------------------------------------------------------------------


def cube_cases(rng):
    drawn = elementwise(rng, EVERYWHERE, ALL, lambda r, s, d: beyond(away(normal(r, s, d), (0.0,))))
    return [*drawn, used_further(rng)]


def cube_truth(case):
    x = case.arrays["x"]
    if case.options:
        return squared(case, x**3, 3 * x**2, 6 * x)
    return {
        "value": x**3,
        "gradient:x": 3 * x**2 * case.upstream,
        "second:x": 6 * x * case.upstream,
    }


cube = Exercise(
    id="cube",
    cases=cube_cases,
    truth=cube_truth,
    probe="maybe_squared",
    parts={"value": 1, "gradient": 3, "robust": 1},
    reread="A rule is a function, and can be differentiated",
    hints=(
        "Read the starter from the inside: which `x` does the innermost rule use? One that "
        "belongs to the forward pass, and a tape outside a `tf.function` cannot reach it any more.",
        "The nested function gets an argument of its own. Let its value and its rule use that "
        "argument and nothing from outside, and hand it `tf.identity(x)` when you call it.",
        "Two changes: the nested rule says `6 * own` instead of `6 * x`, and the outer rule calls "
        "`slope(tf.identity(x))`. Or drop the nested function: the plain rule `3 * x**2` times "
        "upstream is made of ops, and TensorFlow differentiates those itself.",
    ),
    mistakes=(
        Mistake(
            "out of scope",
            "The innermost rule captures a tensor of the forward pass. With both tapes outside a "
            "`tf.function` that pass is a finished graph, and its tensors are out of scope. Use "
            "only the nested function's own argument, and call it on `tf.identity(x)`.",
            raises="out of scope",
        ),
        Mistake(
            "second order None",
            "The first derivative is right and the second is None: the rule does not depend on "
            "`x` in a way that a tape can follow. Something in it stops the gradient or leaves "
            "TensorFlow.",
            answer=lambda c: first_derivative_only(c, 3 * c.arrays["x"] ** 2),
        ),
        Mistake(
            "upstream lost in the second rule",
            "The nested rule forgets its upstream gradient: it is right only while that is all "
            "ones. Every rule multiplies by what comes in.",
            answer=numeric(lambda c: {"second:x": 6 * c.arrays["x"]}),
        ),
        Mistake(
            "first derivative differentiated wrongly",
            "The derivative of 3x² is 6x. The nested rule gives 3x² once more.",
            answer=numeric(lambda c: {"second:x": 3 * c.arrays["x"] ** 2 * c.upstream}),
        ),
        stopped(lambda x: x**3, lambda x: 6 * x),
        in_float32(numeric(cube_truth)),
    ),
    also="a plain rule, `lambda upstream: 3 * x**2 * upstream`: ops that can be differentiated.",
)

# --- scaled_dense --------------------------------------------------------------------------


def scaled_dense_cases(rng):
    cases = []
    rows = (
        ("a batch of 3", 3, "float32", None, EAGER_AND_TRACED),
        ("float64", 2, "float64", "robust", EAGER_AND_TRACED),
        ("a batch of 1", 1, "float32", "robust", EAGER),
    )
    for name, batch, dtype, part, modes in rows:
        x, kernel = (beyond(normal(rng, shape, dtype)) for shape in ((batch, 4), (4, 2)))
        upstream = beyond(like(rng, np.zeros((batch, 2), dtype)))
        # Not one over a whole number: such a factor lost would pass for a mean that was taken.
        inputs = {"x": x, "kernel": kernel, "scale": number(rng, 0.6, 0.9)}
        cases.append(Case(name, inputs, upstream, part, modes, variables=("kernel",)))
    return cases


def dense_gradients(case, to_x, to_kernel):
    x, kernel, up = case.arrays["x"], case.arrays["kernel"], case.upstream.astype(np.float64)
    return {"gradient:x": to_x * up @ kernel.T, "gradient:kernel": to_kernel * x.T @ up}


def scaled_dense_truth(case):
    value = case.arrays["x"] @ case.arrays["kernel"]
    return {"value": value, **dense_gradients(case, case.inputs["scale"], case.inputs["scale"])}


def only(answers, key):
    return {key: answers[key]}


scaled_dense = Exercise(
    id="scaled_dense",
    cases=scaled_dense_cases,
    truth=scaled_dense_truth,
    plain=lambda c: dense_gradients(c, 1.0, 1.0),
    parts={"value": 1, "gradient": 3, "robust": 1},
    reread="Variables that the function reads",
    hints=(
        "The decorated function takes `x` and reads `kernel`. Its rule must accept the keyword "
        "`variables` and return two things: the gradient to `x`, and a list with one gradient per "
        "variable.",
        "Scale the upstream gradient once, then use the scaled one for both. For `y = x @ kernel` "
        "the gradient to `x` is upstream @ kernelᵀ, the gradient to `kernel` xᵀ @ upstream.",
        "The rule's arguments are `(upstream, variables=None)`. With `g = scale * upstream` it "
        "returns `tf.matmul(g, kernel, transpose_b=True), [tf.matmul(x, g, transpose_a=True)]`.",
    ),
    mistakes=(
        Mistake(
            "the keyword forgotten",
            "The decorated function reads a `tf.Variable`, so its rule must take the keyword "
            "argument `variables`, as in `(upstream, variables=None)`.",
            raises="must accept keyword argument 'variables'",
        ),
        Mistake(
            "variables without their list",
            "With `variables` a rule returns two things: the gradient to `x`, and a list with one "
            "gradient per variable. Return `to_x, [to_kernel]`.",
            raises=r"Must return gradient for each variable|len is not well defined|"
            r"Iterating over a symbolic|values to unpack",
        ),
        Mistake(
            "scale on one path only",
            "The gradient to `x` is scaled, the gradient to the kernel is not. Both come from one "
            "upstream gradient: scale it first, then use it twice.",
            answer=lambda c: only(dense_gradients(c, 1.0, 1.0), "gradient:kernel"),
        ),
        Mistake(
            "scale on the kernel's path only",
            "The gradient to the kernel is scaled, the gradient to `x` is not. Both come from one "
            "upstream gradient: scale it first, then use it twice.",
            answer=lambda c: only(dense_gradients(c, 1.0, 1.0), "gradient:x"),
        ),
        Mistake(
            "value scaled",
            "The forward value is multiplied by `scale`. Only the gradient is to be scaled.",
            answer=lambda c: {"value": c.inputs["scale"] * scaled_dense_truth(c)["value"]},
        ),
        Mistake(
            "kernel left out",
            "None reaches the kernel: the rule returns None where the list of the variables' "
            "gradients should hold xᵀ @ upstream.",
            pattern="none",
        ),
        in_float32(scaled_dense_truth),
    ),
    also="a decorated function of `(x, kernel)`: a variable that is an argument needs no keyword.",
)

# --- solve_cached --------------------------------------------------------------------------


def well_conditioned(rng, shape, dtype):
    """Not symmetric, and with a first pivot that must be exchanged."""
    n = shape[-1]
    turned = np.roll(np.eye(n), 1, axis=-1) * 2.0
    return (turned + 0.4 * rng.uniform(-1, 1, shape)).astype(dtype)


def solve_cases(rng):
    cases = []
    rows = (
        ("one system", (4, 4), (4, 2), "float32", None, EAGER_AND_TRACED),
        ("float64", (3, 3), (3, 1), "float64", "robust", EAGER_AND_TRACED),
        ("a batch of systems", (2, 3, 3), (2, 3, 2), "float32", "robust", EAGER),
    )
    for name, square, side, dtype, part, modes in rows:
        inputs = {"matrix": well_conditioned(rng, square, dtype), "rhs": normal(rng, side, dtype)}
        inputs = {key: beyond(values) for key, values in inputs.items()}
        cases.append(Case(name, inputs, beyond(like(rng, inputs["rhs"])), part, modes))
    inputs = {"matrix": well_conditioned(rng, (3, 3), "float32"), "rhs": normal(rng, (3, 2))}
    cases.append(
        Case("a count of the factorisations", inputs, None, "once", EAGER, options={"count": True})
    )
    return cases


def adjoint(a):
    return np.swapaxes(a, -1, -2)


def solve_answer(case, back, sign=-1.0):
    x = np.linalg.solve(case.arrays["matrix"], case.arrays["rhs"])
    y = np.linalg.solve(back(case.arrays["matrix"]), case.upstream.astype(np.float64))
    return {"value": x, "gradient:matrix": sign * y @ adjoint(x), "gradient:rhs": y}


def solve_truth(case):
    once = {"factorisations": 1.0, "factors": "LU"}
    return once if case.options else solve_answer(case, adjoint)


solve_cached = Exercise(
    id="solve_cached",
    cases=solve_cases,
    truth=solve_truth,
    parts={"value": 1, "gradient": 3, "once": 2, "robust": 1},
    probe="factorising",
    tolerance=5.0,
    reread="Keep what the forward pass has computed",
    hints=(
        "Forward: `lu, perm = tf.linalg.lu(matrix)`, then `tf.linalg.lu_solve(lu, perm, rhs)`. "
        "The rule is defined inside and may use `lu`, `perm` and `x`: that is the cache.",
        "The rule needs y with Aᵀy = upstream; then the gradients are −y xᵀ and y. Since A is "
        "L·U with its rows permuted, Aᵀ is Uᵀ·Lᵀ, the permutation last: first solve with Uᵀ, then "
        "with Lᵀ, then undo the permutation of the rows.",
        "`tf.linalg.triangular_solve(…, adjoint=True)` solves with the transposed triangle. `lu` "
        "holds both: U as it stands (`lower=False`), L with ones for its diagonal (`lower=True`). "
        "`tf.argsort(perm)` undoes `perm`; `tf.gather(y, tf.argsort(perm), axis=-2)` applies it "
        "(with `batch_dims` for a batch). Shorter, at more work: `tf.linalg.lu_matrix_inverse(lu, "
        "perm)`, transposed, times upstream.",
    ),
    mistakes=(
        Mistake(
            "transposed",
            "The backward pass solves with A; it must solve with Aᵀ. From A x = b follows "
            "dx = A⁻¹ db, and a gradient travels back through the transposed matrix.",
            answer=numeric(lambda c: without(solve_answer(c, lambda a: a), "value")),
        ),
        Mistake(
            "refactorised",
            "Forward and backward pass each factorise the matrix. Keep `lu` and `perm` from the "
            "forward pass and solve with them in the rule.",
            answer=lambda c: {"factorisations": 2.0} if c.options else {},
        ),
        Mistake(
            "another factorisation",
            "The matrix is factorised once, but not by `tf.linalg.lu`. An inverse, for one, costs "
            "three times as much. Keep the LU factors, and solve with them in the rule.",
            answer=lambda c: (
                {"factorisations": 1.0, "factors": "another factorisation"} if c.options else {}
            ),
        ),
        Mistake(
            "outer product the wrong way round",
            "The gradient to the matrix is −y xᵀ; you have −x yᵀ, its transpose.",
            answer=numeric(
                lambda c: {"gradient:matrix": adjoint(solve_truth(c)["gradient:matrix"])}
            ),
        ),
        Mistake(
            "minus lost",
            "The gradient to the matrix has the wrong sign: from dA · x + A · dx = 0 comes "
            "dx = −A⁻¹ dA x, hence −y xᵀ.",
            answer=numeric(lambda c: only(solve_answer(c, adjoint, 1.0), "gradient:matrix")),
        ),
        Mistake(
            "Lu has no gradient",
            "`tf.linalg.lu` has no registered gradient, so nothing may be differentiated through "
            "it. Put the factorisation inside a function with `tf.custom_gradient` and give it a "
            "rule.",
            raises="No gradient defined for operation.{0,2}'Lu'|no entry for: Lu",
        ),
        in_float32(numeric(lambda c: solve_answer(c, adjoint))),
    ),
    also="`tf.linalg.lu_matrix_inverse(lu, perm)` in the rule: one factorisation, some more work.",
)


def without(answers, key):
    return {k: v for k, v in answers.items() if k != key}


# --- fixed_point ---------------------------------------------------------------------------

RULES = {
    "a cosine": "lambda z, theta: theta * tf.cos(z)",
    "entries that influence each other": (
        "lambda z, theta: 0.3 * tf.sin(tf.roll(z, 1, axis=0)) + theta"
    ),
    "one theta for all": "lambda z, theta: theta * tf.cos(z) + 1.0",
    # For the traced call: its steps are traced one by one, and each operation in them counts.
    "a straight line": "lambda z, theta: 0.3 * z + theta",
    # For float64: half a step of float32 in theta shows in the wave's fourth digit.
    "a steep wave": "lambda z, theta: 0.3 * z + 0.2 * tf.sin(10000.0 * theta)",
    # Below zero the root has a value and no derivative: whoever differentiates the way gets NaN,
    # with x0 stopped or not. At the fixed point, which is positive, all is smooth.
    "a root on whose way there is no derivative": (
        "lambda z, theta: 0.2 * z + theta + 0.1 * tf.sqrt(theta * tf.nn.relu(z))"
    ),
}
STEEP = 10000.0
ROOT = "a root on whose way there is no derivative"


def step(rule, z, theta):
    if rule == "a cosine":
        return theta * np.cos(z)
    if rule == "entries that influence each other":
        return 0.3 * np.sin(np.roll(z, 1, axis=-1)) + theta
    if rule == "a straight line":
        return 0.3 * z + theta
    if rule == "a steep wave":
        return 0.3 * z + 0.2 * np.sin(STEEP * theta)
    if rule == ROOT:
        return 0.2 * z + theta + 0.1 * np.sqrt(theta * np.maximum(z, 0.0))
    return theta * np.cos(z) + 1.0


def step_jacobian(rule, z, theta):
    """d step / d z as a matrix over the flat entries (one row of z only, where they couple)."""
    if rule == "entries that influence each other":
        return np.roll(np.diag(0.3 * np.cos(z)), 1, axis=0)
    if rule in ("a straight line", "a steep wave"):
        return 0.3 * np.eye(z.size)
    if rule == ROOT:
        return np.diag(0.2 + 0.05 * np.sqrt(theta / z))
    return np.diag(np.ravel(-theta * np.sin(z)))


def theta_pull(rule, theta, z, upstream):
    """upstream times d step / d theta."""
    if rule in ("entries that influence each other", "a straight line"):
        return upstream
    if rule == "a steep wave":
        return upstream * 0.2 * STEEP * np.cos(STEEP * theta)
    if rule == ROOT:
        return upstream * (1.0 + 0.05 * np.sqrt(z / theta))
    pulled = upstream * np.cos(z)
    return np.asarray(np.sum(pulled) if rule == "one theta for all" else pulled)


def settled(case):
    rule, theta, z = case.options["rule"], case.arrays["theta"], case.arrays["x0"]
    for _ in range(60):  # the contraction is 0.3 or stronger
        z = step(rule, z, theta)
    return rule, theta, z


def fixed_point_cases(rng):
    cases = []
    cosine, coupled, shared, line, steep, root = RULES
    both = ("value", "gradient")
    rows = (
        (cosine, cosine, (3,), "float32", "value", EAGER, ("value",)),
        (coupled, coupled, (4,), "float32", "value", EAGER, ("value",)),
        (f"{line} for each of three", line, (3,), "float32", "gradient", INSIDE, ("gradient",)),
        (f"five {coupled}", coupled, (5,), "float32", "gradient", EAGER, ("gradient",)),
        (root, root, (3,), "float32", "gradient", EAGER, ("gradient",)),
        ("float64", steep, (2,), "float64", "robust", EAGER, both),
        ("a scalar", cosine, (), "float32", "robust", EAGER, both),
        (f"a batch, {shared}", shared, (2, 3), "float32", "robust", EAGER, both),
    )
    for name, rule, shape, dtype, part, modes, wants in rows:
        theta = uniform(rng, 0.15, 0.3, () if rule == shared else shape, dtype)
        theta = between(theta) if rule == steep else theta
        start = away(normal(rng, shape, dtype), (0.0,), 0.2)
        start = -uniform(rng, 500.0, 1000.0, shape) if rule == root else start
        inputs = {"f": Source(RULES[rule]), "x0": start, "theta": theta}
        upstream, options = beyond(like(rng, start)), {"rule": rule}
        cases.append(Case(name, inputs, upstream, part, modes, wants, options=options))
    return cases


def implicit(case, adjoined):
    """The gradient to theta by the implicit function theorem; `adjoined` transposes or not."""
    rule, theta, z = settled(case)
    jacobian = step_jacobian(rule, z, theta)
    up = np.ravel(case.upstream.astype(np.float64))
    pull = np.linalg.solve(adjoined(np.eye(up.size) - jacobian), up)
    return theta_pull(rule, theta, z, pull.reshape(case.upstream.shape))


def last_step(case):
    """The gradient to theta through the last step alone."""
    rule, theta, z = settled(case)
    return theta_pull(rule, theta, z, case.upstream)


def fixed_point_truth(case):
    truth = {}
    if "value" in case.wants:
        truth["value"] = np.asarray(settled(case)[2])
    if "gradient" in case.wants:
        truth["gradient:theta"] = implicit(case, np.transpose)
        truth["gradient to x0"] = "none or zero"
    return truth


def is_root(case):
    return case.options["rule"] == ROOT


def on_the_way(case):
    """The gradient to theta through all iterations, where they begin without a derivative."""
    return np.full(case.arrays["theta"].shape, np.nan)


def of_gradient(answer):
    return lambda case: answer(case) if "gradient" in case.wants else {}


fixed_point = Exercise(
    id="fixed_point",
    cases=fixed_point_cases,
    truth=fixed_point_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    probe="iterating",
    tolerance=4.0,
    reread="Through infinitely many steps at once",
    hints=(
        "Decorate a function of `theta` alone. Inside, iterate `z = f(z, theta)` from `x0`; what "
        "happens in there is not differentiated, only your rule counts.",
        "At the fixed point dz = (∂f/∂z) dz + (∂f/∂θ) dθ. Backwards: find u with u = upstream + "
        "(∂f/∂z)ᵀ u, then the gradient to `theta` is (∂f/∂θ)ᵀ u. The first is again a fixed "
        "point, and iterating it converges as fast as the forward pass.",
        "In the rule open a persistent tape, watch `z` and `theta`, and take one more step to "
        "`w`. Start with `u = upstream`; some twenty times add `upstream` to `tape.gradient(w, z, "
        "u)` and call the sum `u`. At last ask the same tape for the gradient of `w` to `theta`, "
        "with u coming in.",
    ),
    mistakes=(
        Mistake(
            "unrolled",
            "A gradient reaches `x0`, so the tape runs back through every iteration. The fixed "
            "point does not depend on where you start. Put the iteration inside a function with a "
            "rule of its own.",
            answer=of_gradient(lambda c: {"gradient to x0": "through the iterations"}),
        ),
        Mistake(
            "unrolled, x0 stopped",
            "Nothing reaches `x0`, but `theta`'s gradient still runs back through the iterations: "
            "it is NaN where `f` has no derivative on the way to the fixed point. Only `f` at the "
            "fixed point counts. Cut all of the way off, and give `theta`'s gradient a rule.",
            answer=lambda c: {"gradient:theta": on_the_way(c)} if is_root(c) else {},
        ),
        Mistake(
            "one step only",
            "This is the gradient through the last step alone, (∂f/∂θ)ᵀ upstream. Theta also acts "
            "through `z` itself: solve u = upstream + (∂f/∂z)ᵀ u first.",
            answer=of_gradient(lambda c: {"gradient:theta": last_step(c)}),
        ),
        Mistake(
            "not transposed",
            "You solve with ∂f/∂z where its transpose is due. It makes no difference while the "
            "entries do not influence each other; here they do. `tape.gradient` with an upstream "
            "gradient multiplies by the transpose.",
            answer=of_gradient(lambda c: {"gradient:theta": implicit(c, lambda a: a)}),
        ),
        Mistake(
            "theta cut off",
            "None reaches `theta`. Pass `theta` as the argument of the decorated function, and "
            "return its gradient from the rule.",
            pattern="none",
        ),
        in_float32(of_gradient(lambda c: {"gradient:theta": implicit(c, np.transpose)})),
    ),
    also="one Newton step at the fixed point, everything in it but `f(z*, theta)` stopped.",
)

# --- numpy_softsign ------------------------------------------------------------------------


def softsign_cases(rng):
    return list(
        elementwise(rng, EVERYWHERE, draw=lambda r, s, d: away(normal(r, s, d, 2.0), (0.0,)))
    )


def softsign_truth(case):
    x = case.arrays["x"]
    truth = {"value": x / (1 + np.abs(x)), "gradient:x": case.upstream / (1 + np.abs(x)) ** 2}
    return truth | {"outside/static shape": "kept", "outside/runs in NumPy": True}


numpy_softsign = Exercise(
    id="numpy_softsign",
    cases=softsign_cases,
    truth=softsign_truth,
    parts={"value": 2, "gradient": 2, "robust": 1},
    probe="leaving_tensorflow",
    reread="Leave TensorFlow, and come back with a gradient",
    hints=(
        "`tf.numpy_function(func, [x], Tout)` calls `func` with arrays. Nothing can be "
        "differentiated through it, and traced it knows no shape: you supply both.",
        "`Tout` is `x.dtype`. After the call: `y.set_shape(x.shape)`. The rule is written in "
        "TensorFlow: the derivative of x/(1+|x|) is 1/(1+|x|)².",
        "A decorated function of `x`: `y` comes from `tf.numpy_function` with `lambda a: a / (1 + "
        "np.abs(a))`, `[x]` and `x.dtype`; set its shape; return `y` and the rule `lambda g: g / "
        "(1 + tf.abs(x)) ** 2`.",
    ),
    mistakes=(
        Mistake(
            "shape lost",
            "Traced, the result of `tf.numpy_function` has no static shape: TensorFlow cannot "
            "look into NumPy. A `Dense` layer after it would refuse. Call `y.set_shape(x.shape)`.",
            answer=lambda c: {"outside/static shape": "lost"},
        ),
        Mistake(
            "no rule",
            "TensorFlow cannot see into NumPy: `tf.numpy_function` has no gradient, so None comes "
            "back. Put it inside a function with `tf.custom_gradient`.",
            pattern="none",
        ),
        Mistake(
            "dtype fixed",
            "NumPy hands back another dtype than `Tout` announces. Announce `x.dtype`, and keep "
            "the array's dtype on the NumPy side.",
            raises="is double, but expects|is float, but expects|the same dtype|node PyFunc",
        ),
        Mistake(
            "not in NumPy",
            "The numbers are right, but no NumPy function runs in the traced graph. This exercise "
            "is about code that TensorFlow cannot see: use `tf.numpy_function`.",
            answer=lambda c: {"outside/runs in NumPy": False},
        ),
        Mistake(
            "square lost",
            "The derivative of x/(1+|x|) is 1/(1+|x|)²; the square is missing.",
            answer=lambda c: {"gradient:x": c.upstream / (1 + np.abs(c.arrays["x"]))},
        ),
        in_float32(lambda c: {"gradient:x": softsign_truth(c)["gradient:x"]}),
    ),
    also="`tf.py_function`, whose own gradient you replace by the rule.",
)

# --- export_with_gradients -----------------------------------------------------------------


def export_cases(rng):
    x = normal(rng, (3,))
    options = {"factor": float(np.round(rng.uniform(3, 9), 2))}
    return [Case("a small module", {"x": x}, None, "saved", EAGER, options=options)]


export_with_gradients = Exercise(
    id="export_with_gradients",
    cases=export_cases,
    truth=lambda c: {
        "saved model": "found",
        "custom gradients": "saved",
        "value": c.arrays["x"] ** 2,
    },
    parts={"saved": 2},
    probe="exporting",
    reread="Save it, and keep the rule",
    hints=(
        "Saving takes one call of `tf.saved_model.save`. Look at what the starter adds to it.",
        "Today the default keeps custom gradients. Leave the options away, or say "
        "`tf.saved_model.SaveOptions(experimental_custom_gradients=True)`.",
    ),
    mistakes=(
        Mistake(
            "option off",
            "The model is there, its custom gradients are not: loaded in a fresh process it would "
            "raise `LookupError` under a tape. Do not switch `experimental_custom_gradients` off.",
            answer=lambda c: {"custom gradients": "missing"},
        ),
        Mistake(
            "nothing at the path",
            "There is no `saved_model.pb` at the path. A checkpoint holds variables only, and a "
            "path of your own is not found by who asked.",
            answer=lambda c: {"saved model": "not found", "custom gradients": "missing"},
        ),
    ),
    also="`SaveOptions(experimental_custom_gradients=True)`, said explicitly.",
)

# --- choose_the_tool -----------------------------------------------------------------------

TOOLS = ("registergradient", "override map", "stop_gradient", "custom_gradient")
R, O, S, C = TOOLS

choose_the_tool = table(
    "choose_the_tool",
    {
        "a new C++ op, loaded as a library, has no gradient yet": Entry(
            R,
            "A new op type has an empty place in the registry, and every use of the op, eager and "
            "traced, should find it filled. That is what `tf.RegisterGradient` is for.",
        ),
        "the features are to be constants while the head is trained": Entry(
            S,
            "Nothing is replaced here, something is cut. `tf.stop_gradient` does only that.",
        ),
        "log(1 + exp(x)) whose derivative must not overflow": Entry(
            C,
            "A function of your own with a better formula for its derivative: "
            "`tf.custom_gradient`.",
        ),
        "every Relu of a Keras model you cannot edit, in your tf.function, tape outside": Entry(
            O,
            "You cannot decorate ops in code that is not yours. Your `tf.function` makes the "
            "model's ops anew, and a `gradient_override_map` around the call gives all ops of a "
            "type another rule. A model that is a `tf.function` itself has its ops already and "
            "keeps their rules.",
        ),
        "the reward in a policy-gradient loss must not be trained through": Entry(
            S,
            "The reward's value is wanted and its gradient is not. `tf.stop_gradient` says "
            "exactly that, without a rule.",
        ),
        "a NumPy routine with a known derivative, in a layer under fit": Entry(
            C,
            "The routine has no gradient, and `fit` opens its tape where an override is ignored. "
            "`tf.custom_gradient` around `tf.numpy_function` works everywhere.",
        ),
        "the backward pass reuses the forward pass's LU factors": Entry(
            C,
            "A rule defined inside the function sees its intermediate results. Neither the "
            "registry nor `stop_gradient` can hand them over.",
        ),
        "another rule for Sign in a tf.compat.v1 graph, imported from a file": Entry(
            O,
            "`Sign` already has its place in the registry, and registering it again raises. The "
            "map exchanges the rule of the ops that a graph imports, without touching the file.",
        ),
    },
    TOOLS,
    (
        "Ask first: is a gradient to be cut, or replaced? Only one tool does nothing but cut.",
        "Then ask: is the code yours? Your own function gets `tf.custom_gradient`. Ops inside "
        "code that you cannot edit need the map; an op type that is new needs the registry.",
        "One answer is the registry, two are the map, two are `stop_gradient`, three are "
        "`custom_gradient`.",
    ),
    weight=2,
    reread="Which tool",
    mistakes=(
        Mistake(
            "one tool for everything",
            "`tf.custom_gradient` is the first choice for a function of your own, but not for "
            "every job: it cannot reach into code that you do not own, and cutting needs no rule.",
            answer=lambda c: dict.fromkeys(
                (f"entry:{key}" for key in choose_the_tool.options["keys"]), C
            ),
        ),
    ),
)

EXERCISES = [
    log1pexp,
    clip_gradient_norm,
    clip_value_passthrough,
    cube,
    scaled_dense,
    solve_cached,
    fixed_point,
    numpy_softsign,
    export_with_gradients,
    choose_the_tool,
]
