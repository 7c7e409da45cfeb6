"""What people write in chapter 06: right answers other than the solution, and wrong ones."""


def returns(signature, value, *before):
    """A function of a few lines."""
    lines = "".join(f"    {line}\n" for line in before)
    return f"def {signature}:\n{lines}    return {value}\n"


WHERE = "where_grad(condition, upstream)"
REDUCED = """
def where_grad_broadcast(condition, x, y, upstream):
    zeros = tf.zeros_like(upstream)
    def back(full, like):
        shape = [1] * (full.shape.rank - like.shape.rank) + like.shape.as_list()
        axes = [i for i, n in enumerate(shape) if n == 1]
        return {back}
    first = back(tf.where(condition, upstream, zeros), x)
    second = back(tf.where(condition, zeros, upstream), y)
    return {pair}
"""


def reduced(back="tf.reshape(tf.reduce_sum(full, axes), like.shape)", pair="first, second"):
    return REDUCED.format(back=back, pair=pair)


LOG, RATIO, TRANSFER = "safe_log(x)", "safe_ratio(x)", "transfer(x)"
COND = "cond_grad(predicate, x, y, upstream)"
POWER = "power_by_loop(x, n)"
PIECES = "piecewise(x)"
GATE = "learnable_threshold(x, threshold, sharpness)"
HARD = "hard = tf.where(x > threshold, x, tf.zeros_like(x))"
OPEN = "gate = tf.sigmoid(sharpness * (x - threshold))"
ADDED = "tf.stop_gradient(hard) + (soft - tf.stop_gradient(soft))"

KEYS = (
    "where(x > 0, log(x), 0.0) at x = 0, eager",
    "where(x > 0, log(x), 0.0) at x = 0, traced",
    "where(x > 0, sqrt(x), 0.0) at x = 0, eager",
    "where(x > 0, sqrt(x), 0.0) at x = 0, compiled by XLA",
    "where(x > 0, x ** 0.5, 0.0) at x = 0, eager",
    "cond(x > 0, log(x), 2 * x) at x = 0, eager",
    "cond(x > 0, log(x), 2 * x) at x = 0, traced",
    "cond(a > 0, a * a, 3 * b) to b at a = 1, eager",
    "cond(a > 0, a * a, 3 * b) to b at a = 1, traced",
    "where(a > 0, a * a, 3 * b) to b at a = 1, eager",
    "where(x > 0, 1.0, 0.0) at x = 1, eager",
    "where(is_nan(x), 0.0, x * x) at x = NaN, eager",
)
RIGHT = "nan nan zero nan nan number number none zero zero none nan"


def predictions(words):
    return f"branch_predictions = {dict(zip(KEYS, words.split(), strict=True))!r}"


