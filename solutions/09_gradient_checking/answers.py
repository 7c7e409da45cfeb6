"""What people write in chapter 09: other right answers, and wrong ones by the mistake they make."""

from __future__ import annotations

_NUMERIC_LOOP = """
def numeric_gradient(f, x, upstream, h):
    h, given = {step}, x.dtype.as_numpy_dtype
    x = np.array({cast})
    up = np.array({up})
    slopes = np.zeros(x.shape, {result})
    for i in np.ndindex(*x.shape):
        high, low = x.copy(), x.copy()
        high[i] += h
        low[i] -= {left}
        change = np.array(f(tf.constant(high))) - np.array(f(tf.constant(low)))
        slopes[i] = np.sum(up * change) / ({width})
    return slopes
"""
_64 = {
    "cast": "x, np.float64",
    "up": "upstream, np.float64",
    "left": "h",
    "width": "2 * h",
    "result": "x.dtype",
    "step": "h",
}

_NUMERIC_PLAIN = """
def numeric_gradient(f, x, upstream, h):
    x, slopes = np.array(x, np.float64), np.zeros(x.shape)
    total = lambda at: np.sum(np.asarray(upstream, np.float64) * f(tf.constant(at)).numpy())
    for i in np.ndindex(*x.shape):
        high, low = x.copy(), x.copy()
        high[i] += h
        low[i] -= h
        slopes[i] = {slope}
    return slopes
"""
NUMERIC = {
    "ok_loop": _NUMERIC_LOOP.format(**_64),
    "ok_tensorflow": """
def numeric_gradient(f, x, upstream, h):
    x = tf.cast(x, tf.float64)
    upstream = tf.cast(upstream, tf.float64)
    slopes = []
    for i in range(int(tf.size(x))):
        step = h * tf.reshape(tf.one_hot(i, tf.size(x), dtype=tf.float64), x.shape)
        slopes.append(tf.reduce_sum(upstream * (f(x + step) - f(x - step))) / (2 * h))
    return tf.reshape(tf.stack(slopes), x.shape)
""",
    "forward_difference": _NUMERIC_LOOP.format(**_64 | {"left": "0", "width": "h"}),
    "divided_by_h": _NUMERIC_LOOP.format(**_64 | {"width": "h"}),
    "upstream_lost": _NUMERIC_LOOP.format(**_64 | {"up": "1.0"}),
    "single_precision": _NUMERIC_LOOP.format(**_64 | {"cast": "x"}),
    "result_narrowed": _NUMERIC_LOOP.format(**_64 | {"result": "given"}),
    "not_the_quotient": """
def numeric_gradient(f, x, upstream, h):
    x = tf.cast(x, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, output_gradients=tf.cast(upstream, tf.float64)).numpy()
""",
    "not_the_quotient_2": _NUMERIC_LOOP.format(**_64 | {"step": "1e-5"}),
    "entries_moved_together": """
def numeric_gradient(f, x, upstream, h):
    x, upstream = tf.cast(x, tf.float64), tf.cast(upstream, tf.float64)
    return upstream * (f(x + h) - f(x - h)) / (2 * h)
""",
    "backward_difference": _NUMERIC_PLAIN.format(slope="(total(x) - total(low)) / h"),
    "bracket_forgotten": _NUMERIC_PLAIN.format(slope="(total(high) - total(low)) / 2 * h"),
    "a_scalar_is_no_array": _NUMERIC_PLAIN.format(
        slope="(total(high) - total(low)) / (2 * h)"
    ).replace("np.array(x, np.float64)", "tf.cast(x, tf.float64).numpy()"),
    "ok_arrays": _NUMERIC_PLAIN.format(slope="(total(high) - total(low)) / (2 * h)"),
    "raises_on_scalars": """
def numeric_gradient(f, x, upstream, h):
    raise NotImplementedError("later")
""",
}

