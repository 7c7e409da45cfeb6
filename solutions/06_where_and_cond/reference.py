"""What is true in chapter 06: closed forms in NumPy, the mistakes people make, the hints."""

from functools import partial

import numpy as np

from grader.contract import Case, Either, Entry, Exercise, Mistake, table
from grader.draw import away, clear, like, normal, reduce_to, uniform, until, upstream

EAGER = ("eager",)
EAGER_AND_TRACED = ("eager", "outside")
XLA = ("xla",)
VALUE = ("value",)
BOTH = ("value", "gradient")
TRACED = ("outside",)
ROWS = (
    ("a matrix", (2, 4), "float32", None, EAGER_AND_TRACED),
    ("float64", (5,), "float64", "robust", EAGER_AND_TRACED),
    ("a scalar", (), "float32", "robust", EAGER),
    ("a batch", (2, 2, 3), "float32", "robust", EAGER),
)


# The same where XLA compiles one case more, which takes as long as all the others.
CALLED = (*ROWS[:1], *((*row[:4], EAGER) for row in ROWS[1:]))


def with_points(values, *points):
    """The values, the first of them replaced by these points (as many as there is room for)."""
    flat = np.array(values).ravel()
    flat[: len(points)] = np.array(points, flat.dtype)[: flat.size]
    return flat.reshape(values.shape)


def at_points(rng, draw, *points, rows=ROWS):
    """The usual four calls of an elementwise function, each with these points in its input."""
    for name, shape, dtype, part, modes in rows:
        x = with_points(draw(rng, shape, dtype), *points)
        yield Case(name, {"x": x}, like(rng, x), part, modes)


def compiled(rng, draw, *points):
    """One call that XLA compiles."""
    row = ("a vector", (5,), "float32", "robust", XLA)
    return next(at_points(rng, draw, *points, rows=(row,)))


POISONED = (
    "What you return is right; the gradient is NaN where the branch that was not chosen is "
    "singular. `tf.where` sends a zero into that branch, and there 0 · ∞ is NaN. Guard the input: "
    "replace it by a harmless number before the op that cannot take it, then choose."
)
BY_MULTIPLICATION = (
    "A branch is switched off by arithmetic: a product with 0, or a difference. That does not "
    "switch off an infinity or a NaN: 0 · ∞ and ∞ − ∞ are NaN. Choose with `tf.where`."
)

# --- where_grad ----------------------------------------------------------------------------


def where_cases(rng):
    cases = []
    for name, shape, dtype, part, modes in ROWS:
        inputs = {"condition": with_points(rng.random(shape) < 0.5, True, False)}
        inputs["upstream"] = upstream(rng, shape, dtype)
        cases.append(Case(name, inputs, None, part, modes, VALUE))
    condition = np.array([True, False, True, False, True, False])
    up = with_points(upstream(rng, (6,)), np.inf, np.nan, np.nan, -np.inf)
    inputs = {"condition": condition, "upstream": up}
    cases.append(Case("an upstream gradient with ∞ and NaN", inputs, None, "robust", EAGER, VALUE))
    return cases


def pair(first, second):
    return {"value[0]": np.asarray(first), "value[1]": np.asarray(second), "pair": True}


def where_truth(case):
    c, up = case.arrays["condition"], case.arrays["upstream"]
    return pair(np.where(c, up, 0.0), np.where(c, 0.0, up))


def where_swapped(case):
    answers = where_truth(case)
    return pair(answers["value[1]"], answers["value[0]"])


def where_multiplied(case):
    c, up = case.arrays["condition"], case.arrays["upstream"]
    with np.errstate(invalid="ignore"):
        return {} if np.isfinite(up).all() else pair(up * c, up * ~c)


SWAPPED = (
    "The two gradients are exchanged. Where the `condition` is True the result came from the "
    "first branch, so the first gradient gets the upstream there."
)

MORE = Mistake(
    "more than a pair",
    "Two gradients are asked, and more came back. The `condition`'s None is not asked for.",
    answer=lambda c: {"pair": False},
)

where_grad = Exercise(
    id="where_grad",
    probe="pairing",
    cases=where_cases,
    truth=where_truth,
    parts={"value": 1, "robust": 1},
    reread="What a select does with a gradient",
    hints=(
        "The result of a select is, entry by entry, one of the two branches. The branch that gave "
        "the entry gets its upstream gradient, the other gets zero.",
        "That is a select again: the first gradient chooses `upstream` where the condition holds "
        "and zeros elsewhere. Do not multiply by the `condition`: 0 · ∞ is NaN.",
        "With `zeros = tf.zeros_like(upstream)` return `tf.where(condition, upstream, zeros)` and "
        "the same with `upstream` and `zeros` exchanged.",
    ),
    mistakes=(
        Mistake("swapped", SWAPPED, answer=where_swapped),
        Mistake("masked by multiplication", BY_MULTIPLICATION, answer=where_multiplied),
        Mistake(
            "upstream to both branches",
            "Both branches get the whole upstream gradient. Each entry of the result came from one "
            "branch only; the other one did not influence it.",
            answer=lambda c: pair(c.arrays["upstream"], c.arrays["upstream"]),
        ),
        MORE,
    ),
    also="the same select twice, the second time with `tf.logical_not(condition)`.",
)