ANSWERS: dict[str, dict[str, str]] = {
    "where_grad": {
        "ok_subtracted": returns(
            WHERE,
            "tf.where(condition, upstream, 0.0 * zeros), tf.where(~condition, upstream, zeros)",
            "zeros = tf.zeros_like(upstream)",
        ),
        "ok_boolean": returns(
            WHERE,
            "[tf.where(c, upstream, tf.zeros_like(upstream)) for c in sides]",
            "sides = (condition, tf.logical_not(condition))",
        ),
        "swapped": returns(
            WHERE,
            "tf.where(condition, zeros, upstream), tf.where(condition, upstream, zeros)",
            "zeros = tf.zeros_like(upstream)",
        ),
        "masked_by_multiplication": returns(
            WHERE,
            "mask * upstream, (1 - mask) * upstream",
            "mask = tf.cast(condition, upstream.dtype)",
        ),
        "upstream_to_both_branches": returns(WHERE, "upstream, upstream"),
        "more_than_a_pair": returns(
            WHERE,
            "tf.where(condition, upstream, zeros), tf.where(condition, zeros, upstream), None, 17",
            "zeros = tf.zeros_like(upstream)",
        ),
        "raises": returns(WHERE, "tf.select(condition, upstream, 0.0 * upstream)"),
    },
    "where_grad_broadcast": {
        "ok_reshaped": reduced(),
        "ok_tape": """
def where_grad_broadcast(condition, x, y, upstream):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.where(condition, x, y)
    return tape.gradient(z, [x, y], output_gradients=upstream)
""",
        "swapped": reduced(
            pair="back(tf.where(condition, zeros, upstream), x), "
            "back(tf.where(condition, upstream, zeros), y)"
        ),
        "swapped_2": reduced(
            pair="back(tf.where(condition, zeros, upstream), y), "
            "back(tf.where(condition, upstream, zeros), x)"
        ),
        "not_reduced": reduced(back="full"),
        "not_reduced_2": reduced(
            back="tf.reduce_sum(full, list(range(full.shape.rank - like.shape.rank)))"
        ),
        "masked_by_multiplication": reduced(
            pair="back(upstream * tf.cast(condition, upstream.dtype), x), "
            "back(upstream * (1 - tf.cast(condition, upstream.dtype)), y)"
        ),
        "more_than_a_pair": reduced(pair="first, second, None"),
        "mean_for_sum": reduced(back="tf.reshape(tf.reduce_mean(full, axes), like.shape)"),
    },
    "safe_log": {
        "ok_one_before": returns(LOG, "tf.math.log(tf.where(x > 0, x, tf.ones_like(x)))"),
        "ok_xlogy": returns(
            LOG,
            "tf.math.xlogy(tf.cast(x > 0, x.dtype), safe)",
            "safe = tf.where(x > 0, x, tf.ones_like(x))",
        ),
        "single_where": returns(LOG, "tf.where(x > 0, tf.math.log(x), tf.zeros_like(x))"),
        "an_epsilon": returns(LOG, "tf.where(x > 0, tf.math.log(x + 1e-12), tf.zeros_like(x))"),
        "an_epsilon_2": returns(
            LOG, "tf.where(x > 0, tf.math.log(tf.maximum(x, 1e-7)), tf.zeros_like(x))"
        ),
        "single_where_2": returns(
            LOG,
            "tf.where(x > 0, tf.math.log(x), tf.stop_gradient(tf.zeros_like(x)))",
        ),
        "replaced_after": returns(
            LOG, "tf.where(tf.math.is_finite(y), y, tf.zeros_like(y))", "y = tf.math.log(x)"
        ),
        "masked_by_multiplication": returns(LOG, "tf.math.log(x) * tf.cast(x > 0, x.dtype)"),
        "log_everywhere": returns(LOG, "tf.math.log(x)"),
        "an_epsilon_3": returns(
            LOG, "tf.where(x > 0, tf.math.log(tf.maximum(x, 1e-12)), tf.zeros_like(x))"
        ),
        "raises": returns(LOG, "tf.log(x)"),
    },
    "safe_ratio": {
        "_": "def safe_ratio(x):\n    return tf.sin(x + 1e-8) / (x + 1e-8)\n",
        "_2": "def safe_ratio(x):\n    return (tf.sin(x) + 1e-12) / (x + 1e-12)\n",
        "ok_divide_no_nan": returns(
            RATIO, "tf.math.divide_no_nan(tf.sin(x), x) + tf.cast(tf.equal(x, 0), x.dtype)"
        ),
        "ok_shifted": returns(
            RATIO,
            "tf.where(zero, tf.ones_like(x), tf.sin(safe) / safe)",
            "zero = tf.abs(x) < 1e-30",
            "safe = x + tf.cast(zero, x.dtype)",
        ),
        "single_where": returns(RATIO, "tf.where(tf.equal(x, 0), tf.ones_like(x), tf.sin(x) / x)"),
        "single_where_2": returns(
            RATIO, "tf.where(tf.math.is_nan(y), tf.ones_like(y), y)", "y = tf.sin(x) / x"
        ),
        "outer_where_missing": returns(
            RATIO,
            "tf.sin(safe) / safe",
            "safe = tf.where(tf.equal(x, 0), tf.ones_like(x), x)",
        ),
        "zero_at_zero": returns(RATIO, "tf.math.divide_no_nan(tf.sin(x), x)"),
        "masked_by_multiplication": returns(
            RATIO, "tf.sin(x) / x * (1 - zero) + zero", "zero = tf.cast(tf.equal(x, 0), x.dtype)"
        ),
    },
    "transfer": {
        "ok_minimum": returns(
            TRANSFER,
            "tf.where(x < 0, 1 / (1 - tf.minimum(x, 0)), tf.math.log1p(tf.maximum(x, 0)))",
        ),
        "ok_absolute": returns(
            TRANSFER, "tf.where(x < 0, 1 / (1 + size), tf.math.log(1 + size))", "size = tf.abs(x)"
        ),
        "NaN_from_the_branch_not_taken": returns(
            TRANSFER, "tf.where(x < 0, 1 / (1 - x), tf.math.log(1 + x))"
        ),
        "left_branch_unguarded": returns(
            TRANSFER, "tf.where(x < 0, 1 / (1 - x), tf.math.log1p(tf.maximum(x, 0)))"
        ),
        "right_branch_unguarded": returns(
            TRANSFER, "tf.where(x < 0, 1 / (1 - tf.minimum(x, 0)), tf.math.log1p(x))"
        ),
        "masked_by_multiplication": returns(
            TRANSFER,
            "low / (1 - x) + (1 - low) * tf.math.log(1 + x)",
            "low = tf.cast(x < 0, x.dtype)",
        ),
        "branches_exchanged": returns(TRANSFER, "tf.where(x < 0, tf.math.log(1 + x), 1 / (1 - x))"),
    },
    "cond_grad": {
        "shape": returns(
            COND,
            "tf.cond(predicate, lambda: (2 * x * upstream, none), lambda: (none, 3 * upstream))",
            "none = tf.constant(0, x.dtype)",
        ),
        "ok_cond": returns(
            COND,
            "tf.cond(predicate, lambda: (2 * x * upstream, none), lambda: (none, 3 * upstream))",
            "none = tf.zeros_like(x)",
        ),
        "ok_if": """
def cond_grad(predicate, x, y, upstream):
    zeros = tf.zeros_like(x)
    if predicate:
        pair = (2 * x * upstream, zeros)
    else:
        pair = (zeros, 3 * upstream)
    return pair
""",
        "None_for_the_branch_not_taken": """
def cond_grad(predicate, x, y, upstream):
    if predicate:
        return 2 * x * upstream, None
    return None, 3 * upstream
""",
        "None_for_the_branch_not_taken_2": """
def cond_grad(predicate, x, y, upstream):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.cond(predicate, lambda: x * x, lambda: 3 * y)
    return tape.gradient(z, [x, y], output_gradients=upstream)
""",
        "branches_exchanged": returns(
            COND,
            "tf.where(predicate, none, 2 * x * upstream), tf.where(predicate, 3 * upstream, none)",
            "none = tf.zeros_like(x)",
        ),
        "more_than_a_pair": """
def cond_grad(predicate, x, y, upstream):
    first, second = 2 * x * upstream, 3 * upstream
    none = tf.zeros_like(x)
    return tf.where(predicate, first, none), tf.where(predicate, none, second), None
""",
        "both_branches": returns(COND, "2 * x * upstream, 3 * upstream"),
        "upstream_forgotten": returns(
            COND,
            "tf.where(predicate, 2 * x, none), tf.where(predicate, none, 3 + none)",
            "none = tf.zeros_like(x)",
        ),
    },
    "power_by_loop": {
        "ok_ones": returns(
            POWER,
            "tf.while_loop(lambda i, p: i > 0, lambda i, p: (i - 1, p * x), start)[1]",
            "start = (n, tf.ones_like(x))",
        ),
        "ok_range": """
def power_by_loop(x, n):
    power = tf.ones_like(x)
    for _ in tf.range(n):
        power = power * x
    return power
""",
        "n_read_in_Python": """
def power_by_loop(x, n):
    power = x
    for _ in range(n.numpy() - 1):
        power = power * x
    return power
""",
        "starts_from_the_zeroth_power": returns(
            POWER,
            "tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), (0, x ** 0))[1]",
        ),
        "one_factor_too_many": returns(
            POWER, "tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), (0, x))[1]"
        ),
        "one_factor_short": returns(
            POWER,
            "tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), "
            "(1, tf.ones_like(x)))[1]",
        ),
        "no_loop": returns(POWER, "tf.pow(x, tf.cast(n, x.dtype))"),
    },
    "piecewise": {
        "ok_maximum": returns(
            PIECES,
            "tf.where(x < -1, x * x, tf.where(x < 1, -x, tf.math.log(tf.maximum(x, 1))))",
        ),
        "ok_map": """
def piecewise(x):
    def one(e):
        return tf.case(
            [(e < -1, lambda: e**2), (e < 1, lambda: -e)], default=lambda: tf.math.log(e)
        )
    return tf.reshape(tf.map_fn(one, tf.reshape(x, [-1])), tf.shape(x))
""",
        "one_branch_for_the_whole_vector": """
def piecewise(x):
    if x < -1:
        return x**2
    if x < 1:
        return -x
    return tf.math.log(x)
""",
        "one_branch_for_the_whole_vector_2": """
def piecewise(x):
    def upper():
        return tf.cond(tf.reduce_all(x < 1), lambda: -x, lambda: tf.math.log(x))
    return tf.cond(tf.reduce_all(x < -1), lambda: x**2, upper)
""",
        "NaN_from_the_branch_not_taken": returns(
            PIECES, "tf.where(x < -1, x**2, tf.where(x < 1, -x, tf.math.log(x)))"
        ),
        "sign_lost_in_the_middle": returns(
            PIECES,
            "tf.where(x < -1, x**2, tf.where(x < 1, x, tf.math.log(tf.maximum(x, 1))))",
        ),
    },
    "learnable_threshold": {
        "hard_not_stopped": """
def learnable_threshold(x, threshold, sharpness):
    soft = x * tf.sigmoid(sharpness * (x - threshold))
    return tf.where(x > threshold, x, tf.zeros_like(x)) + (soft - tf.stop_gradient(soft))
""",
        "gate_alone_softened": """
def learnable_threshold(x, threshold, sharpness):
    soft = tf.sigmoid(sharpness * (x - threshold))
    hard = tf.cast(x > threshold, x.dtype)
    return x * (tf.stop_gradient(hard) + (soft - tf.stop_gradient(soft)))
""",
        "ok_tape_in_rule": """
def learnable_threshold(x, threshold, sharpness):
    @tf.custom_gradient
    def gate(x, threshold):
        def rule(upstream):
            with tf.GradientTape() as tape:
                tape.watch([x, threshold])
                soft = x * tf.sigmoid(sharpness * (x - threshold))
            return tape.gradient(soft, [x, threshold], upstream)
        return tf.where(x > threshold, x, tf.zeros_like(x)), rule
    return gate(x, threshold)
""",
        "ok_multiplied": returns(
            GATE, ADDED, HARD, "soft = tf.sigmoid((x - threshold) * sharpness) * x"
        ),
        "ok_difference_stopped": returns(
            GATE, "soft + tf.stop_gradient(hard - soft)", HARD, OPEN, "soft = x * gate"
        ),
        "true_derivative": returns(GATE, "hard", HARD),
        "threshold_gradient_None": returns(
            GATE,
            ADDED,
            HARD,
            "soft = x * tf.sigmoid(sharpness * (x - tf.stop_gradient(threshold)))",
        ),
        "value_softened": returns(GATE, "x * gate", OPEN),
        "value_off_by_rounding": returns(
            GATE,
            "tf.stop_gradient(hard) + soft - tf.stop_gradient(soft)",
            HARD,
            OPEN,
            "soft = x * gate",
        ),
        "sharpness_lost": """
def learnable_threshold(x, threshold, sharpness):
    @tf.custom_gradient
    def gate(x, threshold):
        g = tf.sigmoid(sharpness * (x - threshold))
        def rule(upstream):
            to_x = upstream * (g + x * g * (1 - g))
            to_threshold = -upstream * x * g * (1 - g)
            extra = x.shape.rank - threshold.shape.rank
            to_threshold = tf.reduce_sum(to_threshold, list(range(extra)))
            ones = [i for i, n in enumerate(threshold.shape) if n == 1]
            return to_x, tf.reduce_sum(to_threshold, ones, keepdims=True)
        return tf.where(x > threshold, x, tf.zeros_like(x)), rule
    return gate(x, threshold)
""",
        "product_rule_forgotten": returns(
            GATE,
            "tf.stop_gradient(hard) + (soft - tf.stop_gradient(soft)) + (t - tf.stop_gradient(t))",
            HARD,
            OPEN,
            "soft = x * tf.stop_gradient(gate)",
            "t = tf.stop_gradient(x) * tf.sigmoid(sharpness * (tf.stop_gradient(x) - threshold))",
        ),
        "not_summed_to_the_threshold's_shape": """
def learnable_threshold(x, threshold, sharpness):
    @tf.custom_gradient
    def gate(x, threshold):
        g = tf.sigmoid(sharpness * (x - threshold))
        def rule(upstream):
            slope = sharpness * x * g * (1 - g)
            return upstream * (g + slope), -upstream * slope
        return tf.where(x > threshold, x, tf.zeros_like(x)), rule
    return gate(x, threshold)
""",
    },
    "branch_predictions": {
        "ok_upper_case": predictions(RIGHT.upper()),
        "ok_other_order": predictions(RIGHT)
        + "\nbranch_predictions = dict(reversed(branch_predictions.items()))",
        "wrong_entries": predictions(RIGHT.replace("number number", "nan nan")),
        "wrong_entries_2": predictions("number " * 12),
        "None_and_zero_confused": predictions(RIGHT.replace("none zero zero", "zero none zero")),
        "the_old_square_root": predictions(RIGHT.replace("nan nan zero nan", "nan nan nan nan")),
    },
}
