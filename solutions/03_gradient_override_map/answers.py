"""What people write in chapter 03: other right answers, and wrong ones by the mistake they make."""

from __future__ import annotations

ANSWERS: dict[str, dict[str, str]] = {
    "op_types": {
        "ok_v1_graph": """
def op_types(fn, *args):
    with tf.Graph().as_default() as graph:
        fn(*[tf.constant(a.numpy()) for a in args])
    return [op.type for op in graph.get_operations() if op.type != "Const"]
""",
        "ok_tuple": """
def op_types(fn, *args):
    graph = tf.function(fn, autograph=False).get_concrete_function(*args).graph
    kept = []
    for op in graph.get_operations():
        if op.type in ("Placeholder", "Const", "NoOp"):
            continue
        if any(out is end for out in op.outputs for end in graph.outputs):
            continue
        kept.append(op.type)
    return tuple(kept)
""",
        "ok_cut_the_end": """
def op_types(fn, *args):
    graph = tf.function(fn).get_concrete_function(*args).graph
    types = [op.type for op in graph.get_operations()]
    types = [t for t in types if t not in ("Placeholder", "Const", "NoOp")]
    return types[: len(types) - len(graph.outputs)]
""",
        "node_names": """
def op_types(fn, *args):
    graph = tf.function(fn).get_concrete_function(*args).graph
    ends = {t.op.name for t in graph.outputs}
    skip = ("Placeholder", "Const", "NoOp")
    return [o.name for o in graph.get_operations() if o.type not in skip and o.name not in ends]
""",
        "tf_names": """
def op_types(fn, *args):
    graph = tf.function(fn).get_concrete_function(*args).graph
    ends = {t.op.name for t in graph.outputs}
    skip = ("Placeholder", "Const", "NoOp")
    ops = [o for o in graph.get_operations() if o.type not in skip and o.name not in ends]
    return ["tf." + o.type.lower() for o in ops]
""",
        "return_identities_kept": """
def op_types(fn, *args):
    graph = tf.function(fn).get_concrete_function(*args).graph
    skip = ("Placeholder", "Const", "NoOp")
    return [op.type for op in graph.get_operations() if op.type not in skip]
""",
        "written_identities_lost": """
def op_types(fn, *args):
    graph = tf.function(fn).get_concrete_function(*args).graph
    skip = ("Placeholder", "Const", "NoOp", "Identity")
    return [op.type for op in graph.get_operations() if op.type not in skip]
""",
        "ok_generator": """
def op_types(fn, *args):
    graph = tf.function(fn).get_concrete_function(*args).graph
    ends = {t.op.name for t in graph.outputs}
    skip = ("Placeholder", "Const", "NoOp")
    kept = (op for op in graph.get_operations() if op.type not in skip and op.name not in ends)
    return map(lambda op: op.type, kept)
""",
        "ok_array": """
def op_types(fn, *args):
    with tf.Graph().as_default() as graph:
        fn(*[tf.constant(a.numpy()) for a in args])
    return np.array([op.type for op in graph.get_operations() if op.type != "Const"])
""",
        "repeats_lost": """
def op_types(fn, *args):
    graph = tf.function(fn).get_concrete_function(*args).graph
    ends = {t.op.name for t in graph.outputs}
    skip = ("Placeholder", "Const", "NoOp")
    kept = [o for o in graph.get_operations() if o.type not in skip and o.name not in ends]
    return list(dict.fromkeys(op.type for op in kept))
""",
        "order_lost_2": """
def op_types(fn, *args):
    with tf.Graph().as_default() as graph:
        fn(*[tf.constant(a.numpy()) for a in args])
    return {op.type for op in graph.get_operations()} - {"Const", "Placeholder"}
""",
        "order_lost": """
def op_types(fn, *args):
    with tf.Graph().as_default() as graph:
        fn(*[tf.constant(a.numpy()) for a in args])
    return sorted({op.type for op in graph.get_operations()} - {"Const", "Placeholder"})
""",
        "raises_name_error": """
def op_types(fn, *args):
    return [op.type for op in graph.get_operations()]
""",
    },
    "where_it_acts": {
        "ok_words_in_capitals": """
where_it_acts = {
    "eager": "Ignored", "tape outside": "Acts", "tape inside": "Ignored",
    "tf.gradients inside": "Acts", "nested function": "Ignored", "keras fit": "Ignored",
    "lower-case key": "Ignored", "tf.cond body": "Ignored", "v1 session": "Acts",
    "rank-3 matmul": "Ignored",
}
""",
        "ok_from_a_rule": """
acting = {"tape outside", "tf.gradients inside", "v1 session"}
where_it_acts = {
    key: "acts" if key in acting else "ignored"
    for key in ("eager", "tape outside", "tape inside", "tf.gradients inside", "nested function",
                "keras fit", "lower-case key", "tf.cond body", "v1 session", "rank-3 matmul")
}
""",
        "overrated": """
where_it_acts = {
    "eager": "acts", "tape outside": "acts", "tape inside": "acts",
    "tf.gradients inside": "acts", "nested function": "acts", "keras fit": "acts",
    "lower-case key": "ignored", "tf.cond body": "acts", "v1 session": "acts",
    "rank-3 matmul": "ignored",
}
""",
        "underrated": """
where_it_acts = {
    "eager": "ignored", "tape outside": "ignored", "tape inside": "ignored",
    "tf.gradients inside": "ignored", "nested function": "ignored", "keras fit": "ignored",
    "lower-case key": "ignored", "tf.cond body": "ignored", "v1 session": "acts",
    "rank-3 matmul": "ignored",
}
""",
        "tapes_swapped": """
where_it_acts = {
    "eager": "ignored", "tape outside": "ignored", "tape inside": "acts",
    "tf.gradients inside": "acts", "nested function": "ignored", "keras fit": "ignored",
    "lower-case key": "ignored", "tf.cond body": "ignored", "v1 session": "acts",
    "rank-3 matmul": "ignored",
}
""",
        "wrong_entries": """
where_it_acts = {
    "eager": "ignored", "tape outside": "acts", "tape inside": "ignored",
    "tf.gradients inside": "ignored", "nested function": "acts", "keras fit": "ignored",
    "lower-case key": "acts", "tf.cond body": "ignored", "v1 session": "acts",
    "rank-3 matmul": ____,
}
""",
    },
    "times_five": {
        "ok_registered_once": """
FIVE = register(lambda op, grad: 5.0 * grad)

def times_five(x):
    with overriding({"Identity": FIVE}):
        return tf.identity(x, name="any_name")
""",
        "ok_own_names": """
def times_five(x):
    def fivefold(op, grad):
        return grad + 4.0 * grad
    name = f"fivefold-{uuid.uuid4()}"
    tf.RegisterGradient(name)(fivefold)
    graph = tf.compat.v1.get_default_graph()
    with graph.gradient_override_map({"Identity": name}):
        y = tf.identity(x)
    return y
""",
        "ok_in_its_own_function": """
@tf.function
def times_five(x):
    with overriding({"Identity": register(lambda op, grad: 5.0 * grad)}):
        return tf.identity(x)
""",
        "another_tool_2": """
def times_five(x):
    return tf.stop_gradient(-4.0 * x) + 5.0 * x
""",
        "another_tool_3": """
@tf.function
def times_five(x):
    return tf.stop_gradient(-4.0 * x) + 5.0 * tf.identity(x)
""",
        "true_derivative": """
def times_five(x):
    with overriding({"identity": register(lambda op, grad: 5.0 * grad)}):
        return tf.identity(x, name="identity")
""",
        "factor_on_the_forward": """
def times_five(x):
    return 5.0 * x
""",
        "applied_twice": """
def times_five(x):
    with overriding({"Identity": register(lambda op, grad: 5.0 * grad)}):
        return tf.identity(tf.identity(x))
""",
        "another_tool_4": """
def times_five(x):
    with overriding({"Identity": register(lambda op, grad: 5.0 * grad)}):
        tf.identity(x)
    return tf.stop_gradient(-4.0 * x) + 5.0 * x
""",
        "another_tool_5": """
def times_five(x):
    with overriding({"Identity": "Identity"}):
        y = tf.identity(x)
    return y + 4.0 * (x - tf.stop_gradient(x))
""",
        "another_tool": """
@tf.custom_gradient
def times_five(x):
    return tf.identity(x), lambda upstream: 5.0 * upstream
""",
        "upstream_lost": """
def times_five(x):
    with overriding({"Identity": register(lambda op, grad: 5.0 * tf.ones_like(grad))}):
        return tf.identity(x)
""",
        "raises_lookup_error": """
def times_five(x):
    with overriding({"Identity": "a name that nobody registered"}):
        return tf.identity(x)
""",
    },
    "reverse_gradient": {
        "ok_custom_gradient": """
def reverse_gradient(x, strength):
    @tf.custom_gradient
    def reversal(x):
        return tf.identity(x), lambda upstream: -strength * upstream
    return reversal(x)
""",
        "ok_two_identities": """
def reverse_gradient(x, strength):
    names = [register(lambda op, grad: -grad), register(lambda op, grad: strength * grad)]
    for name in names:
        with overriding({"Identity": name}):
            x = tf.identity(x)
    return x
""",
        "ok_by_stopping": """
def reverse_gradient(x, strength):
    t = -strength * x
    return tf.stop_gradient(x) + (t - tf.stop_gradient(t))
""",
        "sign": """
def reverse_gradient(x, strength):
    with overriding({"Identity": register(lambda op, grad: strength * grad)}):
        return tf.identity(x)
""",
        "strength_on_the_forward": """
def reverse_gradient(x, strength):
    with overriding({"Identity": register(lambda op, grad: -grad)}):
        return tf.identity(strength * x)
""",
        "strength_lost_2": """
def reverse_gradient(x, strength):
    strength = min(strength, 1.0)
    with overriding({"Identity": register(lambda op, grad: -strength * grad)}):
        return tf.identity(x)
""",
        "strength_lost": """
def reverse_gradient(x, strength):
    with overriding({"Identity": register(lambda op, grad: -grad)}):
        return tf.identity(x)
""",
        "true_derivative": """
def reverse_gradient(x, strength):
    name = register(lambda op, grad: -strength * grad)
    with overriding({"Identity": name}):
        pass
    return tf.identity(x)
""",
        "upstream_lost": """
def reverse_gradient(x, strength):
    with overriding({"Identity": register(lambda op, grad: -strength * tf.ones_like(grad))}):
        return tf.identity(x)
""",
    },
    "floor_passthrough": {
        "cut_towards_zero": """
def floor_passthrough(x):
    with overriding({"Floor": "Identity"}):
        return tf.cast(tf.cast(x, tf.int32), x.dtype)
""",
        "ok_own_rule": """
def floor_passthrough(x):
    with overriding({"Floor": register(lambda op, grad: grad)}):
        return tf.floor(x)
""",
        "ok_v1_name": """
def floor_passthrough(x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        return tf.math.floor(x, name="steps")
""",
        "ok_in_its_own_function": """
@tf.function
def floor_passthrough(x):
    with overriding({"Floor": "Identity"}):
        return tf.floor(x)
""",
        "another_tool_2": """
@tf.function
def floor_passthrough(x):
    return x + tf.stop_gradient(tf.floor(x) - x)
""",
        "true_derivative": """
def floor_passthrough(x):
    with overriding({"floor": "Identity"}):
        return tf.floor(x)
""",
        "not_a_floor": """
def floor_passthrough(x):
    with overriding({"Floor": "Identity"}):
        return x // 1.0
""",
        "paths_cancel": """
def floor_passthrough(x):
    with overriding({"Floor": "Identity"}):
        return x - tf.math.floormod(x, tf.ones_like(x))
""",
        "another_tool_3": """
def floor_passthrough(x):
    with overriding({"Floor": "Identity"}):
        steps = tf.floor(x)
    return x + tf.stop_gradient(steps - x)
""",
        "another_tool": """
def floor_passthrough(x):
    return tf.grad_pass_through(tf.floor)(x)
""",
        "upstream_lost": """
def floor_passthrough(x):
    with overriding({"Floor": register(lambda op, grad: tf.ones_like(op.inputs[0]))}):
        return tf.floor(x)
""",
        "raises_lookup_error": """
def floor_passthrough(x):
    with overriding({"Floor": "tf.identity"}):
        return tf.floor(x)
""",
    },
    "binarize": {
        "ok_product": """
def binarize(x):
    def rule(op, grad):
        return grad * tf.cast(tf.abs(op.inputs[0]) <= 1.0, grad.dtype)
    with overriding({"Sign": register(rule)}):
        return tf.sign(x)
""",
        "ok_two_masks": """
def binarize(x):
    def rule(op, grad):
        inside = tf.logical_and(op.inputs[0] >= -1.0, op.inputs[0] <= 1.0)
        return [tf.where(inside, grad, 0.0 * grad)]
    with overriding({"Sign": register(rule)}):
        return tf.sign(x)
""",
        "ok_clip_below": """
def binarize(x):
    with overriding({"Sign": "Identity"}):
        return tf.sign(tf.clip_by_value(x, -1.0, 1.0))
""",
        "true_derivative": """
def binarize(x):
    def rule(op, grad):
        return tf.where(tf.abs(op.inputs[0]) <= 1.0, grad, tf.zeros_like(grad))
    with overriding({"tf.sign": register(rule)}):
        return tf.sign(x)
""",
        "open_interval": """
def binarize(x):
    def rule(op, grad):
        return tf.where(tf.abs(op.inputs[0]) < 1.0, grad, tf.zeros_like(grad))
    with overriding({"Sign": register(rule)}):
        return tf.sign(x)
""",
        "unclipped": """
def binarize(x):
    with overriding({"Sign": "Identity"}):
        return tf.sign(x)
""",
        "mask_inverted": """
def binarize(x):
    def rule(op, grad):
        return tf.where(tf.abs(op.inputs[0]) <= 1.0, tf.zeros_like(grad), grad)
    with overriding({"Sign": register(rule)}):
        return tf.sign(x)
""",
        "soft_surrogate": """
def binarize(x):
    def rule(op, grad):
        return grad * (1.0 - tf.tanh(op.inputs[0]) ** 2)
    with overriding({"Sign": register(rule)}):
        return tf.sign(x)
""",
        "sign_of_zero": """
def binarize(x):
    return tf.where(x >= 0.0, tf.ones_like(x), -tf.ones_like(x))
""",
        "upstream_lost": """
def binarize(x):
    def rule(op, grad):
        return tf.cast(tf.abs(op.inputs[0]) <= 1.0, grad.dtype)
    with overriding({"Sign": register(rule)}):
        return tf.sign(x)
""",
        "raises_one_argument": """
def binarize(x):
    with overriding({"Sign": register(lambda grad: grad)}):
        return tf.sign(x)
""",
    },
    "xnor_quantize": {
        "ok_where_first": """
def xnor_quantize(x):
    scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    safe = tf.where(scale > 0.0, scale, tf.ones_like(scale))
    with overriding({"Sign": "Identity"}):
        return tf.sign(x / safe) * scale
""",
        "ok_undone_in_the_rule": """
def xnor_quantize(x):
    scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    def rule(op, grad):
        return tf.math.divide_no_nan(grad, scale)
    with overriding({"Sign": register(rule)}):
        return tf.sign(x) * scale
""",
        "ok_custom_gradient": """
@tf.custom_gradient
def xnor_quantize(x):
    return tf.sign(x) * tf.reduce_mean(tf.abs(x)), lambda upstream: upstream
""",
        "scaled_by_E": """
def xnor_quantize(x):
    scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    with overriding({"Sign": "Identity"}):
        return tf.sign(x) * scale
""",
        "mean_contributes": """
def xnor_quantize(x):
    with overriding({"Sign": "Identity"}):
        return tf.sign(x) * tf.reduce_mean(tf.abs(x))
""",
        "normalised_without_stop": """
def xnor_quantize(x):
    scale = tf.reduce_mean(tf.abs(x))
    safe = tf.where(scale > 0.0, scale, tf.ones_like(scale))
    with overriding({"Sign": "Identity"}):
        return tf.sign(x / safe) * scale
""",
        "zero_over_zero": """
def xnor_quantize(x):
    scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    with overriding({"Sign": "Identity"}):
        return tf.sign(x / scale) * scale
""",
        "scale_missing": """
def xnor_quantize(x):
    with overriding({"Sign": "Identity"}):
        return tf.sign(x)
""",
        "true_derivative": """
def xnor_quantize(x):
    return tf.sign(x) * tf.reduce_mean(tf.abs(x))
""",
        "sign_of_zero": """
def xnor_quantize(x):
    scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    def rule(op, grad):
        return tf.math.divide_no_nan(grad, scale)
    with overriding({"Sign": register(rule)}):
        signs = tf.sign(x)
    return (signs + tf.stop_gradient(tf.cast(tf.equal(x, 0.0), x.dtype))) * scale
""",
    },
    "works_everywhere": {
        "ok_product": """
@tf.custom_gradient
def works_everywhere(x):
    def rule(upstream):
        return upstream * tf.cast(tf.logical_and(x >= -1.0, x <= 1.0), upstream.dtype)
    return tf.sign(x), rule
""",
        "ok_by_stopping": """
def works_everywhere(x):
    t = tf.clip_by_value(x, -1.0, 1.0)
    return tf.stop_gradient(tf.sign(x)) + (t - tf.stop_gradient(t))
""",
        "ok_pass_through": """
def works_everywhere(x):
    return tf.grad_pass_through(tf.sign)(tf.clip_by_value(x, -1.0, 1.0))
""",
        "only_in_graph": """
def works_everywhere(x):
    def rule(op, grad):
        return tf.where(tf.abs(op.inputs[0]) <= 1.0, grad, tf.zeros_like(grad))
    with overriding({"Sign": register(rule)}):
        return tf.sign(x)
""",
        "open_interval": """
@tf.custom_gradient
def works_everywhere(x):
    return tf.sign(x), lambda u: tf.where(tf.abs(x) < 1.0, u, tf.zeros_like(u))
""",
        "unclipped": """
def works_everywhere(x):
    return tf.grad_pass_through(tf.sign)(x)
""",
        "mask_inverted": """
@tf.custom_gradient
def works_everywhere(x):
    return tf.sign(x), lambda u: tf.where(tf.abs(x) <= 1.0, tf.zeros_like(u), u)
""",
        "soft_surrogate": """
def works_everywhere(x):
    t = tf.tanh(x)
    return tf.stop_gradient(tf.sign(x)) + (t - tf.stop_gradient(t))
""",
        "sign_of_zero": """
@tf.custom_gradient
def works_everywhere(x):
    value = tf.where(x >= 0.0, tf.ones_like(x), -tf.ones_like(x))
    return value, lambda u: tf.where(tf.abs(x) <= 1.0, u, tf.zeros_like(u))
""",
        "true_derivative": """
def works_everywhere(x):
    return tf.sign(x)
""",
        "upstream_lost": """
@tf.custom_gradient
def works_everywhere(x):
    return tf.sign(x), lambda u: tf.cast(tf.abs(x) <= 1.0, x.dtype)
""",
        "raises_forgotten_rule": """
@tf.custom_gradient
def works_everywhere(x):
    return tf.sign(x)
""",
    },
    "guided_relu": {
        "_": """
@tf.custom_gradient
def guided_relu(x):
    return tf.nn.relu6(x), lambda up: tf.where((x > 0) & (up > 0), up, tf.zeros_like(up))
""",
        "ok_product": """
@tf.custom_gradient
def guided_relu(x):
    return tf.nn.relu(x), lambda u: tf.nn.relu(u) * tf.cast(x > 0.0, u.dtype)
""",
        "ok_by_the_output": """
@tf.custom_gradient
def guided_relu(x):
    y = tf.maximum(x, tf.zeros_like(x))
    def rule(upstream):
        return tf.where(tf.logical_and(y > 0.0, upstream > 0.0), upstream, 0.0 * upstream)
    return y, rule
""",
        "ok_two_rules": """
@tf.custom_gradient
def only_positive(x):
    return tf.identity(x), lambda upstream: tf.nn.relu(upstream)

def guided_relu(x):
    return only_positive(tf.nn.relu(x))
""",
        "only_in_graph": """
def guided_relu(x):
    def rule(op, grad):
        return tf.nn.relu(grad) * tf.cast(op.inputs[0] > 0.0, grad.dtype)
    with overriding({"Relu": register(rule)}):
        return tf.nn.relu(x)
""",
        "upstream_condition_missing": """
def guided_relu(x):
    return tf.nn.relu(x)
""",
        "input_condition_missing": """
@tf.custom_gradient
def guided_relu(x):
    return tf.nn.relu(x), lambda upstream: tf.nn.relu(upstream)
""",
        "negative_part_kept": """
@tf.custom_gradient
def guided_relu(x):
    return tf.nn.relu(x), lambda u: -tf.nn.relu(-u) * tf.cast(x > 0.0, u.dtype)
""",
        "upstream_lost": """
@tf.custom_gradient
def guided_relu(x):
    return tf.nn.relu(x), lambda u: tf.cast((x > 0.0) & (u > 0.0), u.dtype)
""",
        "raises_shape": """
def guided_relu(x):
    return tf.nn.relu(tf.reshape(x, [7, 7]))
""",
    },
}
