"""Probes of chapter 09: they run the learner's checkers; what is right they do not know."""

import numpy as np
import tensorflow as tf

from grader.probe.modes import compile_source

STEPS = 10.0 ** np.arange(-1, -13, -1)


def differences(answer, case, mode):
    """numeric_gradient: the slopes in x's dtype, and the dtype they came in."""
    f, x, upstream = compile_source(case.inputs["f"]), case.inputs["x"], case.inputs["upstream"]
    result = answer(f, tf.constant(x), tf.constant(upstream), case.inputs["h"])
    if result is None or type(result).__name__ == "Blank":
        return {"value": result, "dtype": result}
    slopes = np.asarray(result)
    return {"value": slopes.astype(x.dtype), "dtype": slopes.dtype.name}


def regime(answer, case, mode):
    """best_step: on which side of the best step the learner's lies, if it is far off."""
    f, slope = compile_source(case.inputs["f"]), compile_source(case.options["slope"])
    x = case.inputs["x"]
    given = answer(f, tf.constant(x))
    if given is None or type(given).__name__ == "Blank":
        return {"regime": given}
    step = np.asarray(given, np.float64)
    if step.shape != () or not np.isfinite(step) or step <= 0:
        return {"regime": "no step"}
    exact = np.asarray(slope(tf.constant(x, tf.float64)))
    errors = np.array([_error(f, x, exact, h) for h in STEPS])
    if _error(f, x, exact, float(step)) <= 10 * errors.min():
        return {"regime": "right"}
    return {"regime": "too small" if step < STEPS[errors.argmin()] else "too large"}


def _error(f, x, exact, step):
    """The largest error of the central difference, taken in x's dtype."""
    h = np.asarray(step, x.dtype)
    with np.errstate(all="ignore"):
        high, low = f(tf.constant(x + h)).numpy(), f(tf.constant(x - h)).numpy()
        off = np.abs(((high - low) / (h + h)).astype(np.float64) - exact).max()
    return off if np.isfinite(off) else np.inf


def explains(answer, case, mode):
    """surrogate_explains: True or False for one surrogate and its noise."""
    f, surrogate = compile_source(case.inputs["f"]), compile_source(case.inputs["surrogate"])
    return {"value": answer(f, surrogate, tf.constant(case.inputs["noise"]))}


def planted(answer, case, mode):
    """gradient_check: what the checker says of one planted function."""
    name = case.options["planted"]
    word = answer(PLANTED[name], tf.constant(case.inputs["x"]))
    plain = word is not None and type(word).__name__ != "Blank" and np.ndim(word) == 0
    return {f"entry:{name}": bool(word) if plain else word}


def _with_rule(forward, rule):
    """A function with `forward`'s value and a gradient of rule(x, upstream)."""

    @tf.custom_gradient
    def function(x):
        return forward(x), lambda upstream: rule(x, upstream)

    return function


def _detour(x):
    """tanh by NumPy: TensorFlow does not see what happens in there."""
    value = tf.numpy_function(np.tanh, [x], x.dtype)
    value.set_shape(x.shape)
    return value


def _one_nan(x, upstream):
    """The right gradient of sin, except that its first entry is NaN."""
    first = tf.range(tf.size(x)) == 0
    return tf.where(first, tf.constant(np.nan, x.dtype), upstream * tf.cos(x))


def _row(x):
    return tf.constant([0.5, -1.0, 2.0, 1.5], x.dtype)


def _square(x):
    return tf.constant([[1.0, 2.0], [0.5, -1.5]], x.dtype)


