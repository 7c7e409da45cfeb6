ANSWERS = {
    "twice": {
        "ok_custom": """
@tf.custom_gradient
def twice(x):
    return 2.0 * x, lambda up: 3.0 * up
""",
        "ok_other": "twice = lambda x: tf.stop_gradient(-x) + 3.0 * x",
        "true_derivative": "def twice(x):\n    return 2.0 * x",
        "upstream_lost": """
@tf.custom_gradient
def twice(x):
    return 2.0 * x, lambda up: 3.0 * tf.ones_like(up)
""",
        "divided": "def twice(x):\n    return x / 2.0",
        "none": "def twice(x):\n    return tf.stop_gradient(2.0 * x)",
        "fixed_name": "def twice(x):\n    raise KeyError('taken')",
        "raises_value": "def twice(x):\n    raise ValueError('no')",
        "constant_factor": "def twice(x):\n    return tf.stop_gradient(-4.2 * x) + 6.2 * x",
    },
    "words": {
        "ok_case": "words = {'round': 'None ', 'sign': 'ZERO'}",
        "ok_more": "words = {'round': 'none', 'sign': 'zero', 'extra': 1}",
        "wrong_entries": "words = {'round': 'number', 'sign': 'zero'}",
        "wrong_entries_2": "words = ['none']",
        "None_and_zero_confused": "words = {'round': 'zero', 'sign': 'none'}",
    },
    "square_grad": {
        "ok_order": "def square_grad(op, grad):\n    return grad * op.inputs[0] * 2.0",
        "ok_list": "def square_grad(op, grad):\n    return [grad * op.inputs[0] * 2.0]",
        "upstream_lost": "def square_grad(op, grad):\n    return 2.0 * op.inputs[0]",
        "x_lost": "def square_grad(op, grad):\n    return 2.0 * (1.0 * grad)",
        "raises": "def square_grad(op, grad):\n    return 0",
    },
    "counter": {
        "ok_tuple": "counter = lambda n: tuple(range(n))",
        "ok_array": "import numpy as np\ncounter = lambda n: np.arange(n)",
        "off_by_one": "counter = lambda n: list(range(1, n + 1))",
        "raises": "counter = 3",
        "raises_other": "def counter(n):\n    return n.foo",
    },
}