# --- where_grad_broadcast ------------------------------------------------------------------


THREE_AXES = "three axes, an upstream gradient with ±∞"


def broadcast_cases(rng):
    cases = []
    rows = (
        ("two inputs, each stretched", (2, 1), (1, 3), (), "float32", None, EAGER_AND_TRACED),
        ("float64", (3,), (2, 3), (3,), "float64", "robust", EAGER_AND_TRACED),
        ("scalars", (), (), (), "float32", "robust", EAGER),
        (THREE_AXES, (2, 1, 1), (3, 1), (1, 1, 4), "float32", "robust", EAGER),
    )
    for name, c, x, y, dtype, part, modes in rows:
        full = np.broadcast_shapes(c, x, y)
        inputs = {
            "condition": with_points(rng.random(c) < 0.5, True, False),
            "x": normal(rng, x, dtype),
            "y": normal(rng, y, dtype),
            "upstream": upstream(rng, full, dtype),
        }
        if name == THREE_AXES:  # one infinity to either branch, each in a sum of its own
            inputs["upstream"][[0, 1], [0, 1], [0, 1]] = np.inf, -np.inf
        cases.append(Case(name, inputs, None, part, modes, VALUE))
    return cases


def broadcast_truth(case):
    a = case.arrays
    to_x = np.where(a["condition"], a["upstream"], 0.0)
    to_y = np.where(a["condition"], 0.0, a["upstream"])
    return pair(reduce_to(to_x, a["x"].shape), reduce_to(to_y, a["y"].shape))


def broadcast_swapped(case):
    a = case.arrays
    to_x = np.where(a["condition"], 0.0, a["upstream"])
    to_y = np.where(a["condition"], a["upstream"], 0.0)
    first, second = reduce_to(to_x, a["x"].shape), reduce_to(to_y, a["y"].shape)
    right = broadcast_truth(case)  # these, in the other order, are swapped as well
    return {
        "value[0]": Either(first, right["value[1]"]),
        "value[1]": Either(second, right["value[0]"]),
    }


def broadcast_multiplied(case):
    a = case.arrays
    if np.isfinite(a["upstream"]).all():
        return {}
    with np.errstate(invalid="ignore"):
        to_x, to_y = a["upstream"] * a["condition"], a["upstream"] * ~a["condition"]
    return pair(reduce_to(to_x, a["x"].shape), reduce_to(to_y, a["y"].shape))


