"""What people write in chapter 05: right answers other than the solution, and wrong ones."""


def decorated(signature, value, rule, *, before="", outer=None):
    """An answer of the usual form: a decorated inner function, called by position."""
    name, arguments = signature
    inner = outer or arguments.split(",")[0]
    return (
        f"def {name}({arguments}):\n    @tf.custom_gradient\n    def inner({inner}):\n{before}"
        f"        return {value}, {rule}\n    return inner({inner})\n"
    )


LOG = ("log1pexp", "x")
NORM = ("clip_gradient_norm", "x, max_norm")
CLIP = ("clip_value_passthrough", "x, low, high")
SOFTPLUS = "tf.nn.softplus(x)"
CLIPPED = "tf.clip_by_value(x, low, high)"
PASS = "lambda up: up"
E1 = "        e = tf.exp(x)\n"

SOLVE = """
def solve_cached(matrix, rhs):
    @tf.custom_gradient
    def solve(matrix, rhs):
        lu, perm = tf.linalg.lu(matrix)
        x = tf.linalg.lu_solve(lu, perm, rhs)
        def rule(upstream):
            inverse = tf.linalg.lu_matrix_inverse(lu, perm)
            y = tf.matmul(inverse, upstream, transpose_a=True)
            return -tf.matmul(y, x, transpose_b=True), y
        return x, rule
    return solve(matrix, rhs)
"""
FIXED = """
def fixed_point(f, x0, theta):
    @tf.custom_gradient
    def settle(theta):
        z = tf.while_loop(
            lambda z: True, lambda z: (f(z, theta),), (x0,), maximum_iterations=45
        )[0]
        def rule(upstream):
            def pulled(u):
                with tf.GradientTape() as tape:
                    tape.watch(z)
                    y = f(z, theta)
                return upstream + tape.gradient(y, z, u)
            u = tf.while_loop(
                lambda u: True, lambda u: (pulled(u),), (upstream,), maximum_iterations=45
            )[0]
            with tf.GradientTape() as tape:
                tape.watch(theta)
                y = f(z, theta)
            return tape.gradient(y, theta, u)
        return z, rule
    return settle(theta)
"""
NEWTON = """
def fixed_point(f, x0, theta):
    z = x0
    for _ in range(45):
        z = f(z, theta)
    z = tf.stop_gradient(z)
    still = tf.stop_gradient(theta)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = f(z, still)
    n = z.shape.num_elements()
    jacobian = tf.reshape(tape.jacobian(y, z), (n, n))
    system = tf.stop_gradient(tf.eye(n, dtype=z.dtype) - jacobian)
    residual = tf.reshape(f(z, theta) - z, (n, 1))
    return z + tf.reshape(tf.linalg.solve(system, residual), z.shape)
"""
NOT_TRANSPOSED = NEWTON.replace(
    "tf.linalg.solve(system, residual)", "tf.linalg.solve(tf.transpose(system), residual)"
)
UNROLLED = """
def fixed_point(f, x0, theta):
    z = x0
    for _ in range(45):
        z = f(z, theta)
    return z
"""
STOPPED = UNROLLED.replace("z = x0", "z = tf.stop_gradient(x0)")
FROM_ZEROS = UNROLLED.replace("z = x0", "z = tf.zeros_like(x0)")
STOPPED_LATE = STOPPED.replace("stop_gradient(x0)", "stop_gradient(f(x0, theta))")
# At the fixed point an unrolled loop is the implicit function theorem's series.
SERIES = UNROLLED.replace(
    "    return z\n",
    "    z = tf.stop_gradient(z)\n    for _ in range(45):\n        z = f(z, theta)\n    return z\n",
)
DENSE = """
def scaled_dense(x, kernel, scale):
    @tf.custom_gradient
    def dense(x):
        def rule(upstream{keyword}):
            scaled = scale * upstream
            to_x = tf.matmul({x}, kernel, transpose_b=True)
            return {back}
        return {value}, rule
    return dense(x)
"""


def dense(
    keyword=", variables=None",
    x="scaled",
    back="to_x, [tf.matmul(x, scaled, transpose_a=True)]",
    value="x @ kernel",
):
    return DENSE.format(keyword=keyword, x=x, back=back, value=value)