_STEP = """
def best_step(f, x):
    return {}
"""
STEP = {
    "ok_measured": """
def best_step(f, x):
    wide = tf.cast(x, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(wide)
        y = f(wide)
    exact = tape.gradient(y, wide).numpy()
    best = None
    for h in 10.0 ** np.arange(-1, -13, -1):
        step = tf.constant(h, x.dtype)
        slope = (f(x + step) - f(x - step)) / (step + step)
        error = np.max(np.abs(slope.numpy().astype(np.float64) - exact))
        if best is None or error < best[0]:
            best = (error, h)
    return best[1]
""",
    "ok_table": """
def best_step(f, x):
    relative = {"float32": 5e-3, "float64": 6e-6}[x.dtype.name]
    return tf.constant(relative) * tf.cast(tf.reduce_max(tf.abs(x)), tf.float32)
""",
    "step_too_small": _STEP.format("1e-12"),
    "step_too_large": _STEP.format("1.0 * float(tf.reduce_max(tf.abs(x)))"),
    "one_step_for_every_dtype": _STEP.format("1e-5 * float(tf.reduce_max(tf.abs(x)))"),
    "scale_ignored": _STEP.format("float(np.finfo(x.dtype.as_numpy_dtype).eps) ** (1 / 3)"),
    "one_step_for_all": _STEP.format("1e-3"),
    "one_step_for_all_2": _STEP.format("1e-4"),
    "not_one_number": _STEP.format("0.01 * tf.ones_like(x)"),
}

_KEYS = (
    "floor: tape",
    "floor: differences at 1.0",
    "floor: differences at 1.5",
    "straight-through: tape",
    "straight-through: error at 1.0",
    "straight-through: error at 1.5",
    "detour: tape",
    "detour: error at 1.0",
    "detour: error at 1.5",
    "old report: detour, a number near an integer",
    "old report: detour, none near",
    "old report: override, a number near an integer",
    "old report: override, none near",
    "why it changed from run to run",
)
_RIGHT = (0, 512, 0, 1, 511, 1, 0, 512, 0, 500, 0, 499, 1, "random input")


def _report(**changes: object) -> str:
    values = dict(zip(_KEYS, _RIGHT, strict=True))
    values |= {_KEYS[int(at.removeprefix("at"))]: value for at, value in changes.items()}
    return f"floor_checker_report = {values!r}\n"


REPORT = {
    "ok_floats": _report(at0=0.0, at3=1.0, at13="Random input"),
    "ok_measured": """
def sides(f, at):
    (tape,), (slope,) = tf.test.compute_gradient(f, [np.array([at], np.float32)])
    return int(tape[0, 0]), int(slope[0, 0])

through, detour = tf.grad_pass_through(tf.floor), lambda x: x - (x - tf.floor(x))
error = lambda f, at: abs(sides(f, at)[0] - sides(f, at)[1])
floor_checker_report = {
    "floor: tape": sides(tf.floor, 1.5)[0],
    "floor: differences at 1.0": sides(tf.floor, 1.0)[1],
    "floor: differences at 1.5": sides(tf.floor, 1.5)[1],
    "straight-through: tape": sides(through, 1.5)[0],
    "straight-through: error at 1.0": error(through, 1.0),
    "straight-through: error at 1.5": error(through, 1.5),
    "detour: tape": sides(detour, 1.5)[0],
    "detour: error at 1.0": error(detour, 1.0),
    "detour: error at 1.5": error(detour, 1.5),
    "old report: detour, a number near an integer": 500,
    "old report: detour, none near": 0,
    "old report: override, a number near an integer": 499,
    "old report: override, none near": 1,
    "why it changed from run to run": "random input",
}
""",
    "surrogate_trusted": _report(at4=0, at5=0),
    "None_for_zeros": _report(at0=None),
    "None_for_zeros_2": _report(at0="None", at6="None"),
    "old_step": _report(at1=500, at4=499, at7=500),
    "detour_taken_for_identity": _report(at6=1, at7=511, at8=1),
    "wrong_entries": _report(at13="rounding"),
}