def broadcast_mean(case):
    a, sums = case.arrays, broadcast_truth(case)
    sizes = [max(a["upstream"].size // a[name].size, 1) for name in "xy"]
    return pair(sums["value[0]"] / sizes[0], sums["value[1]"] / sizes[1])


where_grad_broadcast = Exercise(
    id="where_grad_broadcast",
    probe="pairing",
    cases=broadcast_cases,
    truth=broadcast_truth,
    parts={"value": 2, "robust": 1},
    reread="What a select does with a gradient",
    hints=(
        "First choose, in the full shape, as in `where_grad`. Then bring each gradient back to "
        "the shape of its input: an entry that was used several times gets the sum.",
        "Sum over the axes that the input does not have, and over those where it has length 1. "
        "Keep the latter as axes of length 1.",
        "`extra = full.shape.rank - x.shape.rank`; sum over `range(extra)`; then over the axes "
        "`i` with `x.shape[i] == 1`, with `keepdims=True`. Or sum over all of them and "
        "`tf.reshape` to `x.shape`.",
    ),
    mistakes=(
        Mistake("swapped", SWAPPED, answer=broadcast_swapped),
        Mistake("masked by multiplication", BY_MULTIPLICATION, answer=broadcast_multiplied),
        Mistake(
            "not reduced",
            "The gradient has the shape of the result, not of its input. An input that was "
            "stretched was used several times: sum over the axes along which it was.",
            pattern="not reduced",
        ),
        Mistake(
            "mean for sum",
            "An input that was used several times gets the sum of what comes back, not the mean.",
            answer=broadcast_mean,
        ),
        MORE,
    ),
    also="a tape around `tf.where(condition, x, y)`: it reduces by the same rule.",
)

# --- safe_log ------------------------------------------------------------------------------


def log_draw(rng, shape, dtype):
    return away(normal(rng, shape, dtype, 2.0), (0.0,), 0.1)


def log_cases(rng):
    endless = np.array([np.inf, 2.0, -1.0], "float32")
    # Alone, since the tolerance follows the largest gradient, which is 1e8 here.
    small = np.array([1e-8, 1e-4], "float32")
    # What max(x, 1e-12) and the like would cut off; a number that no processor takes for 0.
    tiny = np.array([1e-30], "float32")
    return [
        *at_points(rng, log_draw, 0.0, -1.5, 0.5, rows=CALLED),
        Case("entries close to 0", {"x": small}, like(rng, small), None, EAGER),
        Case("an entry of 1e-30", {"x": tiny}, like(rng, tiny), "robust", EAGER),
        Case("an infinite entry", {"x": endless}, like(rng, endless), "robust", EAGER),
        compiled(rng, log_draw, 0.0, -1.5, 0.5),
    ]


def log_truth(case):
    x = case.arrays["x"]
    safe = np.where(x > 0, x, 1.0)
    return {
        "value": np.where(x > 0, np.log(safe), 0.0),
        "gradient:x": np.where(x > 0, case.upstream / safe, 0.0),
    }


def log_shifted(case):
    """log(x + ε) or log(max(x, ε)), which are other numbers where x is small."""
    x, up = case.arrays["x"], case.upstream.astype(np.float64)
    if np.max(x) > 1e-3:
        return log_truth(case)
    added = [x + epsilon for epsilon in EPSILONS]
    cut = [np.maximum(x, epsilon) for epsilon in EPSILONS]
    slopes = [up / at for at in added] + [up * (x == at) / at for at in cut]
    return {"value": Either(*map(np.log, added + cut)), "gradient:x": Either(*slopes)}


EPSILONS = (1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-20)


def spoiled(truth, key, where, bad=np.nan):
    """One answer, spoiled at some entries; nothing where there are none."""
    return {key: np.where(where, bad, truth[key])} if np.any(where) else {}


def log_single(case):
    return spoiled(log_truth(case), "gradient:x", case.arrays["x"] == 0)


def log_after(case):
    endless = spoiled(log_truth(case), "value", np.isinf(case.arrays["x"]), 0.0)
    return log_single(case) | endless


def log_multiplied(case):
    return log_single(case) | spoiled(log_truth(case), "value", case.arrays["x"] <= 0)


def log_everywhere(case):
    x = case.arrays["x"]
    with np.errstate(all="ignore"):
        return {"value": np.log(x), "gradient:x": case.upstream / x}


safe_log = Exercise(
    id="safe_log",
    cases=log_cases,
    truth=log_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    reread="Zero times infinity",
    hints=(
        "The logarithm must never see an input that it cannot take, not even in entries whose "
        "result is thrown away.",
        "Two selects: one before the logarithm, that replaces x ≤ 0 by 1, and one after it, that "
        "puts 0 there.",
        "With `ok = x > 0`, the first select takes `x` where `ok` holds and `tf.ones_like(x)` "
        "elsewhere; the second takes the logarithm of that where `ok` holds, and "
        "`tf.zeros_like(x)` elsewhere.",
    ),
    mistakes=(
        Mistake("single where", POISONED, answer=log_single),
        Mistake(
            "replaced after",
            "You replace what is not finite after the logarithm has made it. The value looks "
            "right; the gradient still goes through the logarithm at 0, and a true infinity is "
            "wiped out, too. Replace the input before the logarithm.",
            answer=log_after,
        ),
        Mistake("masked by multiplication", BY_MULTIPLICATION, answer=log_multiplied),
        Mistake(
            "an epsilon",
            "An epsilon changes the logarithm of small numbers, which is right as it is. Guard the "
            "input where x ≤ 0 only.",
            answer=log_shifted,
        ),
        Mistake(
            "log everywhere",
            "This is the logarithm for every `x`: −∞ at 0, NaN below. Zero is asked for x ≤ 0.",
            answer=log_everywhere,
        ),
    ),
    also=(
        "`tf.math.log(tf.where(x > 0, x, tf.ones_like(x)))`: log 1 is 0, so one `where` will do "
        "here."
    ),
)

# --- safe_ratio ----------------------------------------------------------------------------


def ratio_draw(rng, shape, dtype):
    return away(normal(rng, shape, dtype, 2.0), (0.0,), 0.4)


def ratio_cases(rng):
    # The textbook gradient loses digits here, too: a larger one beside it sets the tolerance.
    near, up = np.array([[0.05, -0.05, 2.0], [0.5, -0.5, 3.0]], "float32")
    # Whoever adds an epsilon has u/ε − u/ε there: rounded, it is 0 for some u and not for others.
    # One in twelve is not: of four hundred some are in any draw.
    zeros, square = np.zeros(400, "float32"), np.zeros((20, 20), "float32")
    return [
        *at_points(rng, ratio_draw, 0.0, -1.5, 0.5, rows=CALLED),
        Case("entries close to 0", {"x": near}, up, None, EAGER),
        Case("four hundred zeros", {"x": zeros}, like(rng, zeros), None, EAGER),
        Case("a matrix of zeros", {"x": square}, like(rng, square), "robust", EAGER),
        compiled(rng, ratio_draw, 0.0, -1.5, 0.5),
    ]


def ratio_truth(case):
    x = case.arrays["x"]
    safe = np.where(x == 0, 1.0, x)
    slope = (safe * np.cos(safe) - np.sin(safe)) / safe**2
    return {
        "value": np.where(x == 0, 1.0, np.sin(safe) / safe),
        "gradient:x": np.where(x == 0, 0.0, case.upstream * slope),
    }


def at_zero(key, bad):
    return lambda case: spoiled(ratio_truth(case), key, case.arrays["x"] == 0, bad)


safe_ratio = Exercise(
    id="safe_ratio",
    cases=ratio_cases,
    truth=ratio_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    reread="Zero times infinity",
    hints=(
        "The division must not see a zero, also where its result is not used.",
        "Replace `x` by 1 where it is 0, divide, and put 1 where `x` was 0. Under a `tf.function` "
        "`x == 0` compares entries; in a `tf.Graph` it does not, `tf.equal(x, 0)` does everywhere.",
        "With `zero = tf.equal(x, 0)` a safe input is `tf.ones_like(x)` where `zero` holds, `x` "
        "elsewhere; the answer is ones where `zero` holds and `sin(safe) / safe` elsewhere.",
    ),
    mistakes=(
        Mistake("single where", POISONED, answer=at_zero("gradient:x", np.nan)),
        Mistake(
            "outer where missing",
            "At 0 you return sin(1)/1: the harmless number that you put in came through. Choose "
            "once more after the division.",
            answer=at_zero("value", np.sin(1.0)),
        ),
        Mistake(
            "zero at zero",
            "At 0 the value is 0, but sin x / x tends to 1 there. `tf.math.divide_no_nan` gives 0 "
            "for every division by 0.",
            answer=at_zero("value", 0.0),
        ),
        Mistake(
            "masked by multiplication",
            BY_MULTIPLICATION,
            answer=lambda c: {
                **at_zero("value", np.nan)(c),
                **at_zero("gradient:x", np.nan)(c),
            },
        ),
    ),
    also=(
        "`tf.math.divide_no_nan(tf.sin(x), x)` plus 1 where `x` is 0: that op has a safe gradient."
    ),
)

# --- transfer ------------------------------------------------------------------------------


def transfer_cases(rng):
    def draw(rng, shape, dtype):
        return away(normal(rng, shape, dtype, 2.0), (-1.0, 0.0, 1.0), 0.05)

    zero = np.zeros((), "float32")
    return [
        *at_points(rng, draw, 1.0, -1.0, -3.0),
        Case("0, where the branches meet", {"x": zero}, upstream(rng), None, EAGER),
    ]


def transfer_truth(case):
    x, up = case.arrays["x"], case.upstream
    left, right = np.minimum(x, 0.0), np.maximum(x, 0.0)
    value = np.where(x < 0, 1 / (1 - left), np.log1p(right))
    slope = np.where(x < 0, 1 / (1 - left) ** 2, 1 / (1 + right))
    if x.shape == () and x == 0:
        # Only finiteness is asked at the joint: what the usual right answers give there.
        routes = (1.0, 0.0, 0.5, 2.0)
        return {"value": value, "gradient:x": Either(*(np.asarray(r * up) for r in routes))}
    return {"value": value, "gradient:x": up * slope}


def transfer_at(key, where):
    def answer(case):
        x = case.arrays["x"]
        return {} if x.shape == () and x == 0 else spoiled(transfer_truth(case), key, where(x))

    return answer


def singular(x):
    return np.abs(x) == 1


def transfer_multiplied(case):
    value = transfer_at("value", lambda x: (x <= -1) | (x == 1))(case)
    return value | transfer_at("gradient:x", singular)(case)


def transfer_exchanged(case):
    x = case.arrays["x"]
    with np.errstate(all="ignore"):
        return {"value": np.where(x < 0, np.log(1 + x), 1 / (1 - x))}


transfer = Exercise(
    id="transfer",
    cases=transfer_cases,
    truth=transfer_truth,
    parts={"value": 1, "gradient": 3, "robust": 1},
    card="x",
    reread="Zero times infinity",
    hints=(
        "Each branch is singular at a place that belongs to the other: 1/(1−x) at 1, log(1+x) at "
        "−1. Both inputs need a guard.",
        "Give the left branch an input that is never positive, and the right branch one that is "
        "never negative; both harmless where the other branch is chosen.",
        "With `left = tf.minimum(x, 0)` and `right = tf.maximum(x, 0)`, or two selects that put "
        "zeros there, choose by `x < 0` between `1 / (1 - left)` and `tf.math.log1p(right)`.",
    ),
    mistakes=(
        Mistake(
            "NaN from the branch not taken",
            POISONED,
            answer=transfer_at("gradient:x", singular),
        ),
        Mistake(
            "left branch unguarded",
            "The gradient is NaN at x = 1. Nothing is chosen from 1/(1−x) there, but it is "
            "computed, and infinite. Guard its input, as you did for the other branch.",
            answer=transfer_at("gradient:x", lambda x: x == 1),
        ),
        Mistake(
            "right branch unguarded",
            "The gradient is NaN at x = −1. Nothing is chosen from log(1+x) there, but it is "
            "computed, and infinite. Guard its input, as you did for the other branch.",
            answer=transfer_at("gradient:x", lambda x: x == -1),
        ),
        Mistake(
            "masked by multiplication",
            BY_MULTIPLICATION,
            answer=transfer_multiplied,
        ),
        Mistake(
            "branches exchanged",
            "The branches are exchanged: 1/(1−x) is for x < 0, log(1+x) for the rest.",
            answer=transfer_exchanged,
        ),
    ),
    also="`tf.minimum(x, 0)` and `tf.maximum(x, 0)` as the guarded inputs.",
)

# --- cond_grad -----------------------------------------------------------------------------


def cond_cases(rng):
    cases = []
    rows = (
        ("a true predicate", True, (3,), "float32", None, EAGER_AND_TRACED),
        ("a false predicate", False, (3,), "float32", None, EAGER_AND_TRACED),
        ("float64", False, (2, 2), "float64", "robust", EAGER_AND_TRACED),
        ("scalars", True, (), "float32", "robust", EAGER),
        ("a batch", False, (2, 2, 3), "float32", "robust", EAGER),
    )
    for name, predicate, shape, dtype, part, modes in rows:
        inputs = {
            "predicate": np.array(predicate),
            "x": away(normal(rng, shape, dtype), (0.0,), 0.2),
            "y": away(normal(rng, shape, dtype), (0.0,), 0.2),
            "upstream": upstream(rng, shape, dtype),
        }
        cases.append(Case(name, inputs, None, part, modes, VALUE))
    return cases


def cond_truth(case, predicate=None):
    a = case.arrays
    taken = bool(a["predicate"]) if predicate is None else predicate
    none = np.zeros_like(a["x"])
    if taken:
        return pair(2 * a["x"] * a["upstream"], none)
    return pair(none, 3 * a["upstream"])


def cond_none(case):
    taken = bool(case.arrays["predicate"])
    return {"value[1]" if taken else "value[0]": None}


def cond_lost(case):
    a = case.arrays
    if a["predicate"]:
        return {"value[0]": 2 * a["x"]}
    return {"value[1]": np.full(a["x"].shape, 3.0)}


cond_grad = Exercise(
    id="cond_grad",
    probe="pairing",
    cases=cond_cases,
    truth=cond_truth,
    parts={"value": 2, "robust": 1},
    reread="A conditional runs one branch",
    hints=(
        "The branch taken hands its derivative times upstream to its own input. Zeros go to the "
        "input of the other branch, as a graph gives them.",
        "If the `predicate` holds: 2·x·upstream to `x`, zeros to `y`. If not: zeros to `x`, "
        "3·upstream to `y`. The `predicate` may be symbolic: choose with `tf.where` or `tf.cond`.",
        "`zeros = tf.zeros_like(x)`; `return tf.where(predicate, 2 * x * upstream, zeros), "
        "tf.where(predicate, zeros, 3 * upstream)`.",
    ),
    mistakes=(
        Mistake(
            "None for the branch not taken",
            "None comes back for the branch not taken. A tape in eager code gives None there: "
            "it never saw that branch; a graph holds both branches and gives zeros. Zeros are "
            "asked.",
            answer=cond_none,
        ),
        Mistake(
            "both branches",
            "Both inputs get a gradient. Only one branch ran, the other input did not influence "
            "the result.",
            answer=lambda c: pair(
                2 * c.arrays["x"] * c.arrays["upstream"], 3 * c.arrays["upstream"]
            ),
        ),
        Mistake(
            "branches exchanged",
            "You answer for the other branch: with a true `predicate` the first function ran.",
            answer=lambda c: cond_truth(c, not c.arrays["predicate"]),
        ),
        Mistake(
            "upstream forgotten",
            "The derivative of the branch is right, the upstream gradient is missing: multiply.",
            answer=cond_lost,
        ),
        MORE,
    ),
    also="a `tf.cond` that returns the pair from each of its branches.",
)

# --- power_by_loop -------------------------------------------------------------------------


def power_cases(rng):
    cases = []
    rows = (
        ("a vector", 3 + int(rng.integers(0, 3)), (4,), "float32", None, EAGER_AND_TRACED, BOTH),
        ("a vector, n = 1", 1, (3,), "float32", None, EAGER, BOTH),
        ("float64", 2, (3,), "float64", "robust", EAGER, BOTH),
        ("a scalar", 3, (), "float32", "robust", EAGER, BOTH),
        ("a batch, n = 12", 12, (2, 2, 3), "float32", "robust", EAGER, BOTH),
        ("a vector in float64", 3, (2,), "float64", "robust", TRACED, VALUE),
    )
    for name, n, shape, dtype, part, modes, wants in rows:
        side = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
        size = rng.uniform(*((0.8, 1.2) if n > 5 else (0.3, 1.6)), shape)
        x = with_points(np.asarray(side * size).astype(dtype), 0.0)
        inputs = {"x": x, "n": np.array(n, "int32")}
        cases.append(Case(name, inputs, like(rng, x), part, modes, wants))
    return cases


def power(case, n):
    x = case.arrays["x"]
    return {"value": x**n, "gradient:x": case.upstream * (n * x ** (n - 1))}


def power_right(case):
    return power(case, int(case.arrays["n"])) | {"outside/loop": True}


def power_truth(case):
    """The right answers, the gradient only where it is asked for."""
    asked = "gradient" in case.wants
    return {k: v for k, v in power_right(case).items() if asked or k != "gradient:x"}


power_by_loop = Exercise(
    id="power_by_loop",
    cases=power_cases,
    truth=power_truth,
    parts={"value": 1, "gradient": 2, "robust": 1},
    probe="looping",
    reread="Loops whose length is a tensor",
    hints=(
        "Carry two things through the loop: a counter and the product so far. Both the condition "
        "and the body get them as arguments.",
        "Start with the product `x` and the counter 1, multiply while the counter is less than "
        "`n`. `n` is a tensor: compare with it, do not read it in Python.",
        "`tf.while_loop(lambda i, power: i < n, lambda i, power: (i + 1, power * x), "
        "(tf.constant(1), x))` returns both; the second one is the answer.",
    ),
    mistakes=(
        Mistake(
            "n read in Python",
            "Traced, `n` is symbolic: it has no value yet, only a place in the graph. A Python "
            "loop needs a number now. Let `tf.while_loop` compare the counter with the tensor.",
            raises="has no attribute 'numpy'|interpreted as an integer|__index__|"
            "Cannot convert a symbolic|int\\(\\) argument must be",
        ),
        Mistake(
            "starts from the zeroth power",
            "The value x⁰ is 1, but its gradient is 0 · x⁻¹, and at 0 that is 0 · ∞ = NaN. Start "
            "from `x` itself, or from `tf.ones_like(x)`.",
            answer=lambda c: spoiled(power_right(c), "gradient:x", c.arrays["x"] == 0),
        ),
        Mistake(
            "one factor too many",
            "This is `x` to the n + 1. Starting from `x`, the loop multiplies n − 1 times.",
            answer=lambda c: power(c, int(c.arrays["n"]) + 1),
        ),
        Mistake(
            "one factor short",
            "This is `x` to the n − 1. Count how often the body runs.",
            answer=lambda c: power(c, int(c.arrays["n"]) - 1) if c.arrays["n"] > 1 else {},
        ),
        Mistake(
            "no loop",
            "The numbers are right, but the traced graph holds no loop. This exercise is about "
            "`tf.while_loop` and its gradient.",
            answer=lambda c: {"outside/loop": False},
        ),
    ),
    also="`for _ in tf.range(n)`: AutoGraph makes a `tf.while_loop` of it when it is traced.",
)

# --- piecewise -----------------------------------------------------------------------------


def piecewise_cases(rng):
    def draw(rng, shape, dtype):
        return away(uniform(rng, -3.0, 3.0, shape, dtype), (-1.0, 0.0, 1.0), 0.1)

    return list(at_points(rng, draw, 0.0, -2.0, 2.0))


def pieces(x):
    """Where each branch holds."""
    return x < -1, (x >= -1) & (x < 1), x >= 1


def piecewise_truth(case):
    x = case.arrays["x"]
    low, middle, high = pieces(x)
    safe = np.where(high, x, 1.0)
    return {
        "value": np.where(low, x**2, np.where(middle, -x, np.log(safe))),
        "gradient:x": case.upstream * np.where(low, 2 * x, np.where(middle, -1.0, 1 / safe)),
    }


def piecewise_whole(case):
    """One branch for all entries, chosen by whether it holds for every one of them."""
    x = case.arrays["x"]
    low, middle, _ = pieces(x)
    if low.all():
        return {"value": x**2, "gradient:x": 2 * x * case.upstream}
    if (low | middle).all():
        return {"value": -x, "gradient:x": -1.0 * case.upstream}
    with np.errstate(all="ignore"):
        return {"value": np.log(x), "gradient:x": case.upstream / x}


def piecewise_absolute(case):
    truth, middle = piecewise_truth(case), pieces(case.arrays["x"])[1]
    x, up = case.arrays["x"], case.upstream
    return {
        "value": np.where(middle, x, truth["value"]),
        "gradient:x": np.where(middle, up, truth["gradient:x"]),
    }


WHOLE = (
    "One branch is chosen for the whole tensor. Python's `if` and `tf.cond` take one decision; "
    "here every entry needs its own. Use `tf.where`, twice."
)

piecewise = Exercise(
    id="piecewise",
    cases=piecewise_cases,
    truth=piecewise_truth,
    parts={"value": 1, "gradient": 2, "robust": 1},
    card="x",
    reread="Three branches, entry by entry",
    hints=(
        "A decision per entry is a select. Three branches are two selects, one inside the other.",
        "One of the three branches is singular where another is chosen. Guard its input.",
        "With `safe = tf.maximum(x, 1)` the logarithm is harmless: choose by `x < 1` between `-x` "
        "and `tf.math.log(safe)`, and then by `x < -1` between `x**2` and that.",
    ),
    mistakes=(
        Mistake(
            "one branch for the whole vector",
            WHOLE,
            answer=lambda c: piecewise_whole(c) if c.arrays["x"].size > 1 else {},
        ),
        Mistake(
            "one branch for the whole vector",
            WHOLE,
            raises="truth value of an array|expected to be `tf.bool` scalar|must be a scalar",
        ),
        Mistake(
            "sign lost in the middle",
            "Between −1 and 1 the function is −x; you have `x`.",
            answer=piecewise_absolute,
        ),
        Mistake("NaN from the branch not taken", POISONED, pattern="nan"),
    ),
    also="`tf.math.log(tf.maximum(x, 1))` as the guarded branch.",
)

# --- learnable_threshold -------------------------------------------------------------------


def threshold_cases(rng):
    cases = []
    rows = (
        ("one threshold", (20, 3), (), "float32", None, EAGER_AND_TRACED),
        ("a threshold per column", (4, 3), (3,), "float32", None, EAGER),
        ("float64", (5,), (), "float64", "robust", EAGER_AND_TRACED),
        ("scalars", (), (), "float32", "robust", EAGER),
        ("a batch", (2, 4, 3), (4, 1), "float32", "robust", EAGER),
    )
    for name, shape, of_threshold, dtype, part, modes in rows:
        made = partial(_gated, rng, shape, of_threshold, dtype)
        inputs, passed = until(made, _sums_are_clear)
        cases.append(Case(name, inputs, passed, part, modes))
    return cases


def _gated(rng, shape, of_threshold, dtype):
    """Inputs on both sides of their thresholds, and an upstream gradient."""
    threshold = uniform(rng, -0.4, 0.6, of_threshold, dtype)
    side = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    x = np.asarray(threshold + side * rng.uniform(0.05, 1.2, shape)).astype(dtype)
    return {"x": x, "threshold": threshold, "sharpness": 4.0}, like(rng, x)


def _sums_are_clear(made):
    inputs, passed = made
    x, up, open_, slope = gate(Case("", inputs, passed))
    to_x = open_ + inputs["sharpness"] * x * slope
    return np.abs(to_x).max() > 0.1 and clear(up * x * slope, inputs["threshold"].shape)


def gate(case):
    """Input, upstream, the sigmoid and its derivative."""
    x, s = case.arrays["x"], case.inputs["sharpness"]
    open_ = 0.5 * (1 + np.tanh(s * (x - case.arrays["threshold"]) / 2))
    return x, case.upstream.astype(np.float64), open_, open_ * (1 - open_)


def threshold_truth(case, inner=None, reduced=True):
    x, up, open_, slope = gate(case)
    level = case.arrays["threshold"]
    s = case.inputs["sharpness"] if inner is None else inner
    to_threshold = -up * s * x * slope
    return {
        "value": np.where(x > level, x, 0.0),
        "exact": True,
        "gradient:x": up * (open_ + s * x * slope),
        "gradient:threshold": reduce_to(to_threshold, level.shape) if reduced else to_threshold,
    }


def hard(case):
    x, up, _, _ = gate(case)
    level = case.arrays["threshold"]
    nothing = Either(None, np.zeros(level.shape))
    return {"gradient:x": np.where(x > level, up, 0.0), "gradient:threshold": nothing}


def hard_gate(case):
    """The product rule with the hard gate in its first term."""
    _, up, open_, _ = gate(case)
    return {
        "gradient:x": threshold_truth(case)["gradient:x"] - up * open_ + hard(case)["gradient:x"]
    }


def keys(answers, *wanted):
    return {key: answers[key] for key in wanted}


learnable_threshold = Exercise(
    id="learnable_threshold",
    cases=threshold_cases,
    truth=threshold_truth,
    plain=hard,
    parts={"value": 1, "gradient": 3, "robust": 1},
    probe="thresholding",
    reread="A threshold that learns",
    hints=(
        "Two functions: the hard one, whose value you want, and x·sigmoid(sharpness·(x − "
        "threshold)), whose gradient you want. Chapter 04 has the way to join them.",
        "Let TensorFlow differentiate the soft one: then the gradient to the threshold is summed "
        "to its shape by itself. For a value exact to the last bit add zero: soft minus itself.",
        "With hard and soft as above: the stopped hard gate, plus the bracket (soft minus the "
        "stopped soft gate). The bracket is exactly 0 and carries the gradient.",
    ),
    mistakes=(
        Mistake(
            "threshold gradient None",
            "None reaches the threshold: a comparison has no gradient, so it can never be learned. "
            "The soft gate depends on it smoothly; let its gradient through.",
            answer=lambda c: {"gradient:threshold": None},
        ),
        Mistake(
            "value off by rounding",
            "The value is right to rounding, not to the last bit. hard + soft − soft is computed "
            "from the left, and rounds. Add a zero that is exact: hard + (soft − soft).",
            answer=lambda c: keys(threshold_truth(c), "value") | {"exact": False},
        ),
        Mistake(
            "value softened",
            "The value is that of the soft gate. It must be exactly `x` above the threshold and "
            "exactly 0 below; only the gradient is the soft one's.",
            answer=lambda c: {"value": gate(c)[0] * gate(c)[2], "exact": False},
        ),
        Mistake(
            "sharpness lost",
            "The derivative of sigmoid(sharpness·(x − threshold)) has `sharpness` as a factor; it "
            "is missing.",
            answer=lambda c: keys(
                threshold_truth(c, inner=1.0), "gradient:x", "gradient:threshold"
            ),
        ),
        Mistake(
            "hard not stopped",
            "The gradient to `x` is that of the soft gate plus that of the hard value, which is 1 "
            "above the threshold. Stop the hard one.",
            answer=lambda c: {
                "gradient:x": threshold_truth(c)["gradient:x"] + hard(c)["gradient:x"]
            },
        ),
        Mistake(
            "gate alone softened",
            "Only the gate is softened: the first term of the gradient to `x` has the hard gate, 0 "
            "or 1, where sigmoid(sharpness·(x − threshold)) is asked. Soften the whole product.",
            answer=hard_gate,
        ),
        Mistake(
            "product rule forgotten",
            "The gate depends on `x`, too: x·sigmoid(…) has two terms. You have only the gate.",
            answer=lambda c: {"gradient:x": gate(c)[1] * gate(c)[2]},
        ),
        Mistake(
            "not summed to the threshold's shape",
            "Every entry of `x` sends a gradient to the threshold it was compared with. The "
            "gradient must have the threshold's shape: sum over the axes along which it was "
            "stretched.",
            pattern="not reduced",
        ),
    ),
    also="`tf.custom_gradient` with a rule that differentiates the soft gate by a tape.",
)

# --- branch_predictions --------------------------------------------------------------------

WORDS = ("none", "zero", "number", "nan")

branch_predictions = table(
    "branch_predictions",
    {
        "where(x > 0, log(x), 0.0) at x = 0, eager": Entry(
            "nan", "A zero enters the logarithm's branch, whose derivative at 0 is ∞: 0 · ∞ is NaN."
        ),
        "where(x > 0, log(x), 0.0) at x = 0, traced": Entry(
            "nan", "Tracing changes nothing: a select computes and differentiates both branches."
        ),
        "where(x > 0, sqrt(x), 0.0) at x = 0, eager": Entry(
            "zero",
            "The classic example no longer shows it: the kernel of `sqrt`'s gradient gives 0 for "
            "a zero upstream.",
        ),
        "where(x > 0, sqrt(x), 0.0) at x = 0, compiled by XLA": Entry(
            "nan", "XLA computes what is written, 0 · ∞. The kernel that helped is not there."
        ),
        "where(x > 0, x ** 0.5, 0.0) at x = 0, eager": Entry(
            "nan", "The same function through `Pow`, whose gradient has no such help."
        ),
        "cond(x > 0, log(x), 2 * x) at x = 0, eager": Entry(
            "number", "Only one branch runs. The logarithm is never computed."
        ),
        "cond(x > 0, log(x), 2 * x) at x = 0, traced": Entry(
            "number", "The gradient of a conditional is a conditional: only the taken branch runs."
        ),
        "cond(a > 0, a * a, 3 * b) to b at a = 1, eager": Entry(
            "none", "Eagerly the tape never sees the branch not taken: `b` is not connected."
        ),
        "cond(a > 0, a * a, 3 * b) to b at a = 1, traced": Entry(
            "zero", "The graph holds both branches, so `b` is connected, and gets zeros."
        ),
        "where(a > 0, a * a, 3 * b) to b at a = 1, eager": Entry(
            "zero", "A select always connects both branches; the one not chosen gets zeros."
        ),
        "where(x > 0, 1.0, 0.0) at x = 1, eager": Entry(
            "none", "`x` acts through the comparison only, and a comparison has no gradient."
        ),
        "where(is_nan(x), 0.0, x * x) at x = NaN, eager": Entry(
            "nan",
            "The zero that enters `x · x` is multiplied by `x`, which is NaN. It is too late.",
        ),
    },
    WORDS,
    (
        "Ask of each: is it a select, which computes both branches, or a conditional, which runs "
        "one? Then: is the setting eager, where the tape knows only what ran?",
        "A select connects both branches always: zero, unless 0 meets ∞ or NaN in the branch not "
        "chosen. A conditional never poisons; its other branch is None eagerly, zero traced.",
        "Run them: `tf.where` and `tf.cond` under a tape, with and without `tf.function`. The "
        "`sqrt` is the one place where eager and XLA differ.",
    ),
    weight=3,
    reread="Before you go: twelve predictions",
    mistakes=(
        Mistake(
            "None and zero confused",
            "For the branch that a conditional did not take: eagerly None, since the tape never "
            "saw it; traced zeros, since the graph holds it.",
            answer=lambda c: {
                "entry:cond(a > 0, a * a, 3 * b) to b at a = 1, eager": "zero",
                "entry:cond(a > 0, a * a, 3 * b) to b at a = 1, traced": "none",
            },
        ),
        Mistake(
            "the old square root",
            "The advice to demonstrate NaN by a square root is from an older TensorFlow.",
            answer=lambda c: {"entry:where(x > 0, sqrt(x), 0.0) at x = 0, eager": "nan"},
        ),
    ),
)

EXERCISES = [
    where_grad,
    where_grad_broadcast,
    safe_log,
    safe_ratio,
    transfer,
    cond_grad,
    power_by_loop,
    piecewise,
    learnable_threshold,
    branch_predictions,
]