CUBE = """
def cube(x):
    @tf.custom_gradient
    def cubed(x):
        @tf.custom_gradient
        def slope(own):
            return 3 * own * own, lambda up: {second}
        return x * x * x, lambda up: up * slope({argument})
    return cubed(x)
"""
SOFTSIGN = """
def numpy_softsign(x):
    @tf.custom_gradient
    def softsign(x):
        y = {y}
        {shape}
        return y, lambda up: {rule}
    return softsign(x)
"""
IN_NUMPY = "tf.numpy_function(lambda a: a / (1 + np.abs(a)), [x], x.dtype)"
SHAPE = "y = tf.ensure_shape(y, x.shape)"
SLOPE = "up / tf.square(1 + tf.abs(x))"


def softsign(y=IN_NUMPY, shape=SHAPE, rule=SLOPE):
    return SOFTSIGN.format(y=y, shape=shape, rule=rule)


JOBS = (
    "a new C++ op, loaded as a library, has no gradient yet",
    "the features are to be constants while the head is trained",
    "log(1 + exp(x)) whose derivative must not overflow",
    "every Relu of a Keras model you cannot edit, in your tf.function, tape outside",
    "the reward in a policy-gradient loss must not be trained through",
    "a NumPy routine with a known derivative, in a layer under fit",
    "the backward pass reuses the forward pass's LU factors",
    "another rule for Sign in a tf.compat.v1 graph, imported from a file",
)


def tools(*words):
    return f"choose_the_tool = {dict(zip(JOBS, words, strict=True))!r}"


R, O, S, C = "RegisterGradient", "override map", "stop_gradient", "custom_gradient"

