"""What people write in chapter 08: right answers (ok_…) and wrong ones, named by their mistake."""

ROWS = """
def jacobian_by_rows(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        entries = tf.unstack(tf.reshape(y, [-1]))
    rows = [{row} for e in entries]
    return {result}
"""
ROW = "tape.gradient(e, x, unconnected_gradients='zero')"
STACKED = "tf.reshape(tf.stack(rows), y.shape + x.shape)"


def _rows(row=ROW, result=STACKED):
    return ROWS.format(row=row, result=result)


KERNEL = """
def kernel_jacobian(layer, x):
    with tf.GradientTape() as tape:
        {watch}
        y = layer(x)
    return {result}
"""


def _kernel(result, watch="pass"):
    return KERNEL.format(result=result, watch=watch)


BATCH = """
def per_example_jacobian(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        {inside}
    return {result}
"""


def _batch(result, inside="pass"):
    return BATCH.format(result=result, inside=inside)


INDEPENDENT = """
def rows_are_independent(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    jacobian = tape.jacobian(y, x, unconnected_gradients={unconnected})
    {rest}
"""


def _independent(rest, unconnected='"zero"'):
    return INDEPENDENT.format(rest=rest, unconnected=unconnected)


HESSIAN = """
def hessian(f, x):
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return {result}
"""


def _hessian(result):
    return HESSIAN.format(result=result)


MATRIX = """
def hessian_matrix(loss, variables):
    {before}
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            value = loss()
        grads = inner.gradient(value, variables)
        flat = tf.concat([{flatten} for g in grads], 0)
    blocks = outer.jacobian(flat, variables{unconnected})
    {after}
"""


def _matrix(
    before="pass",
    flatten="tf.reshape(g, [-1])",
    unconnected=", unconnected_gradients='zero'",
    after="return tf.concat([tf.reshape(b, [flat.shape[0], -1]) for b in blocks], 1)",
):
    return MATRIX.format(before=before, flatten=flatten, unconnected=unconnected, after=after)


NEWTON = """
def newton_step(x, gradient, hessian, damping):
    n = x.shape.num_elements()
    g, h = tf.reshape(gradient, [n, 1]), tf.reshape(hessian, [n, n])
    {step}
    return x {sign} tf.reshape(step, x.shape)
"""


def _newton(step, sign="-"):
    return NEWTON.format(step=step, sign=sign)


HVP = """
def hvp(f, x, v):
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
        {inside}
    return {result}
"""


def _hvp(result, inside="pass"):
    return HVP.format(result=result, inside=inside)


_LATE = """
def hessian(f, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
    g = inner.gradient(y, x)
    return {}
"""

NORM = """
def hessian_norm(f, x, directions, h):
    def g(point):
        with tf.GradientTape() as tape:
            tape.watch(point)
            y = f(point)
        return tape.gradient(y, point)

    total = []
    for z in tf.unstack(directions):
        d = {quotient}
        total.append({entry})
    return {result}
"""


def _norm(
    quotient="(g(x + h * z) - g(x - h * z)) / (2 * h)",
    entry="tf.reduce_sum(d * d)",
    result="tf.sqrt(tf.reduce_mean(tf.stack(total)))",
):
    return NORM.format(quotient=quotient, entry=entry, result=result)


TRACE = """
def hutchinson_trace(f, x, probes):
    total = []
    for z in tf.unstack(probes):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        hz = outer.gradient(g, x, output_gradients=z{unconnected})
        total.append({entry})
    return {result}
"""
ZERO = ", unconnected_gradients='zero'"


def _trace(
    entry="tf.reduce_sum(z * hz)", result="tf.reduce_mean(tf.stack(total))", unconnected=ZERO
):
    return TRACE.format(entry=entry, result=result, unconnected=unconnected)


PENALTY = """
def input_gradient_penalty(model, x, y):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            loss = {loss}
        g = inner.gradient(loss, x)
        size = {size}
    return outer.gradient({target}, model.trainable_variables)
"""


def _penalty(loss="tf.reduce_mean((model(x) - y) ** 2)", size="tf.norm(g)", target="size"):
    return PENALTY.format(loss=loss, size=size, target=target)