_CHECK = """
def gradient_check(f, x):
    random = np.random.default_rng(3)

    def tape_gradient(g, at, upstream):
        with tf.GradientTape() as tape:
            tape.watch(at)
            y = g(at)
        return tape.gradient(y, at, output_gradients=upstream)

    def one_order(g):
        y = g(x)
        upstream = {upstream}
        h = 1e-5
        slopes = np.zeros(x.shape)
        for i in np.ndindex(*x.shape):
            step = np.zeros(x.shape)
            step[i] = h
            slopes[i] = np.sum((upstream * (g(x + step) - g(x - step))).numpy()) / (2 * h)
        found = tape_gradient(g, x, upstream)
        {none}
        {slices}
        {shape}
        size = {size}
        return {verdict}

    first = one_order(f)
    {order}
"""
_FULL = {
    "upstream": "tf.constant(random.normal(size=y.shape), x.dtype)",
    "none": "found = tf.zeros_like(x) if found is None else found",
    "slices": "found = tf.convert_to_tensor(found)",
    "shape": "if tuple(found.shape) != tuple(x.shape):\n            return False",
    "size": "1e-4 * np.abs(slopes).max() + 1e-15 * np.abs(y.numpy()).max() / h * 50 + 1e-11",
    "verdict": "bool((np.abs(found.numpy() - slopes) <= size).all())",
    "order": """if not first:
        return False
    fixed = tf.constant(random.normal(size=f(x).shape), x.dtype)
    def second(at):
        g = tape_gradient(f, at, fixed)
        return tf.zeros_like(at) if g is None else tf.convert_to_tensor(g)
    return one_order(second)""",
}


def _checker(**changes: str) -> str:
    return _CHECK.format(**_FULL | changes)


CHECKER = {
    "ok_numpy_bool": _checker(verdict="np.all(np.abs(found.numpy() - slopes) <= size)"),
    "ok_compute_gradient": """
def gradient_check(f, x):
    random = np.random.default_rng(5)

    def gradient_of(g, upstream):
        def gradient(at):
            with tf.GradientTape() as tape:
                tape.watch(at)
                y = g(at)
            found = tape.gradient(y, at, output_gradients=upstream)
            return None if found is None else tf.convert_to_tensor(found)
        return gradient

    def right(g):
        value = g(x)
        upstream = tf.constant(random.uniform(0.5, 2.0, value.shape), x.dtype)
        _, (jacobian,) = tf.test.compute_gradient(g, [x], delta=1e-5)
        slopes = (upstream.numpy().ravel() @ jacobian).reshape(x.shape)
        found = gradient_of(g, upstream)(x)
        if found is None:
            return bool(np.abs(slopes).max() <= 1e-6 * np.abs(value).max() + 1e-9)
        if found.shape != x.shape:
            return False
        rounding = 1e-9 * np.abs(value).max()
        return bool(np.all(np.abs(found - slopes) <= 1e-4 * np.abs(slopes).max() + rounding))

    def safe(g):
        try:
            return right(g)
        except (ValueError, tf.errors.InvalidArgumentError):
            return False  # compute_gradient itself stumbles over a wrong shape

    if not safe(f):
        return False
    rule = gradient_of(f, tf.constant(random.uniform(0.5, 2.0, f(x).shape), x.dtype))
    def differentiated(at):
        found = rule(at)
        return tf.zeros_like(at) if found is None else found
    return safe(differentiated)
""",
    "upstream_of_ones": _checker(upstream="tf.ones_like(y)"),
    "shape_overlooked_2": """
def gradient_check(f, x):
    (tape,), (slopes,) = tf.test.compute_gradient(f, [x])
    return bool(np.allclose(tape, slopes, rtol=1e-3, atol=1e-6))
""",
    "shape_overlooked": _checker(
        shape="",
        verdict="bool((np.abs(found.numpy() - slopes) <= size).all())",
        order=_FULL["order"].replace(
            "return one_order(second)",
            """if second(x).shape != x.shape:
        return True
    return one_order(second)""",
        ),
    ),
    "nan_passes": _checker(
        verdict="not (np.abs(found.numpy() - slopes) > size).any()",
        order=_FULL["order"],
    ),
    "first_order_only": _checker(order="return first"),
    "tolerance_too_wide": _checker(size="0.1 * np.abs(slopes).max() + 1e-9 * abs(y).numpy().max()"),
    "absolute_tolerance": _checker(size="1e-5"),
    "None_taken_for_a_fault": _checker(
        order=_FULL["order"]
        .replace("fixed =", "fixed, g0 = None, None\n    fixed =")
        .replace(
            "return one_order(second)",
            """with tf.GradientTape() as outer:
        outer.watch(x)
        g0 = second(x)
    if outer.gradient(g0, x) is None:
        return False
    return one_order(second)""",
        )
    ),
    "None_not_expected": _checker(none=""),
    "slices_not_expected": _checker(
        slices="",
        order=_FULL["order"]
        .replace("tf.convert_to_tensor(g)", "g")
        .replace("return one_order(second)", "return one_order(second)"),
    ),
    "one_direction": """
def gradient_check(f, x):
    random = np.random.default_rng(3)

    def tape_gradient(g, at, upstream):
        with tf.GradientTape() as tape:
            tape.watch(at)
            y = g(at)
        found = tape.gradient(y, at, output_gradients=upstream)
        return tf.zeros_like(at) if found is None else tf.convert_to_tensor(found)

    def one_order(g):
        y, h = g(x), 1e-5
        upstream = tf.constant(random.normal(size=y.shape), x.dtype)
        slope = np.sum((upstream * (g(x + h) - g(x - h))).numpy()) / (2 * h)
        found = np.sum(tape_gradient(g, x, upstream))
        return bool(abs(found - slope) <= 1e-4 * abs(slope) + 1e-9 * np.abs(y).max())

    fixed = tf.constant(random.normal(size=f(x).shape), x.dtype)
    def second(at):
        found = tape_gradient(f, at, fixed)
        return found if found.shape == at.shape else tf.zeros_like(at)
    return one_order(f) and one_order(second)
""",
    "raises_without_a_return": "def gradient_check(f, x):\n    right = f(x) is not None\n",
    "raises_a_text_for_a_word": "def gradient_check(f, x):\n    return 'right'\n",
    "always_content_2": """
def gradient_check(f, x):
    (tape,), (slopes,) = tf.test.compute_gradient(f, [x])
    np.testing.assert_allclose(tape, slopes, rtol=1e-3, atol=1e-9 * np.abs(f(x)).max())
    return True
""",
    "always_content": "def gradient_check(f, x):\n    return True\n",
    "never_content": "def gradient_check(f, x):\n    return False\n",
    "raises_everywhere": "def gradient_check(f, x):\n    raise RuntimeError('no idea')\n",
}