ANSWERS: dict[str, dict[str, str]] = {
    "log1pexp": {
        "ok_softplus": "def log1pexp(x):\n    return tf.nn.softplus(x)\n",
        "ok_rule": decorated(LOG, SOFTPLUS, "lambda up: up * tf.sigmoid(x)"),
        "ok_plain_ops": "def log1pexp(x):\n    return -tf.math.log_sigmoid(-x)\n",
        "documented_form": decorated(
            LOG, "tf.math.log(1 + e)", "lambda up: up * (1 - 1 / (1 + e))", before=E1
        ),
        "documented_form_2": decorated(
            LOG, SOFTPLUS, "lambda up: up * (1 - 1 / (1 + e))", before=E1
        ),
        "naive": "def log1pexp(x):\n    return tf.math.log(1 + tf.exp(x))\n",
        "value_overflows": decorated(
            LOG, "tf.math.log(1 + tf.exp(x))", "lambda up: up * tf.sigmoid(x)"
        ),
        "second_derivative_lost": decorated(
            LOG, SOFTPLUS, "lambda up: up * tf.sigmoid(tf.stop_gradient(x))"
        ),
        "upstream_stopped": decorated(
            LOG, SOFTPLUS, "lambda up: tf.stop_gradient(up) * tf.sigmoid(x)"
        ),
        "upstream_lost": decorated(LOG, SOFTPLUS, "lambda up: tf.sigmoid(x)"),
        "raises": "def log1pexp(x):\n    return tf.nn.softpluss(x)\n",
    },
    "clip_gradient_norm": {
        "ok_by_hand": decorated(
            NORM,
            "tf.identity(x)",
            "lambda up: up * max_norm / tf.maximum(tf.norm(up), max_norm)",
        ),
        "ok_multiplied": decorated(NORM, "x * 1.0", "lambda up: tf.clip_by_norm(up, max_norm)"),
        "ok_plain": decorated(NORM, "x", "lambda up: tf.clip_by_norm(up, max_norm)"),
        "value_clipped": "def clip_gradient_norm(x, max_norm):\n"
        "    return tf.clip_by_norm(x, max_norm)\n",
        "always_rescaled": decorated(
            NORM, "tf.identity(x)", "lambda up: tf.math.divide_no_nan(up * max_norm, tf.norm(up))"
        ),
        "always_rescaled_2": decorated(
            NORM, "tf.identity(x)", "lambda up: up * max_norm / tf.norm(up)"
        ),
        "clipped_entry_by_entry": decorated(
            NORM, "tf.identity(x)", "lambda up: tf.clip_by_value(up, -max_norm, max_norm)"
        ),
        "NaN_at_a_zero_gradient": decorated(
            NORM,
            "tf.identity(x)",
            "lambda up: up / tf.norm(up) * tf.minimum(tf.norm(up), max_norm)",
        ),
        "one_gradient_per_input": decorated(
            NORM,
            "tf.identity(x)",
            "lambda up: tf.clip_by_norm(up, max_norm)",
            outer="x, max_norm",
        ),
        "true_derivative": "def clip_gradient_norm(x, max_norm):\n    return tf.identity(x)\n",
    },
    "clip_value_passthrough": {
        "ok_stopped": "def clip_value_passthrough(x, low, high):\n"
        "    y = tf.clip_by_value(x, low, high)\n"
        "    return tf.stop_gradient(y) + (x - tf.stop_gradient(x))\n",
        "ok_pass_through": "def clip_value_passthrough(x, low, high):\n"
        "    return tf.grad_pass_through(lambda x: tf.clip_by_value(x, low, high))(x)\n",
        "gradient_of_the_clip": "def clip_value_passthrough(x, low, high):\n"
        "    return tf.clip_by_value(x, low, high)\n",
        "value_not_clipped": decorated(CLIP, "tf.identity(x)", PASS),
        "upstream_clipped": decorated(CLIP, CLIPPED, "lambda up: tf.clip_by_value(up, low, high)"),
        "numbers_become_tensors": decorated(
            CLIP, CLIPPED, "lambda up: (up, None, None)", outer=CLIP[1]
        ),
        "one_gradient_per_input": decorated(CLIP, CLIPPED, PASS, outer=CLIP[1]),
        "upstream_lost": decorated(CLIP, CLIPPED, "lambda up: tf.ones_like(up)"),
    },
    "cube": {
        "ok_plain_rule": decorated(("cube", "x"), "x**3", "lambda up: up * 3 * x**2"),
        "ok_nested": CUBE.format(second="6 * own * up", argument="tf.identity(x)"),
        "ok_no_rule": "def cube(x):\n    return x * x * x\n",
        "out_of_scope": CUBE.format(second="6 * x * up", argument="x"),
        "out_of_scope_2": CUBE.format(second="6 * own * up", argument="x"),
        "second_order_None": decorated(
            ("cube", "x"), "x**3", "lambda up: up * 3 * tf.stop_gradient(x) ** 2"
        ),
        "upstream_lost_in_the_second_rule": CUBE.format(
            second="6 * own", argument="tf.identity(x)"
        ),
        "first_derivative_differentiated_wrongly": CUBE.format(
            second="3 * own * own * up", argument="tf.identity(x)"
        ),
        "upstream_stopped": decorated(
            ("cube", "x"), "x**3", "lambda up: 3 * x**2 * tf.stop_gradient(up)"
        ),
        "upstream_lost": decorated(("cube", "x"), "x**3", "lambda up: 3 * x**2"),
    },
    "scaled_dense": {
        "ok_argument": """
def scaled_dense(x, kernel, scale):
    @tf.custom_gradient
    def dense(x, kernel):
        def rule(up):
            up = scale * up
            return tf.matmul(up, kernel, transpose_b=True), tf.matmul(x, up, transpose_a=True)
        return tf.matmul(x, kernel), rule
    return dense(x, kernel)
""",
        "ok_scale_last": """
def scaled_dense(x, kernel, scale):
    @tf.custom_gradient
    def scaled(y):
        return tf.identity(y), lambda up: scale * up
    return scaled(x @ kernel)
""",
        "ok_keyword": dense(),
        "the_keyword_forgotten": dense(keyword="", back="to_x"),
        "variables_without_their_list": dense(back="to_x"),
        "variables_without_their_list_2": dense(
            back="to_x, tf.matmul(x, scaled, transpose_a=True)"
        ),
        "scale_on_one_path_only": dense(back="to_x, [tf.matmul(x, upstream, transpose_a=True)]"),
        "scale_on_the_kernel's_path_only": dense(x="upstream"),
        "value_scaled": dense(value="scale * (x @ kernel)"),
        "kernel_left_out": dense(back="to_x, [None]"),
        "true_derivative": "def scaled_dense(x, kernel, scale):\n    return x @ kernel\n",
    },
    "solve_cached": {
        "ok_inverse": SOLVE,
        "ok_transposed_factors": """
def solve_cached(matrix, rhs):
    @tf.custom_gradient
    def solve(matrix, rhs):
        lu, perm = tf.linalg.lu(matrix)
        upper = tf.linalg.band_part(lu, 0, -1)
        lower = tf.linalg.set_diag(lu - upper, tf.ones_like(tf.linalg.diag_part(lu)))
        x = tf.linalg.lu_solve(lu, perm, rhs)
        def rule(up):
            w = tf.linalg.triangular_solve(tf.linalg.matrix_transpose(upper), up, lower=True)
            w = tf.linalg.triangular_solve(tf.linalg.matrix_transpose(lower), w, lower=False)
            rows = tf.one_hot(perm, perm.shape[-1], dtype=w.dtype)
            y = tf.matmul(rows, w, transpose_a=True)
            return -tf.matmul(y, x, transpose_b=True), y
        return x, rule
    return solve(matrix, rhs)
""",
        "transposed": SOLVE.replace(
            "y = tf.matmul(inverse, upstream, transpose_a=True)", "y = tf.matmul(inverse, upstream)"
        ),
        "transposed_2": SOLVE.replace(
            "y = tf.matmul(inverse, upstream, transpose_a=True)",
            "y = tf.linalg.lu_solve(lu, perm, upstream)",
        ),
        "refactorised": "def solve_cached(matrix, rhs):\n    return tf.linalg.solve(matrix, rhs)\n",
        "refactorised_2": SOLVE.replace(
            "tf.linalg.lu_matrix_inverse(lu, perm)", "tf.linalg.inv(matrix)"
        ),
        "another_factorisation": "def solve_cached(matrix, rhs):\n"
        "    return tf.linalg.inv(matrix) @ rhs\n",
        "outer_product_the_wrong_way_round": SOLVE.replace(
            "-tf.matmul(y, x, transpose_b=True)", "-tf.matmul(x, y, transpose_b=True)"
        ),
        "minus_lost": SOLVE.replace("-tf.matmul(y, x", "tf.matmul(y, x"),
        "Lu_has_no_gradient": """
def solve_cached(matrix, rhs):
    lu, perm = tf.linalg.lu(matrix)
    return tf.linalg.lu_solve(lu, perm, rhs)
""",
    },
    "fixed_point": {
        "ok_while": FIXED,
        "ok_newton": NEWTON,
        "ok_series": SERIES,
        "unrolled": UNROLLED,
        "unrolled,_x0_stopped": STOPPED,
        "unrolled,_x0_stopped_2": FROM_ZEROS,
        "unrolled,_x0_stopped_3": STOPPED_LATE,
        "one_step_only": UNROLLED.replace("return z", "return f(tf.stop_gradient(z), theta)"),
        "not_transposed": NOT_TRANSPOSED,
        "theta_cut_off": UNROLLED.replace("return z", "return tf.stop_gradient(z)"),
    },
    "numpy_softsign": {
        "ok_ensure_shape": softsign(),
        "ok_py_function": softsign(
            y="tf.py_function(lambda a: a.numpy() / (1 + np.abs(a.numpy())), [x], x.dtype)"
        ),
        "ok_stateless": softsign(
            y="tf.numpy_function(lambda a: a / (1 + np.abs(a)), [x], x.dtype, stateful=False)",
            shape="y.set_shape(x.shape)",
        ),
        "shape_lost": softsign(shape="pass"),
        "no_rule": "def numpy_softsign(x):\n"
        f"    y = {IN_NUMPY}\n    y.set_shape(x.shape)\n    return y\n",
        "dtype_fixed": softsign(y=IN_NUMPY.replace("x.dtype", "tf.float32")),
        "dtype_fixed_2": softsign(
            y="tf.numpy_function(lambda a: np.float64(a / (1 + np.abs(a))), [x], tf.float32)"
        ),
        "not_in_NumPy": "def numpy_softsign(x):\n    return x / (1 + tf.abs(x))\n",
        "square_lost": softsign(rule="up / (1 + tf.abs(x))"),
        "upstream_lost": softsign(rule="1 / tf.square(1 + tf.abs(x))"),
    },
    "export_with_gradients": {
        "ok_said": """
def export_with_gradients(module, path):
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(module, path, options=options)
""",
        "ok_signatures": """
def export_with_gradients(module, path):
    tf.saved_model.save(module, path, signatures=module.__call__)
""",
        "option_off": """
def export_with_gradients(module, path):
    options = tf.saved_model.SaveOptions(
        experimental_custom_gradients=False, save_debug_info=False
    )
    tf.saved_model.save(module, path, options=options)
""",
        "nothing_at_the_path": """
def export_with_gradients(module, path):
    tf.train.Checkpoint(module=module).write(path)
""",
        "nothing_at_the_path_2": """
def export_with_gradients(module, path):
    tf.saved_model.save(module, path + "/model")
""",
        "raises": """
def export_with_gradients(module, path):
    module.save(path)
""",
    },
    "choose_the_tool": {
        "ok_lower_case": tools(*(word.lower() for word in (R, S, C, O, S, C, C, O))),
        "ok_upper_case": tools(*(word.upper() for word in (R, S, C, O, S, C, C, O))),
        "wrong_entries": tools(R, S, C, O, C, C, C, R),
        "wrong_entries_2": tools(C, S, S, R, S, R, S, O),
        "one_tool_for_everything": tools(*[C] * 8),
    },
}
