"""What people write in chapter 02: other right answers, and wrong ones by the mistake they make."""

from __future__ import annotations

ANSWERS: dict[str, dict[str, str]] = {
    "square_grad": {
        "ok_sum": """
def square_grad(op, grad):
    x = op.inputs[0]
    return (x + x) * grad
""",
        "ok_list_and_conj": """
def square_grad(op, grad):
    two = tf.constant(2, dtype=grad.dtype)
    return [grad * two * tf.math.conj(op.inputs[0])]
""",
        "x_lost": """
def square_grad(op, grad):
    return 2.0 * grad
""",
        "upstream_lost": """
def square_grad(op, grad):
    return 2.0 * op.inputs[0]
""",
        "no_gradient_returned": """
def square_grad(op, grad):
    2.0 * op.inputs[0] * grad
""",
        "second_order_None": """
def square_grad(op, grad):
    x = tf.stop_gradient(op.inputs[0])
    return 2.0 * x * grad
""",
        "upstream_stopped": """
def square_grad(op, grad):
    return 2.0 * op.inputs[0] * tf.stop_gradient(grad)
""",
        "two_lost": """
def square_grad(op, grad):
    return op.inputs[0] * grad
""",
        "raises_no_op": """
def square_grad(grad):
    return 2.0 * grad
""",
        "second_order_None_2": """
def square_grad(op, grad):
    return tf.stop_gradient(2.0 * op.inputs[0] * grad)
""",
        "sign": """
def square_grad(op, grad):
    return -2.0 * op.inputs[0] * grad
""",
        "passed_through": """
def square_grad(op, grad):
    return grad
""",
    },
    "fresh_gradient": {
        "ok_counter": """
import itertools

# Kept in the process, so that running this cell again goes on counting.
NUMBERS = globals().setdefault("NUMBERS", itertools.count())

def fresh_gradient(fn):
    name = f"{__name__}-{id(NUMBERS)}-{next(NUMBERS)}"
    tf.RegisterGradient(name)(fn)
    return name
""",
        "ok_clock_and_random": """
import random
import time

def fresh_gradient(fn):
    name = f"rule-{time.time_ns()}-{random.getrandbits(64)}"
    decorate = tf.RegisterGradient(name)
    decorate(fn)
    return name
""",
        "ok_until_free": """
def fresh_gradient(fn):
    number = 0
    while True:
        name = f"{fn.__name__}_{number}"
        try:
            tf.RegisterGradient(name)(fn)
            return name
        except KeyError:
            number += 1
""",
        "drawn_by_chance": """
import random

def fresh_gradient(fn):
    name = f"{fn.__name__}-{random.random()}"
    tf.RegisterGradient(name)(fn)
    return name
""",
        "drawn_by_chance_2": """
def fresh_gradient(fn):
    name = f"rule-{np.random.randint(10**9)}-{np.random.randint(10**9)}"
    tf.RegisterGradient(name)(fn)
    return name
""",
        "fixed_name": """
def fresh_gradient(fn):
    tf.RegisterGradient("MyGradient")(fn)
    return "MyGradient"
""",
        "fixed_name_2": """
def fresh_gradient(fn):
    name = f"{fn.__name__}-{id(fn)}"
    tf.RegisterGradient(name)(fn)
    return name
""",
        "fixed_name_3": """
import random

def fresh_gradient(fn):
    name = f"{fn.__name__}-{random.randrange(100)}"
    tf.RegisterGradient(name)(fn)
    return name
""",
        "old_function_kept": """
def fresh_gradient(fn):
    try:
        tf.RegisterGradient("MyKeptGradient")(fn)
    except KeyError:
        pass
    return "MyKeptGradient"
""",
        "no_name_returned": """
def fresh_gradient(fn):
    return tf.RegisterGradient(str(uuid.uuid4()))(fn)
""",
        "not_registered": """
def fresh_gradient(fn):
    name = str(uuid.uuid4())
    tf.RegisterGradient(name)
    return name
""",
        "raises_type_error": """
def fresh_gradient(fn):
    tf.RegisterGradient(uuid.uuid4())(fn)
""",
        "rules_mixed_up": """
LATEST = []

def fresh_gradient(fn):
    LATEST[:] = [fn]
    name = str(uuid.uuid4())
    tf.RegisterGradient(name)(lambda op, grad: LATEST[0](op, grad))
    return name
""",
    },
    "multiply_grad": {
        "ok_raw_op": """
def multiply_grad(op, grad):
    x, y = op.inputs
    over_x, over_y = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(x), s1=tf.shape(y))
    return (
        tf.reshape(tf.reduce_sum(grad * y, over_x), tf.shape(x)),
        tf.reshape(tf.reduce_sum(grad * x, over_y), tf.shape(y)),
    )
""",
        "ok_loop": """
def multiply_grad(op, grad):
    x, y = op.inputs
    found = []
    for mine, other in ((x, y), (y, x)):
        g = grad * other
        while g.shape.rank > mine.shape.rank:
            g = tf.reduce_sum(g, 0)
        for axis, length in enumerate(mine.shape):
            if length == 1:
                g = tf.reduce_sum(g, axis, keepdims=True)
        found.append(g)
    return found
""",
        "not_reduced": """
def multiply_grad(op, grad):
    x, y = op.inputs
    return grad * y, grad * x
""",
        "swapped": """
def multiply_grad(op, grad):
    x, y = op.inputs
    over_x, over_y = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(x), s1=tf.shape(y))
    return (
        tf.reshape(tf.reduce_sum(grad * x, over_x), tf.shape(x)),
        tf.reshape(tf.reduce_sum(grad * y, over_y), tf.shape(y)),
    )
""",
        "mean_for_sum": """
def multiply_grad(op, grad):
    x, y = op.inputs
    over_x, over_y = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(x), s1=tf.shape(y))
    return (
        tf.reshape(tf.reduce_mean(grad * y, over_x), tf.shape(x)),
        tf.reshape(tf.reduce_mean(grad * x, over_y), tf.shape(y)),
    )
""",
        "wrong_count_2": """
def multiply_grad(op, grad):
    grad * op.inputs[1], grad * op.inputs[0]
""",
        "wrong_count": """
def multiply_grad(op, grad):
    return grad * op.inputs[1]
""",
        "upstream_lost": """
def multiply_grad(op, grad):
    x, y = op.inputs
    ones = tf.ones_like(grad)
    over_x, over_y = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(x), s1=tf.shape(y))
    return (
        tf.reshape(tf.reduce_sum(ones * y, over_x), tf.shape(x)),
        tf.reshape(tf.reduce_sum(ones * x, over_y), tf.shape(y)),
    )
""",
        "float32_inside": """
def multiply_grad(op, grad):
    x, y, g = (tf.cast(each, tf.float32) for each in (*op.inputs, grad))
    over_x, over_y = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(x), s1=tf.shape(y))
    return (
        tf.cast(tf.reshape(tf.reduce_sum(g * y, over_x), tf.shape(x)), grad.dtype),
        tf.cast(tf.reshape(tf.reduce_sum(g * x, over_y), tf.shape(y)), grad.dtype),
    )
""",
        "None_returned": """
def multiply_grad(op, grad):
    return None, None
""",
    },
    "top_k_grad": {
        "ok_scatter": """
def top_k_grad(op, grad_values, grad_indices):
    x, indices = op.inputs[0], op.outputs[1]
    n, k = x.shape[-1], indices.shape[-1]
    rows = tf.reshape(grad_values, [-1, k])
    places = tf.reshape(indices, [-1, k])
    starts = n * tf.range(tf.shape(rows)[0])[:, None]
    flat = tf.scatter_nd(
        tf.reshape(starts + places, [-1, 1]), tf.reshape(rows, [-1]), [tf.size(x)]
    )
    return tf.reshape(flat, tf.shape(x)), None
""",
        "ok_compare_places": """
def top_k_grad(op, grad_values, grad_indices):
    x, indices = op.inputs[0], op.outputs[1]
    here = tf.equal(indices[..., None], tf.range(x.shape[-1]))
    spread = tf.where(here, grad_values[..., None], tf.zeros([], grad_values.dtype))
    return [tf.reduce_sum(spread, axis=-2), None]
""",
        "ok_product": """
def top_k_grad(op, grad_values, grad_indices):
    depth = op.inputs[0].shape[-1]
    chosen = tf.one_hot(op.outputs[1], depth, dtype=grad_values.dtype)
    return tf.einsum("...k,...kn->...n", grad_values, chosen), None
""",
        "wrong_count": """
def top_k_grad(op, grad_values, grad_indices):
    chosen = tf.one_hot(op.outputs[1], op.inputs[0].shape[-1], dtype=grad_values.dtype)
    return tf.reduce_sum(chosen * grad_values[..., None], axis=-2)
""",
        "wrong_signature": """
def top_k_grad(op, grad):
    chosen = tf.one_hot(op.outputs[1], op.inputs[0].shape[-1], dtype=grad.dtype)
    return tf.reduce_sum(chosen * grad[..., None], axis=-2), None
""",
        "number_for_k": """
def top_k_grad(op, grad_values, grad_indices):
    chosen = tf.one_hot(op.outputs[1], op.inputs[0].shape[-1], dtype=grad_values.dtype)
    return tf.reduce_sum(chosen * grad_values[..., None], axis=-2), 0
""",
        "k_gets_a_gradient": """
def top_k_grad(op, grad_values, grad_indices):
    chosen = tf.one_hot(op.outputs[1], op.inputs[0].shape[-1], dtype=grad_values.dtype)
    return tf.reduce_sum(chosen * grad_values[..., None], axis=-2), tf.zeros([], tf.int32)
""",
        "not_scattered": """
def top_k_grad(op, grad_values, grad_indices):
    x = op.inputs[0]
    missing = x.shape[-1] - grad_values.shape[-1]
    return tf.concat([grad_values, tf.zeros_like(x)[..., :missing]], axis=-1), None
""",
        "order_lost": """
def top_k_grad(op, grad_values, grad_indices):
    places = tf.sort(op.outputs[1], axis=-1)
    chosen = tf.one_hot(places, op.inputs[0].shape[-1], dtype=grad_values.dtype)
    return tf.reduce_sum(chosen * grad_values[..., None], axis=-2), None
""",
        "dense_where_zeros_belong": """
def top_k_grad(op, grad_values, grad_indices):
    total = tf.reduce_sum(grad_values, axis=-1, keepdims=True)
    return total * tf.ones_like(op.inputs[0]), None
""",
        "upstream_lost": """
def top_k_grad(op, grad_values, grad_indices):
    chosen = tf.one_hot(op.outputs[1], op.inputs[0].shape[-1], dtype=grad_values.dtype)
    return tf.reduce_sum(chosen, axis=-2), None
""",
        "ok_each_place": """
def top_k_grad(op, grad_values, grad_indices):
    x, indices = op.inputs[0], op.outputs[1]
    nothing = tf.zeros_like(grad_values)
    places = [tf.where(indices == place, grad_values, nothing) for place in range(x.shape[-1])]
    return tf.stack([tf.reduce_sum(each, -1) for each in places], -1), None
""",
        "not_the_shape_of_x": """
def top_k_grad(op, grad_values, grad_indices):
    return grad_values, None
""",
        "None_returned": """
def top_k_grad(op, grad_values, grad_indices):
    return None, None
""",
    },
    "return_contract": {
        "ok_words_in_capitals": """
return_contract = {
    "the int 0": "ATTRIBUTEERROR", "a NumPy array": "ATTRIBUTEERROR", "None": "None",
    "[tensor]": "Number", "two tensors": "VALUEERROR", "a tensor of shape ()": "VALUEERROR",
}
""",
        "ok_built": """
return_contract = dict.fromkeys(["two tensors", "a tensor of shape ()"], "ValueError")
return_contract |= dict.fromkeys(["the int 0", "a NumPy array"], "AttributeError")
return_contract |= {"None": "none", "[tensor]": "number"}
""",
        "conversion_expected": """
return_contract = {
    "the int 0": "number", "a NumPy array": "number", "None": "none", "[tensor]": "number",
    "two tensors": "ValueError", "a tensor of shape ()": "ValueError",
}
""",
        "broadcast_expected": """
return_contract = {
    "the int 0": "AttributeError", "a NumPy array": "AttributeError", "None": "none",
    "[tensor]": "number", "two tensors": "ValueError", "a tensor of shape ()": "number",
}
""",
        "none_refused": """
return_contract = {
    "the int 0": "AttributeError", "a NumPy array": "AttributeError",
    "None": "AttributeError", "[tensor]": "number", "two tensors": "ValueError",
    "a tensor of shape ()": "ValueError",
}
""",
        "wrong_entries": """
return_contract = {
    "the int 0": "ValueError", "a NumPy array": "number", "None": "none",
    "[tensor]": "ValueError", "two tensors": "ValueError", "a tensor of shape ()": ____,
}
""",
    },
    "numpy_sine": {
        "ok_stateless": """
def numpy_sine(x):
    name = f"cosine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: tf.cos(op.inputs[0]) * grad)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFuncStateless": name}):
        y = tf.compat.v1.py_func(np.sin, [x], x.dtype, stateful=False)
    return tf.ensure_shape(y, x.shape)
""",
        "ok_numpy_function": """
COSINE = f"cosine-{uuid.uuid4()}"

@tf.RegisterGradient(COSINE)
def cosine(op, grad):
    return grad * tf.cos(op.inputs[0])

def numpy_sine(x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": COSINE}):
        y = tf.numpy_function(np.sin, [x], x.dtype)
    return tf.reshape(y, x.shape)
""",
        "ok_custom_gradient": """
@tf.custom_gradient
def numpy_sine(x):
    y = tf.numpy_function(np.sin, [x], x.dtype)
    y.set_shape(x.shape)
    return y, lambda upstream: upstream * tf.cos(x)
""",
        "ok_traced_itself": """
@tf.function
def numpy_sine(x):
    name = f"cosine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: grad * tf.cos(op.inputs[0]))
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.numpy_function(np.sin, [x], x.dtype)
    return tf.ensure_shape(y, x.shape)
""",
        "wrong_op_type": """
def numpy_sine(x):
    name = f"cosine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: tf.cos(op.inputs[0]) * grad)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.compat.v1.py_func(np.sin, [x], x.dtype, stateful=False)
    y.set_shape(x.shape)
    return y
""",
        "shape_lost": """
def numpy_sine(x):
    name = f"cosine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: tf.cos(op.inputs[0]) * grad)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        return tf.compat.v1.py_func(np.sin, [x], x.dtype)
""",
        "float64_dtype": """
def numpy_sine(x):
    name = f"cosine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: tf.cos(op.inputs[0]) * grad)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.compat.v1.py_func(lambda v: np.sin(v.astype(np.float64)), [x], tf.float64)
    y.set_shape(x.shape)
    return y
""",
        "not_by_NumPy": """
def numpy_sine(x):
    return tf.sin(x)
""",
        "by_py_function": """
def numpy_sine(x):
    y = tf.py_function(tf.sin, [x], x.dtype)
    y.set_shape(x.shape)
    return y
""",
        "sine_for_cosine": """
def numpy_sine(x):
    name = f"sine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: op.outputs[0] * grad)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.compat.v1.py_func(np.sin, [x], x.dtype)
    y.set_shape(x.shape)
    return y
""",
        "upstream_lost": """
def numpy_sine(x):
    name = f"cosine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: tf.cos(op.inputs[0]))
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.compat.v1.py_func(np.sin, [x], x.dtype)
    y.set_shape(x.shape)
    return y
""",
        "raises_numpy_on_a_tensor": """
def numpy_sine(x):
    return tf.constant(np.sin(x))
""",
        "shape_lost_2": """
def numpy_sine(x):
    name = f"cosine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: tf.cos(op.inputs[0]) * grad)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.compat.v1.py_func(np.sin, [x], x.dtype)
    y.set_shape([None] * x.shape.rank)
    return y
""",
        "float32_in_the_value": """
def numpy_sine(x):
    name = f"cosine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(lambda op, grad: tf.cos(op.inputs[0]) * grad)
    sine = lambda v: np.sin(v.astype(np.float32)).astype(v.dtype)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        y = tf.compat.v1.py_func(sine, [x], x.dtype)
    y.set_shape(x.shape)
    return y
""",
    },
    "add_backprop": {
        "ok_zero_product": """
def add_backprop(op, grad):
    return grad, grad, 0.0 * op.inputs[2]
""",
        "ok_list": """
def add_backprop(op, grad):
    gradients = [tf.identity(grad) for _ in range(2)]
    return gradients + [tf.zeros(op.inputs[2].shape, op.inputs[2].dtype)]
""",
        "published_triple": """
def add_backprop(op, grad):
    first, second, third = op.inputs
    total = first + second
    return (total + third) * grad, third * grad, total * grad
""",
        "None_for_d": """
def add_backprop(op, grad):
    return grad, grad, None
""",
        "d_gets_the_gradient": """
def add_backprop(op, grad):
    return grad, grad, grad
""",
        "wrong_count": """
def add_backprop(op, grad):
    return grad, grad
""",
        "upstream_lost": """
def add_backprop(op, grad):
    one = tf.ones_like(grad)
    return one, one, tf.zeros_like(grad)
""",
        "raises_int_zero": """
def add_backprop(op, grad):
    return grad, grad, 0
""",
        "wrong_order": """
def add_backprop(op, grad):
    return tf.zeros_like(op.inputs[2]), grad, grad
""",
        "None_returned": """
def add_backprop(op, grad):
    return None, grad, tf.zeros_like(grad)
""",
    },
}