_FIRST = """
def first(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    found = tape.gradient(y, x)
    return None if found is None else tf.convert_to_tensor(found)

def differs(f, x):
    gradient, slopes = first(f, x), np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        high, low = x.numpy(), x.numpy()
        high[i] += 1e-5
        low[i] -= 1e-5
        change = f(tf.constant(high)) - f(tf.constant(low))
        slopes[i] = float(tf.reduce_sum(change)) / 2e-5
    gradient = tf.zeros_like(x) if gradient is None else gradient
    same = gradient.shape == slopes.shape
    return not same or not np.allclose(gradient, slopes, rtol=1e-4, atol=1e-6)
"""

SUSPECTS = {
    "ok_tape_and_differences": _FIRST
    + """
def fails(f, x):
    if differs(f, x):
        return True
    weights = np.random.default_rng(0).normal(size=x.shape)
    return differs(lambda x: first(f, x) * weights, x)

suspects = [name for name, (f, x) in OPERATIONS.items() if fails(f, x)]
""",
    "ok_its_own_checker": CHECKER["ok_numpy_bool"]
    + """
suspects = tuple(name for name, (f, x) in OPERATIONS.items() if not gradient_check(f, x))
""",
    "first_order_only": _FIRST
    + """
suspects = [name for name, (f, x) in OPERATIONS.items() if differs(f, x)]
""",
    "everything_listed": "suspects = list(OPERATIONS)\n",
    "nothing_found": "suspects = []\n",
    "only_NaN_looked_for": """
suspects = [
    name for name, (f, x) in OPERATIONS.items()
    if sum_gradient(f, x) is not None and np.isnan(sum_gradient(f, x)).any()
]
""",
    "None_and_shape_overlooked": """
suspects = ["cumprod, a zero in front", "norm, at zero", "bessel_i1, at zero", "xlogy, at x = 0"]
""",
    "wrong_entries": 'suspects = ["cumprod, a zero in front"]\n',
    "wrong_entries_2": 'suspects = ["norm, at zero", "xlogy, at x = 0"]\n',
    "raises_on_a_name": 'suspects = ["cumprod"]\n',
}