PLANTED = {
    "factor": _with_rule(tf.sin, lambda x, up: 1.05 * up * tf.cos(x)),
    "sign": _with_rule(tf.cos, lambda x, up: up * tf.sin(x)),
    "upstream lost": _with_rule(tf.sin, lambda x, up: tf.cos(x)),
    "right only at ones": _with_rule(tf.sin, lambda x, up: up * up * tf.cos(x)),
    "mean for sum": _with_rule(
        lambda x: tf.reduce_sum(x * x), lambda x, up: up * 2 * x / tf.cast(tf.size(x), x.dtype)
    ),
    "transposed": _with_rule(
        lambda x: x @ _square(x), lambda x, up: tf.transpose(up @ tf.transpose(_square(x)))
    ),
    "un-broadcast": _with_rule(lambda x: x * _row(x), lambda x, up: up * _row(x)),
    "none": _detour,
    "nan": _with_rule(tf.sin, _one_nan),
    "wrong shape": _with_rule(tf.sin, lambda x, up: (up * tf.cos(x))[tf.newaxis]),
    "shuffled": _with_rule(tf.sin, lambda x, up: tf.roll(up * tf.cos(x), 1, 0)),
    "second order": _with_rule(lambda x: x * x * x, lambda x, up: up * tf.stop_gradient(3 * x * x)),
    "tiny values": _with_rule(lambda x: 1e-6 * tf.sin(x), lambda x, up: 2e-6 * up * tf.cos(x)),
    "sine": tf.sin,
    "linear": lambda x: 3 * x,
    "indexed slices": lambda x: tf.gather(x, [0, 1, 1]),
    "values of 1e6": lambda x: 1e6 * tf.sin(x),
    "relu away from its kink": tf.nn.relu,
    "absolute value away from its kink": tf.abs,
    "power": lambda x: tf.pow(x, 3),
    "matrix product": lambda x: x @ _square(x),
    "broadcast sum": lambda x: tf.sin(x + _row(x)),
    "softmax": tf.nn.softmax,
    "one number out": tf.nn.l2_loss,
    "one number in": tf.tanh,
    "three axes": lambda x: x * tf.constant([[1.0], [2.0]], x.dtype),
}


def _64(*values):
    return tf.constant(values, tf.float64)


OPERATIONS = {
    "silu, one beta per entry": (lambda b: tf.nn.silu(_64(-1, 0.5, 2), b), [1.0, 2.0, 0.5]),
    "cumprod, a zero in front": (tf.math.cumprod, [0.0, 2.0, 3.0]),
    "reduce_prod, a zero in front": (tf.reduce_prod, [0.0, 2.0, 3.0]),
    "norm, at zero": (tf.norm, [0.0, 0.0, 0.0]),
    "bessel_i1, at zero": (tf.math.bessel_i1, [0.0]),
    "xlogy, at x = 0": (lambda x: tf.math.xlogy(x, _64(2, 3)), [0.0, 0.0]),
    "betainc, to its first argument": (
        lambda a: tf.math.betainc(a, _64(2, 2), _64(0.3, 0.6)),
        [1.5, 1.5],
    ),
    "reduce_logsumexp": (tf.reduce_logsumexp, [1.0, 2.0, 3.0]),
    "gather, one entry twice": (lambda x: tf.gather(x, [0, 2, 2]), [1.0, 2.0, 3.0]),
    "gelu": (tf.nn.gelu, [-1.0, 0.5, 2.0]),
    "inverse of a matrix": (tf.linalg.inv, [[2.0, 0.3], [0.1, 1.5]]),
    "sort": (tf.sort, [3.0, 1.0, 2.0]),
}


def installed(answer, case, mode):
    """suspects: for each operation whether listing it, or not, fits the installed TensorFlow."""
    if not isinstance(answer, (list, tuple, set)):
        raise TypeError(f"a list of names is asked, a {type(answer).__name__} came")
    for name in answer:
        if name not in OPERATIONS:
            raise ValueError(f"{name!r} is not one of the twelve names in OPERATIONS")
    return {f"entry:{n}": _claim(n in answer, _fails(n, case.options)) for n in OPERATIONS}


def _claim(listed, fails):
    if listed == fails:
        return "right"
    return "listed" if listed else "left out"


def _fails(name, options):
    """Whether the installed TensorFlow's tape differs from the closed form."""
    f, x = OPERATIONS[name]
    x, right = tf.constant(x, tf.float64), options[f"right:{name}"]
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        gradient = tape.gradient(y, x)
    except Exception:
        return True
    if gradient is None:
        return True
    given = tf.convert_to_tensor(gradient).numpy()
    return given.shape != right.shape or not np.allclose(given, right, rtol=1e-5, atol=1e-8)