ANSWERS = {
    "jacobian_by_rows": {
        "ok_tape_jacobian": """
def jacobian_by_rows(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
""",
        "ok_one_hot": """
def jacobian_by_rows(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    rows = []
    for hot in tf.unstack(tf.eye(tf.size(y).numpy() if tf.executing_eagerly()
                                 else y.shape.num_elements(), dtype=y.dtype)):
        row = tape.gradient(y, x, output_gradients=tf.reshape(hot, y.shape))
        rows.append(tf.zeros_like(x) if row is None else row)
    return tf.reshape(tf.stack(rows), y.shape + x.shape)
""",
        "transposed": """
def jacobian_by_rows(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        entries = tf.unstack(tf.reshape(y, [-1]))
    rows = [tape.gradient(e, x, unconnected_gradients="zero") for e in entries]
    return tf.reshape(tf.stack(rows, axis=-1), x.shape + y.shape)
""",
        "gradient_of_the_sum": """
def jacobian_by_rows(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, unconnected_gradients="zero")
""",
        "none_for_an_unconnected_target": _rows(row="tape.gradient(e, x)"),
        "gradient_of_the_sum_2": """
def jacobian_by_rows(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)
""",
        "taken_outside_the_tape": """
def jacobian_by_rows(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    entries = tf.unstack(tf.reshape(y, [-1]))
    rows = [tape.gradient(e, x, unconnected_gradients="zero") for e in entries]
    return tf.reshape(tf.stack(rows), y.shape + x.shape)
""",
        "raises_non_persistent": _rows().replace("persistent=True", ""),
    },
    "kernel_jacobian": {
        "ok_watched": _kernel("tape.jacobian(y, layer.kernel)", "tape.watch(layer.kernel.value)"),
        "ok_list": _kernel("tape.jacobian(y, [layer.kernel])[0]"),
        "ok_trainable_variables": _kernel("tape.jacobian(y, layer.trainable_variables)[0]"),
        "transposed": _kernel("tf.transpose(tape.jacobian(y, layer.kernel), [2, 3, 0, 1])"),
        "gradient_of_the_sum": _kernel("tape.gradient(y, layer.kernel)"),
        "another_source": _kernel("tape.jacobian(y, x)", "tape.watch(x)"),
        "outputs_taken_apart": """
def kernel_jacobian(layer, x):
    z = x @ layer.kernel + layer.bias
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = layer.activation(z)
    slope = tape.gradient(y, z)
    return tf.einsum("bo,bi,oj->boij", slope, x, tf.eye(z.shape[1], dtype=x.dtype))
""",
        "raises_attribute": _kernel("tape.jacobian(y, layer.weight)"),
    },
    "per_example_jacobian": {
        "ok_columns": _batch(
            "tf.stack([tape.gradient(c, x) for c in columns], axis=1)",
            "columns = tf.unstack(y, axis=1)",
        ),
        "ok_one_hot": _batch(
            "tf.stack([tape.gradient(y, x, output_gradients=tf.zeros_like(y) + hot) "
            "for hot in tf.unstack(tf.eye(y.shape[1], dtype=y.dtype))], axis=1)"
        ),
        "full_Jacobian": _batch("tf.reduce_sum(tape.jacobian(y, x), axis=2)"),
        "sum_over_the_wrong_axis": _batch("tf.reduce_sum(tape.jacobian(y, x), axis=0)"),
        "transposed": _batch("tf.transpose(tape.batch_jacobian(y, x), [0, 2, 1])"),
        "raises_summed": _batch("tape.batch_jacobian(tf.reduce_sum(y, 0), x)"),
    },
    "rows_are_independent": {
        "ok_mask": _independent(
            "size = tf.reduce_max(tf.abs(jacobian), axis=[1, 3])\n    "
            "off = size * (1 - tf.eye(x.shape[0], dtype=x.dtype))\n    "
            "return tf.reduce_max(off) < 1e-5"
        ),
        "ok_numpy": _independent(
            "j = jacobian.numpy()\n    b = len(j)\n    "
            "return all(np.allclose(j[p, :, q], 0, atol=2e-5) "
            "for p in range(b) for q in range(b) if p != q)"
        ),
        "ok_by_moving": """
def rows_are_independent(f, x):
    y = f(x).numpy()
    for row in range(x.shape[0]):
        for column in range(x.shape[1]):
            moved = x.numpy().copy()
            moved[row, column] += 0.5
            change = np.abs(f(tf.constant(moved)).numpy() - y).max(axis=1)
            if np.delete(change, row).max() > 1e-5:
                return False
    return True
""",
        "coupling_missed": "def rows_are_independent(f, x):\n    return len(f(x)) == len(x)\n",
        "coupling_missed_2": _independent(
            "size = tf.reduce_max(tf.abs(jacobian), axis=[1, 3])\n    "
            "above = tf.linalg.band_part(size, 0, -1) - tf.linalg.band_part(size, 0, 0)\n    "
            "return tf.reduce_max(above) < 1e-5"
        ),
        "coupling_missed_3": _independent(
            "size = tf.reduce_max(tf.abs(jacobian), axis=[1, 3])\n    "
            "below = tf.linalg.band_part(size, -1, 0) - tf.linalg.band_part(size, 0, 0)\n    "
            "return tf.reduce_max(below) < 1e-5"
        ),
        "coupling_missed_4": """
def rows_are_independent(f, x):
    y, turned = f(x), f(tf.reverse(x, [0]))
    return bool(np.allclose(tf.reverse(turned, [0]), y, atol=1e-5))
""",
        "coupling_missed_5": _independent(
            "size = tf.reduce_max(tf.abs(jacobian), axis=[1, 3]).numpy()\n    "
            "np.fill_diagonal(size, 0)\n    return bool(size[:, [0, 1, -1]].max() < 1e-5)"
        ),
        "independent_called_coupled": _independent(
            "return bool(tf.reduce_max(tf.abs(jacobian - tf.einsum('bocj->cobj', jacobian))) > 1e9)"
        ),
        "none_for_a_constant_function": _independent(
            "size = tf.reduce_max(tf.abs(jacobian), axis=[1, 3])\n    "
            "off = size * (1 - tf.eye(x.shape[0], dtype=x.dtype))\n    "
            "return bool(tf.reduce_max(off) < 1e-5)",
            unconnected='"none"',
        ),
    },
    "hessian": {
        "ok_rows": """
def hessian(f, x):
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x, unconnected_gradients="zero")
        entries = tf.unstack(tf.reshape(g, [-1]))
    rows = [outer.gradient(e, x, unconnected_gradients="zero") for e in entries]
    return tf.reshape(tf.stack(rows), x.shape + x.shape)
""",
        "ok_none_replaced": _hessian(
            "tf.zeros(x.shape + x.shape, x.dtype) if outer.jacobian(g, x) is None "
            "else outer.jacobian(g, x)"
        ),
        "gradient_of_a_sum": _hessian("outer.gradient(g, x, unconnected_gradients='zero')"),
        "none_for_a_linear_function": _hessian("outer.jacobian(g, x)"),
        "second_tape_inside-out": _LATE.format("outer.jacobian(g, x)"),
        "taken_outside_the_tape": _LATE.format(
            'outer.jacobian(g, x, unconnected_gradients="zero")'
        ),
        "flattened": _hessian(
            "tf.reshape(outer.jacobian(g, x, unconnected_gradients='zero'), "
            "[x.shape.num_elements()] * 2)"
        ),
        "raises_inner_twice": _hessian("inner.jacobian(g, x)"),
    },
    "hessian_matrix": {
        "ok_block_by_block": """
def hessian_matrix(loss, variables):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            value = loss()
        grads = inner.gradient(value, variables)
    rows = []
    for g, p in zip(grads, variables):
        row = []
        for q in variables:
            block = outer.jacobian(g, q, unconnected_gradients="zero")
            row.append(tf.reshape(block, [tf.size(p), tf.size(q)]))
        rows.append(tf.concat(row, 1))
    return tf.concat(rows, 0)
""",
        "ok_entry_by_entry": """
def hessian_matrix(loss, variables):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            value = loss()
        grads = inner.gradient(value, variables)
        entries = tf.unstack(tf.concat([tf.reshape(g, [-1]) for g in grads], 0))
    rows = []
    for e in entries:
        parts = outer.gradient(e, variables, unconnected_gradients="zero")
        rows.append(tf.concat([tf.reshape(p, [-1]) for p in parts], 0))
    return tf.stack(rows)
""",
        "blocks_in_the_wrong_place": _matrix(before="variables = list(reversed(variables))"),
        "diagonal_blocks_only": """
def hessian_matrix(loss, variables):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            value = loss()
        grads = inner.gradient(value, variables)
    blocks = []
    for g, v in zip(grads, variables):
        block = outer.jacobian(g, v)
        n = v.shape.num_elements()
        blocks.append(tf.linalg.LinearOperatorFullMatrix(tf.reshape(block, [n, n])))
    return tf.linalg.LinearOperatorBlockDiag(blocks).to_dense()
""",
        "column-major": _matrix(
            flatten="tf.reshape(tf.transpose(g), [-1])",
            after="n = flat.shape[0]\n    "
            "turned = [tf.transpose(b, [0, *range(len(b.shape) - 1, 0, -1)]) for b in blocks]\n    "
            "return tf.concat([tf.reshape(b, [n, -1]) for b in turned], 1)",
        ),
        "none_for_an_unconnected_block": """
def hessian_matrix(loss, variables):
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            value = loss()
        grads = inner.gradient(value, variables)
    rows = []
    for g, p in zip(grads, variables):
        n = p.shape.num_elements()
        blocks = [outer.jacobian(g, q) for q in variables]
        rows.append(tf.concat([tf.reshape(b, [n, -1]) for b in blocks], 1))
    return tf.concat(rows, 0)
""",
        "raises_jacobian_of_a_list": """
def hessian_matrix(loss, variables):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = loss()
        grads = inner.gradient(value, variables)
    return outer.jacobian(grads, variables)
""",
    },
    "newton_step": {
        "ok_inverse": _newton("step = tf.linalg.inv(h + damping * tf.eye(n, dtype=x.dtype)) @ g"),
        "ok_diagonal": _newton(
            "h = tf.linalg.set_diag(h, tf.linalg.diag_part(h) + damping)\n    "
            "step = tf.linalg.solve(h, g)"
        ),
        "ok_lu": _newton(
            "h = h + damping * tf.eye(n, dtype=x.dtype)\n    "
            "step = tf.linalg.lu_solve(*tf.linalg.lu(h), g)"
        ),
        "inverse_of_the_unflattened": """
def newton_step(x, gradient, hessian, damping):
    if len(x.shape) < 2:
        n = x.shape.num_elements()
        h = tf.reshape(hessian, [n, n]) + damping * tf.eye(n, dtype=x.dtype)
        return x - tf.reshape(tf.linalg.solve(h, tf.reshape(gradient, [n, 1])), x.shape)
    inverse = tf.linalg.inv(hessian + damping * tf.eye(x.shape[-1], dtype=x.dtype))
    return x - tf.tensordot(inverse, gradient, 2)
""",
        "damping_forgotten": _newton("step = tf.linalg.solve(h, g)"),
        "damping_everywhere": _newton("step = tf.linalg.solve(h + damping, g)"),
        "sign": _newton("step = tf.linalg.solve(h + damping * tf.eye(n, dtype=x.dtype), g)", "+"),
        "eigenvalues_taken_for_positive": _newton(
            "e, q = tf.linalg.eigh(h)\n    "
            "step = q @ (tf.transpose(q) @ g / (tf.abs(e) + damping)[:, None])"
        ),
        "eigenvalues_taken_for_positive_2": _newton(
            "h = h + damping * tf.eye(n, dtype=x.dtype)\n    "
            "step = tf.linalg.cholesky_solve(tf.linalg.cholesky(h), g)"
        ),
        "raises_rank": _newton("step = tf.linalg.solve(h, gradient[None])"),
    },
    "hvp": {
        "ok_dot": _hvp(
            "outer.gradient(dot, x, unconnected_gradients='zero')", "dot = tf.reduce_sum(g * v)"
        ),
        "ok_forward_over_reverse": """
def hvp(f, x, v):
    with tf.autodiff.ForwardAccumulator(x, v) as forward:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
    product = forward.jvp(g)
    return tf.zeros_like(x) if product is None else product
""",
        "forms_the_Hessian": _hvp(
            "tf.reshape(tf.linalg.matvec(tf.reshape(outer.jacobian(g, x, "
            "unconnected_gradients='zero'), [tf.size(x), tf.size(x)]), tf.reshape(v, [-1])), "
            "x.shape)"
        ),
        "none_for_a_linear_function": _hvp("outer.gradient(g, x, output_gradients=v)"),
        "second_tape_inside-out": _LATE.replace("hessian(f, x)", "hvp(f, x, v)").format(
            "outer.gradient(tf.reduce_sum(g * v), x)"
        ),
        "taken_outside_the_tape": _LATE.replace("hessian(f, x)", "hvp(f, x, v)").format(
            'outer.gradient(tf.reduce_sum(g * v), x, unconnected_gradients="zero")'
        ),
        "first_derivative_only": _hvp("g * v"),
        "row_sums_times_v": _hvp("v * outer.gradient(g, x, unconnected_gradients='zero')"),
        "raises_shape": _hvp("outer.gradient(g, x, output_gradients=v) @ v"),
    },
    "hessian_norm": {
        "ok_norms": _norm(
            entry="tf.norm(d) ** 2", result="tf.sqrt(tf.add_n(total) / len(directions))"
        ),
        "ok_at_once": """
def hessian_norm(f, x, directions, h):
    squares = []
    for k in range(directions.shape[0]):
        sides = []
        for sign in (1, -1):
            with tf.GradientTape() as tape:
                point = x + sign * h * directions[k]
                tape.watch(point)
                y = f(point)
            sides.append(tape.gradient(y, point))
        squares.append(tf.reduce_sum(((sides[0] - sides[1]) / (2 * h)) ** 2))
    return tf.sqrt(tf.reduce_mean(squares))
""",
        "gradient_is_None": """
def hessian_norm(f, x, directions, h):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    total = []
    for z in tf.unstack(directions):
        d = (tape.gradient(y, x + h * z) - tape.gradient(y, x - h * z)) / (2 * h)
        total.append(tf.reduce_sum(d * d))
    return tf.sqrt(tf.reduce_mean(tf.stack(total)))
""",
        "bracket": _norm("g(x + h * z) - g(x - h * z) / (2 * h)"),
        "divided_by_the_direction": _norm("(g(x + h * z) - g(x - h * z)) / (2 * h * z)"),
        "mean_of_the_norms": _norm(entry="tf.norm(d)", result="tf.reduce_mean(tf.stack(total))"),
        "h_lost": _norm("(g(x + h * z) - g(x - h * z)) / 2"),
        "entries_averaged": _norm(entry="tf.reduce_mean(d * d)"),
        "raises_names": _norm("(g(x + h * w) - g(x - h * w)) / (2 * h)"),
    },
    "hutchinson_trace": {
        "normalised_by_norm_9": """
def hutchinson_trace(f, x, probes):
    found = []
    for z in tf.unstack(probes / tf.norm(probes)):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x, unconnected_gradients="zero")
        hz = outer.gradient(g, x, output_gradients=z, unconnected_gradients="zero")
        found.append(tf.reduce_sum(z * hz))
    return tf.reduce_mean(found)
""",
        "ok_sum_divided": _trace(result="tf.add_n(total) / len(total)"),
        "ok_forward_over_reverse": """
def hutchinson_trace(f, x, probes):
    found = []
    for k in range(probes.shape[0]):
        z = probes[k]
        with tf.autodiff.ForwardAccumulator(x, z) as forward:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            g = tape.gradient(y, x)
        hz = forward.jvp(g, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        found.append(tf.reduce_sum(hz * z))
    return tf.reduce_mean(found)
""",
        "forms_the_Hessian": """
def hutchinson_trace(f, x, probes):
    n = x.shape.num_elements()
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    h = tf.reshape(outer.jacobian(g, x, unconnected_gradients="zero"), [n, n])
    z = tf.reshape(probes, [-1, n])
    return tf.reduce_mean(tf.reduce_sum(z * (z @ h), axis=1))
""",
        "normalised_by_norm": _trace("tf.reduce_sum(z * hz) / tf.reduce_sum(z * z)"),
        "sum_over_the_probes": _trace(result="tf.add_n(total)"),
        "the_trace_itself": """
def hutchinson_trace(f, x, probes):
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
        entries = tf.unstack(tf.reshape(g, [-1]))
    total = []
    for i, e in enumerate(entries):
        row = outer.gradient(e, x, unconnected_gradients="zero")
        total.append(tf.reshape(row, [-1])[i])
    return tf.add_n(total)
""",
        "none_for_a_linear_function": _trace(unconnected=""),
    },
    "input_gradient_penalty": {
        "x_not_watched": PENALTY.replace("inner.watch(x)", "pass").format(
            loss="tf.reduce_mean((model(x) - y) ** 2)", size="tf.norm(g)", target="size"
        ),
        "ok_square_root": _penalty(size="tf.sqrt(tf.reduce_sum(tf.square(g)))"),
        "ok_persistent": """
def input_gradient_penalty(model, x, y):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        loss = tf.reduce_mean(tf.square(y - model(x)))
        size = tf.norm(tape.gradient(loss, x))
    return [tape.gradient(size, v) for v in model.trainable_variables]
""",
        "second_tape_inside-out": """
def input_gradient_penalty(model, x, y):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            loss = tf.reduce_mean((model(x) - y) ** 2)
    size = tf.norm(inner.gradient(loss, x))
    return outer.gradient(size, model.trainable_variables)
""",
        "norm_of_each_row": _penalty(size="tf.reduce_sum(tf.norm(g, axis=1))"),
        "squared_norm": _penalty(size="tf.reduce_sum(g * g)"),
        "sum_for_mean": _penalty(loss="tf.reduce_sum((model(x) - y) ** 2)"),
        "gradient_of_the_loss": _penalty(target="loss"),
        "raises_model": _penalty(loss="tf.reduce_mean((model(x, y) - y) ** 2)"),
    },
}