_EXPLAINS = """
def surrogate_explains(f, surrogate, noise):
    h, noise, off, allowed = 0.05, np.asarray(noise, np.float64), [], []
    for x in {points}:
        high, low = np.asarray(f(tf.constant(x + h + noise))), np.asarray(f(x - h + noise))
        quotients = (high - low) / {width}
        claimed = float(surrogate(tf.constant(x)))
        off.append({left})
        allowed.append({allowed})
    off, allowed = np.array(off), np.array(allowed)
    return bool({verdict})
"""
_WHOLE = {
    "points": "np.linspace(-3, 3, 50)",
    "width": "(2 * h)",
    "left": "abs(quotients.mean() - claimed)",
    "allowed": "5 * quotients.std() / len(noise) ** 0.5 + 1e-6",
    "verdict": "np.all(off <= allowed)",
}


def _explainer(h: str = "0.05", **changes: str) -> str:
    return _EXPLAINS.format(**_WHOLE | changes).replace("0.05", h, 1)


EXPLAINS = {
    "ok_point_by_point": _explainer(),
    "ok_tensors": """
def surrogate_explains(f, surrogate, noise):
    x, h = tf.linspace(-3.0, 3.0, 50)[:, tf.newaxis], 0.05
    quotients = (f(x + h + noise) - f(x - h + noise)) / (2 * h)
    error = tf.math.reduce_std(quotients, 1) / tf.sqrt(float(len(noise)))
    off = tf.abs(tf.reduce_mean(quotients, 1) - surrogate(x[:, 0]))
    return tf.reduce_all(off <= 5 * error + 1e-5)
""",
    "standard_deviation_for_standard_error": _explainer(allowed="5 * quotients.std() + 1e-6"),
    "one_point_only": _explainer(points="(0.0,)"),
    "sign_ignored": _explainer(left="abs(abs(quotients.mean()) - abs(claimed))"),
    "fixed_tolerance": _explainer(allowed="0.15"),
    "tolerance_too_narrow": _explainer(allowed="2 * quotients.std() / len(noise) ** 0.5 + 1e-6"),
    "tolerance_too_wide": _explainer(
        allowed="5 * ((high.var() + low.var()) / len(noise)) ** 0.5 / (2 * h) + 1e-6"
    ),
    "tolerance_too_wide_2": _explainer(
        allowed="12 * quotients.std() / len(noise) ** 0.5 + 1e-6",
    ),
    "not_at_every_point": _explainer(verdict="np.mean(off) <= np.mean(allowed)"),
    "not_at_every_point_2": _explainer(verdict="np.mean(off <= allowed) > 0.9"),
    "not_at_every_point_3": _explainer(points="np.linspace(-3, 3, 50)[::5]"),
    "right_pairs_refused": """
def surrogate_explains(f, surrogate, noise):
    x, h = tf.linspace(-3.0, 3.0, 50), 1e-3
    slope = (f(x + h) - f(x - h)) / (2 * h)
    return bool(np.allclose(slope, surrogate(x), atol=1e-2))
""",
    "right_pairs_refused_2": "def surrogate_explains(f, surrogate, noise):\n    return False\n",
    "right_pairs_refused_3": _explainer(width="h"),
    "false_where_noise_ends": _explainer(
        allowed="5 * quotients.std() / len(noise) ** 0.5", verdict="np.all(off < allowed)"
    ),
    "false_where_noise_ends_2": _explainer(points="np.linspace(-3, 3, 100)"),
    "false_where_noise_ends_3": _explainer(
        allowed="5 * quotients.std() / len(noise) ** 0.5",
        verdict="np.all(np.divide(off, allowed, np.full(50, np.nan), where=allowed > 0) <= 1)",
    ),
    "false_where_noise_ends_4": _explainer(h="0.1"),
    "step_too_small": _explainer(h="0.001"),
    "always_content": "def surrogate_explains(f, surrogate, noise):\n    return True\n",
}

ANSWERS = {
    "numeric_gradient": NUMERIC,
    "best_step": STEP,
    "floor_checker_report": REPORT,
    "gradient_check": CHECKER,
    "suspects": SUSPECTS,
    "surrogate_explains": EXPLAINS,
}
