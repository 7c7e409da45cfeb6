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


# In the order of the alphabet: nothing here says which of them are faults.
NAMES = (
    "absolute value away from its kink",
    "broadcast sum",
    "factor",
    "indexed slices",
    "linear",
    "matrix product",
    "mean for sum",
    "nan",
    "none",
    "one number in",
    "one number out",
    "power",
    "relu away from its kink",
    "right only at ones",
    "second order",
    "shuffled",
    "sign",
    "sine",
    "softmax",
    "three axes",
    "tiny values",
    "transposed",
    "un-broadcast",
    "upstream lost",
    "values of 1e6",
    "wrong shape",
)


def planted(answer, case, mode):
    """gradient_check: what the checker says of one function.

    Which one it was is not known here: the word stands under every name, and the verdict reads
    the one that it asked about.
    """
    word = answer(compile_source(case.inputs["f"]), tf.constant(case.inputs["x"]))
    if isinstance(word, str):  # every text that is not empty would count as True
        raise TypeError(f"True or False is asked, the text {word!r} came")
    if word is None:
        raise TypeError("True or False is asked, None came: is a return missing?")
    plain = type(word).__name__ != "Blank" and np.ndim(word) == 0
    said = bool(word) if plain else word
    return {f"entry:{name}": said for name in NAMES}


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
    """Whether the installed TensorFlow's tape differs from the closed forms, in either order."""
    f, x = OPERATIONS[name]
    x, right = tf.constant(x, tf.float64), options[f"right:{name}"]
    weights = tf.constant(0.7 + 0.3 * np.arange(right.size).reshape(right.shape))
    try:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            gradient = inner.gradient(y, x)
            if gradient is None:
                return True
            given = tf.convert_to_tensor(gradient)
            along = tf.reduce_sum(given * weights) if given.shape == x.shape else None
        if along is None or not _near(given.numpy(), right):
            return True
        bend = options.get(f"bend:{name}")
        if bend is None:
            return False
        second = outer.gradient(along, x, unconnected_gradients="zero")
    except Exception:
        return True
    expected = (bend @ weights.numpy().ravel()).reshape(right.shape)
    return not _near(tf.convert_to_tensor(second).numpy(), expected)


def _near(given, right):
    return given.shape == right.shape and np.allclose(given, right, rtol=1e-5, atol=1e-8)
