"""What people write in chapter 01: other right answers, and wrong ones by the mistake they make."""

from __future__ import annotations

ANSWERS: dict[str, dict[str, str]] = {
    "predictions": {
        "ok_capitals": """
predictions = {
    "round": "None", "sign": "Zero", "floor": "None", "cast to int": "None", "argmax": "None",
    "x.numpy()": "Error", "float(x)": "Number", "comparison": "None", "stop_gradient": "None",
    "abs at 0": "Zero",
}
""",
        "ok_measured": """
def word(f, x):
    try:
        g = gradient_of(f, x)
    except AttributeError:
        return "error"
    return "none" if g is None else "number" if np.any(g) else "zero"

ten = {
    "round": tf.round, "sign": tf.sign, "floor": tf.floor,
    "cast to int": lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32),
    "argmax": lambda x: tf.cast(tf.argmax([x, 0.5]), tf.float32),
    "x.numpy()": lambda x: np.sin(x.numpy()), "float(x)": lambda x: x * float(x),
    "comparison": lambda x: tf.cast(x > 0.0, tf.float32), "stop_gradient": tf.stop_gradient,
    "abs at 0": tf.abs,
}
predictions = {name: word(f, 0.0 if name == "abs at 0" else 0.7) for name, f in ten.items()}
""",
        "None_and_zero_confused": """
predictions = {
    "round": "zero", "sign": "none", "floor": "zero", "cast to int": "none", "argmax": "none",
    "x.numpy()": "error", "float(x)": "number", "comparison": "none", "stop_gradient": "zero",
    "abs at 0": "zero",
}
""",
        "None_and_zero_confused_2": """
predictions = {
    "round": "none", "sign": "none", "floor": "none", "cast to int": "none", "argmax": "none",
    "x.numpy()": "error", "float(x)": "number", "comparison": "none", "stop_gradient": "none",
    "abs at 0": "zero",
}
""",
        "wrong_entries": """
predictions = {
    "round": "none", "sign": "zero", "floor": "none", "cast to int": "number", "argmax": "error",
    "x.numpy()": "none", "float(x)": "none", "comparison": "error", "stop_gradient": "none",
    "abs at 0": "number",
}
""",
    },
    "difference": {
        "none": """
def difference(prod, box):
    p = tf.reduce_prod(prod, axis=1, keepdims=True)
    b = tf.stop_gradient(tf.reduce_prod(box, axis=0))
    return (b - p) / b
""",
        "ok_one_minus_ratio": """
def difference(prod, box):
    p = tf.reduce_prod(prod, axis=1, keepdims=True)
    b = tf.reduce_prod(box, axis=0, keepdims=True)
    return 1.0 - p / b
""",
        "ok_loops_and_stack": """
def difference(prod, box):
    rows = []
    for i in range(prod.shape[0]):
        p = tf.reduce_prod(prod[i])
        row = []
        for j in range(box.shape[1]):
            b = tf.reduce_prod(box[:, j])
            row.append((b - p) / b)
        rows.append(tf.stack(row))
    return tf.stack(rows)
""",
        "ok_einsum": """
def difference(prod, box):
    ratio = tf.einsum("i,j->ij", tf.reduce_prod(prod, 1), 1.0 / tf.reduce_prod(box, 0))
    return 1.0 - ratio
""",
        "ok_scatter": """
def difference(prod, box):
    n, m = prod.shape[0], box.shape[1]
    out = tf.zeros((n, m), prod.dtype)
    for i in range(n):
        for j in range(m):
            b = tf.reduce_prod(box[:, j])
            out = tf.tensor_scatter_nd_update(out, [[i, j]], [1.0 - tf.reduce_prod(prod[i]) / b])
    return out
""",
        "assign": """
def difference(prod, box):
    out = tf.Variable(tf.zeros((prod.shape[0], box.shape[1]), prod.dtype))
    b = tf.reduce_prod(box, axis=0)
    out.assign((b - tf.reduce_prod(prod, axis=1)[:, None]) / b)
    return out.read_value()
""",
        "assign_2": """
store = {}

def difference(prod, box):
    b = tf.reduce_prod(box, axis=0)
    value = (b - tf.reduce_prod(prod, axis=1)[:, None]) / b
    key = (tuple(value.shape), value.dtype)
    if key not in store:
        with tf.init_scope():
            store[key] = tf.Variable(tf.zeros(key[0], key[1]))
    store[key].assign(value)
    return store[key].read_value()
""",
        "NumPy_detour": """
def difference(prod, box):
    p, b = np.prod(prod.numpy(), axis=1), np.prod(box.numpy(), axis=0)
    return tf.constant((b - p[:, None]) / b)
""",
        "NumPy_detour_2": """
def difference(prod, box):
    b = np.prod(box, axis=0)
    return tf.constant(1.0 - np.prod(prod, axis=1)[:, None] / b)
""",
        "NumPy_detour_3": """
def difference(prod, box):
    p, b = tf.reduce_prod(prod, axis=1), tf.reduce_prod(box, axis=0)
    table = np.zeros((p.shape[0], b.shape[0]), prod.dtype.as_numpy_dtype)
    for i in range(len(table)):
        for j in range(len(table[i])):
            table[i, j] = (b[j] - p[i]) / b[j]
    return tf.constant(table)
""",
        "sum_for_product": """
def difference(prod, box):
    p, b = tf.reduce_sum(prod, axis=1)[:, None], tf.reduce_sum(box, axis=0)
    return (b - p) / b
""",
        "transposed": """
def difference(prod, box):
    p, b = tf.reduce_prod(prod, axis=1), tf.reduce_prod(box, axis=0)[:, None]
    return (b - p) / b
""",
        "divided_by_P": """
def difference(prod, box):
    p, b = tf.reduce_prod(prod, axis=1)[:, None], tf.reduce_prod(box, axis=0)
    return (b - p) / p
""",
        "sign": """
def difference(prod, box):
    p, b = tf.reduce_prod(prod, axis=1)[:, None], tf.reduce_prod(box, axis=0)
    return (p - b) / b
""",
        "raises_shapes": """
def difference(prod, box):
    return tf.reduce_prod(prod, axis=1) @ tf.reduce_prod(box, axis=0)
""",
    },
    "energy": {
        "only_half_connected_9": """
def energy(x):
    return 0.5 * tf.reduce_sum(x * x) + tf.stop_gradient(tf.reduce_logsumexp(x))
""",
        "ok_by_hand": """
def energy(x):
    return tf.reduce_sum(0.5 * x * x) + tf.math.log(tf.reduce_sum(tf.exp(x)))
""",
        "ok_shifted": """
def energy(x):
    m = tf.stop_gradient(tf.reduce_max(x))
    second = m + tf.math.log(tf.reduce_sum(tf.exp(x - m)))
    return tf.nn.l2_loss(x) + second
""",
        "only_half_connected": """
def energy(x):
    return 0.5 * tf.reduce_sum(x * x) + np.log(np.exp(x.numpy()).sum())
""",
        "only_half_connected_2": """
def energy(x):
    return 0.5 * tf.reduce_sum(x * x) + tf.stop_gradient(tf.reduce_logsumexp(x))
""",
        "only_half_connected_3": """
def energy(x):
    return 0.5 * tf.reduce_sum(x * x) + np.log(np.sum(np.exp(x)))
""",
        "half_forgotten": """
def energy(x):
    return tf.reduce_sum(x * x) + tf.reduce_logsumexp(x)
""",
        "rows_apart": """
def energy(x):
    rows = tf.reduce_logsumexp(tf.reshape(x, (-1,)) if x.shape.rank < 2 else x, axis=-1)
    return 0.5 * tf.reduce_sum(x * x) + tf.reduce_sum(rows)
""",
        "none": """
def energy(x):
    return tf.stop_gradient(0.5 * tf.reduce_sum(x * x) + tf.reduce_logsumexp(x))
""",
        "upstream_lost": """
@tf.custom_gradient
def energy(x):
    value = 0.5 * tf.reduce_sum(x * x) + tf.reduce_logsumexp(x)
    whole = tf.reshape(x, (-1,))
    return value, lambda up: x + tf.reshape(tf.nn.softmax(whole), tf.shape(x))
""",
    },
    "running_energy": {
        "ok_loop": """
def running_energy(steps):
    total, sums = tf.zeros((), steps.dtype), []
    for step in tf.unstack(steps):
        total = total + step * step
        sums.append(total)
    return tf.stack(sums)
""",
        "ok_scan": """
def running_energy(steps):
    return tf.scan(lambda total, step: total + step, steps * steps)
""",
        "ok_triangle": """
def running_energy(steps):
    n = steps.shape[0]
    lower = tf.linalg.band_part(tf.ones((n, n), steps.dtype), -1, 0)
    return tf.linalg.matvec(lower, steps * steps)
""",
        "none": """
state = tf.Variable(0.0)
state64 = tf.Variable(0.0, dtype=tf.float64)

def running_energy(steps):
    box = state if steps.dtype == tf.float32 else state64
    box.assign(tf.zeros((), steps.dtype))
    sums = []
    for step in tf.unstack(steps):
        box.assign_add(step * step)
        sums.append(box.read_value())
    return tf.stack(sums)
""",
        "none_2": """
def running_energy(steps):
    squares = lambda s: np.cumsum(s * s)
    return tf.numpy_function(squares, [steps], steps.dtype)
""",
        "NumPy_detour": """
def running_energy(steps):
    return tf.constant(np.cumsum(np.square(steps)))
""",
        "NumPy_detour_2": """
def running_energy(steps):
    return tf.constant(np.cumsum(steps.numpy() ** 2))
""",
        "reversed_cumulation": """
def running_energy(steps):
    return tf.cumsum(steps * steps, reverse=True)
""",
        "squared_sum": """
def running_energy(steps):
    return tf.cumsum(steps) ** 2
""",
        "only_the_newest_step": """
def running_energy(steps):
    squares = steps * steps
    before = tf.cumsum(squares, exclusive=True)
    return squares + tf.stop_gradient(before)
""",
        "gradient_cumulated_forwards": """
@tf.custom_gradient
def running_energy(steps):
    return tf.cumsum(steps**2), lambda upstream: 2 * steps * tf.cumsum(upstream)
""",
        "variable_made_at_each_call": """
def running_energy(steps):
    total = tf.Variable(tf.zeros((), steps.dtype))
    sums = []
    for step in tf.unstack(steps):
        sums.append(total.assign_add(step * step))
    return tf.stack(sums)
""",
        "raises_loop_over_floats": """
def running_energy(steps):
    return tf.cumsum([float(s) ** 2 for s in steps.tolist()])
""",
    },
    "partial_gradient": {
        "ok_stop_gradient": """
def partial_gradient(x, y):
    with tf.GradientTape() as tape:
        tape.watch((x, y))
        z = x ** 2 + tf.stop_gradient(y ** 2)
    return tape.gradient(z, [x, y])
""",
        "ok_persistent": """
def partial_gradient(x, y):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        tape.watch(y)
        with tape.stop_recording():
            y_squared = tf.square(y)
        z = tf.square(x) + y_squared
    return tape.gradient(z, x), tape.gradient(z, y)
""",
        "zero_instead_of_None": """
def partial_gradient(x, y):
    with tf.GradientTape() as tape:
        tape.watch((x, y))
        z = x ** 2
        with tape.stop_recording():
            y_squared = y ** 2
        z = z + y_squared
    return tape.gradient(z, [x, y], unconnected_gradients="zero")
""",
        "both_recorded": """
def partial_gradient(x, y):
    with tf.GradientTape() as tape:
        tape.watch((x, y))
        z = x ** 2 + y ** 2
    return tape.gradient(z, [x, y])
""",
        "not_watched": """
def partial_gradient(x, y):
    with tf.GradientTape() as tape:
        x_squared = x * x
        with tape.stop_recording():
            y_squared = y * y
        z = x_squared + y_squared
    return tape.gradient(z, [x, y])
""",
        "pause_around_everything": """
def partial_gradient(x, y):
    with tf.GradientTape() as tape:
        tape.watch((x, y))
        with tape.stop_recording():
            z = x * x + y * y
    return tape.gradient(z, [x, y])
""",
        "swapped": """
def partial_gradient(x, y):
    with tf.GradientTape() as tape:
        tape.watch((x, y))
        with tape.stop_recording():
            y_squared = y * y
        z = x * x + y_squared
    return tape.gradient(z, [y, x])
""",
        "raises_not_recording": """
def partial_gradient(x, y):
    with tf.GradientTape() as tape:
        tape.watch((x, y))
        x_squared = x * x
    with tape.stop_recording():
        z = x_squared + y * y
    return tape.gradient(z, [x, y])
""",
    },
    "gradient_after_reset": {
        "ok_watch_both": """
def gradient_after_reset(x, y):
    with tf.GradientTape() as tape:
        y_squared = y * y
        tape.reset()
        tape.watch([x, y])
        z = x * x + y_squared
    return tape.gradient(z, [x, y])
""",
        "ok_fresh_tape": """
def gradient_after_reset(x, y):
    y_squared = y * y
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.square(x) + y_squared
    return tape.gradient(z, (x, y))
""",
        "watch_forgotten": """
def gradient_after_reset(x, y):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y_squared = y ** 2
        tape.reset()
        z = x ** 2 + y_squared
    return tape.gradient(z, [x, y])
""",
        "both_recorded": """
def gradient_after_reset(x, y):
    with tf.GradientTape() as tape:
        tape.reset()
        tape.watch([x, y])
        z = x * x + y * y
    return tape.gradient(z, [x, y])
""",
        "zero_instead_of_None": """
def gradient_after_reset(x, y):
    with tf.GradientTape() as tape:
        y_squared = y * y
        tape.reset()
        tape.watch([x, y])
        z = x * x + y_squared
    return tape.gradient(z, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)
""",
        "reset_too_late": """
def gradient_after_reset(x, y):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y_squared = y * y
        z = x * x + y_squared
        tape.reset()
        tape.watch(x)
    return tape.gradient(z, [x, y])
""",
        "swapped": """
def gradient_after_reset(x, y):
    with tf.GradientTape() as tape:
        y_squared = y * y
        tape.reset()
        tape.watch(x)
        z = x * x + y_squared
    dy, dx = tape.gradient(z, [y, x])
    return dy, dx
""",
        "raises_after_the_block": """
def gradient_after_reset(x, y):
    with tf.GradientTape() as tape:
        y_squared = y * y
    tape.reset()
    tape.watch(x)
    z = x * x + y_squared
    with tape.stop_recording():
        return tape.gradient(z, [x, y])
""",
    },
    "two_tapes": {
        "_": """
def two_tapes(x0, x1):
    return tf.sqrt(1 - tf.sin(x0) ** 2), tf.sigmoid(x1) * tf.sigmoid(-x1)
""",
        "ok_nested": """
def two_tapes(x0, x1):
    with tf.GradientTape() as first:
        first.watch(x0)
        with tf.GradientTape() as second:
            second.watch(x1)
            z = tf.math.sin(x0) + tf.nn.sigmoid(x1)
    return [first.gradient(z, x0), second.gradient(z, x1)]
""",
        "ok_one_persistent": """
def two_tapes(x0, x1):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x0, x1])
        z = tf.sin(x0) + tf.sigmoid(x1)
    return tape.gradient(z, x0), tape.gradient(z, x1)
""",
        "ok_one_call": """
def two_tapes(x0, x1):
    with tf.GradientTape() as tape:
        tape.watch([x0, x1])
        z = tf.sin(x0) + tf.sigmoid(x1)
    return tape.gradient(z, [x0, x1])
""",
        "ok_closed_form": """
def two_tapes(x0, x1):
    s = tf.sigmoid(x1)
    return tf.cos(x0), s * (1 - s)
""",
        "tapes_swapped": """
def two_tapes(x0, x1):
    with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        z = tf.sin(x0) + tf.sigmoid(x1)
    return tape1.gradient(z, x1), tape0.gradient(z, x0)
""",
        "tapes_swapped_2": """
def two_tapes(x0, x1):
    with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        z = tf.sin(x0) + tf.sigmoid(x1)
    return tape1.gradient(z, x0), tape0.gradient(z, x1)
""",
        "tapes_swapped_3": """
def two_tapes(x0, x1):
    with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
        z = tf.sin(x0) + tf.sigmoid(x1)
    return tape0.gradient(z, x0), tape1.gradient(z, x1)
""",
        "value_for_derivative": """
def two_tapes(x0, x1):
    return tf.cos(x0), tf.sigmoid(x1)
""",
        "raises_asked_twice": """
def two_tapes(x0, x1):
    with tf.GradientTape() as tape:
        tape.watch([x0, x1])
        z = tf.sin(x0) + tf.sigmoid(x1)
    return tape.gradient(z, x0), tape.gradient(z, x1)
""",
    },
    "gradient_or_zeros": {
        "ok_word": """
def gradient_or_zeros(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, unconnected_gradients="zero")
""",
        "ok_by_hand": """
def gradient_or_zeros(f, x):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = tf.reduce_sum(f(x))
    gradient = tape.gradient(y, x)
    return tf.zeros_like(x) if gradient is None else gradient
""",
        "None_let_through": """
def gradient_or_zeros(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)
""",
        "not_watched": """
def gradient_or_zeros(f, x):
    with tf.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x, unconnected_gradients="zero")
""",
        "not_watched_2": """
def gradient_or_zeros(f, x):
    with tf.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x)
""",
        "shape": """
def gradient_or_zeros(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gradient = tape.gradient(y, x)
    return tf.zeros((1, 1), x.dtype) if gradient is None else gradient
""",
        "the_shape_of_f(x)": """
def gradient_or_zeros(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gradient = tape.gradient(y, x)
    return tf.zeros_like(y) if gradient is None else gradient
""",
        "one_zero": """
def gradient_or_zeros(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gradient = tape.gradient(y, x)
    return 0.0 if gradient is None else gradient
""",
        "raises_no_such_option": """
def gradient_or_zeros(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, unconnected_gradients=0.0)
""",
    },
    "nth_derivative": {
        "ok_loop_of_functions": """
def nth_derivative(f, x, n):
    def derived(g):
        def derivative(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = g(x)
            return tape.gradient(y, x, unconnected_gradients="zero")
        return derivative
    for _ in range(n):
        f = derived(f)
    return f(x)
""",
        "ok_open_tapes": """
def nth_derivative(f, x, n):
    tapes = [tf.GradientTape() for _ in range(n)]
    for tape in tapes:
        tape.__enter__()
        tape.watch(x)
    y = f(x)
    for tape in reversed(tapes):
        tape.__exit__(None, None, None)
        y = tape.gradient(y, x, unconnected_gradients="zero")
    return y
""",
        "inner_gradient_taken_outside_the_outer_tape": """
def nth_derivative(f, x, n):
    tapes = [tf.GradientTape() for _ in range(n)]
    for tape in tapes:
        tape.__enter__()
        tape.watch(x)
    y = f(x)
    for tape in reversed(tapes):
        tape.__exit__(None, None, None)
    for tape in reversed(tapes):
        y = tape.gradient(y, x, unconnected_gradients="zero")
    return y
""",
        "inner_gradient_taken_outside_the_outer_tape_2": """
def nth_derivative(f, x, n):
    y = f(x)
    for i in range(n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) if i == 0 else tf.identity(y)
        y = tape.gradient(y, x, unconnected_gradients="zero")
    return y
""",
        "None_let_through": """
def nth_derivative(f, x, n):
    if n == 0:
        return f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = nth_derivative(f, x, n - 1)
    return None if y is None else tape.gradient(y, x)
""",
        "first_derivative_only": """
def nth_derivative(f, x, n):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, unconnected_gradients="zero")
""",
        "one_tape_too_few": """
def nth_derivative(f, x, n):
    if n <= 1:
        return f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = nth_derivative(f, x, n - 1)
    return tape.gradient(y, x, unconnected_gradients="zero")
""",
        "one_tape_too_many": """
def nth_derivative(f, x, n):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x) if n == 0 else nth_derivative(f, x, n - 1)
    return tape.gradient(y, x, unconnected_gradients="zero")
""",
        "raises_no_end": """
def nth_derivative(f, x, n):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = derivative(f, x, n - 1)
    return tape.gradient(y, x)
""",
    },
    "diagnoses": {
        "ok_lower_case": """
diagnoses = {"a": "not watched", "b": "not recorded", "c": "left tensorflow", "d": "state",
             "e": "integer", "f": "another tensor"}
""",
        "ok_from_a_list": """
causes = ["not watched", "not recorded", "left TensorFlow", "state", "integer", "another tensor"]
diagnoses = dict(zip("abcdef", causes))
""",
        "wrong_entries": """
diagnoses = {"a": "not recorded", "b": "not watched", "c": "left TensorFlow", "d": "state",
             "e": "integer", "f": "another tensor"}
""",
        "wrong_entries_2": """
diagnoses = {"a": "not watched", "b": "not recorded", "c": "integer", "d": "left TensorFlow",
             "e": "state", "f": "state"}
""",
        "wrong_entries_3": """
diagnoses = ["not watched", "not recorded", "left TensorFlow", "state", "integer", "state"]
""",
    },
}
