"""What is true in chapter 08: Jacobians, Hessians and their products in closed form.

Every function that a case hands to the learner stands here twice: as the TensorFlow expression
that is sent, and as its derivatives in NumPy float64.
"""

import numpy as np

from grader import draw
from grader.contract import Case, Either, Exercise, Mistake, Source

EYE = np.eye

# Jacobians: the expression, and the derivative by hand ----------------------------------------

MIXED = "lambda x: tf.stack([x[0] * x[1], tf.exp(x[2]), x[0] + x[2] ** 2, tf.sin(x[1])])"
GRAM = "lambda x: tf.matmul(x, x, transpose_b=True)"
OF_SCALAR = "lambda x: tf.stack([x ** 2, tf.sin(x), 3.0 * x])"
TO_SCALAR = "lambda x: tf.reduce_sum(x ** 3)"
UNCONNECTED = "lambda x: tf.ones([2, 2], x.dtype)"


def _mixed(x):
    o, e = 0.0, np.exp(x[2])
    return np.array([[x[1], x[0], o], [o, o, e], [1.0, o, 2 * x[2]], [o, np.cos(x[1]), o]])


def _gram(x):
    rows = EYE(len(x))
    return np.einsum("ik,jl->ijkl", rows, x) + np.einsum("jk,il->ijkl", rows, x)


JACOBIANS = {
    MIXED: _mixed,
    GRAM: _gram,
    OF_SCALAR: lambda x: np.array([2 * x, np.cos(x), 3.0]),
    TO_SCALAR: lambda x: 3 * x**2,
    UNCONNECTED: lambda x: np.zeros((2, 2, *x.shape)),
}


def jacobian_truth(case):
    return {"value": JACOBIANS[case.inputs["f"].text](case.arrays["x"])}


def source_first(case):
    """Source shape before target shape."""
    x, jacobian = case.arrays["x"], jacobian_truth(case)["value"]
    target = jacobian.ndim - x.ndim
    order = [*range(target, jacobian.ndim), *range(target)]
    return {"value": jacobian.transpose(order)} if target and x.ndim else {}


def summed_targets(case):
    x, jacobian = case.arrays["x"], jacobian_truth(case)["value"]
    target = jacobian.ndim - x.ndim
    summed = jacobian.sum(axis=tuple(range(target)))
    if case.inputs["f"].text == UNCONNECTED:
        return {"value": Either(None, summed)}
    return {"value": summed} if target else {}


# A vectorised Jacobian takes TensorFlow 0.1 s to build, whatever its size, and so does a traced
# loop of gradients. So each case runs in one way: between them they are called and traced.
CALLED, TRACED = ("eager",), ("outside",)


def _jacobian_case(rng, name, text, shape, part="robust", dtype="float32", modes=CALLED):
    inputs = {"f": Source(text), "x": draw.upstream(rng, shape, dtype)}
    return Case(name, inputs, part=part, modes=modes)


def jacobian_cases(rng):
    return [
        _jacobian_case(rng, "three inputs, four outputs", MIXED, (3,), "value"),
        _jacobian_case(rng, "a matrix to a matrix", GRAM, (2, 3), "value", modes=TRACED),
        _jacobian_case(rng, "a scalar source", OF_SCALAR, ()),
        _jacobian_case(rng, "a scalar target", TO_SCALAR, (4,)),
        _jacobian_case(rng, "an unconnected target", UNCONNECTED, (3,)),
        _jacobian_case(rng, "float64", MIXED, (3,), dtype="float64"),
    ]


# kernel_jacobian ------------------------------------------------------------------------------


def _softmaxes(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return np.einsum("bo,op->bop", p, EYE(z.shape[1])) - np.einsum("bo,bp->bop", p, p)


# Of each row: the derivatives of its outputs to its sums before the activation.
SLOPES = {
    "tanh": lambda z: np.einsum("bo,op->bop", 1 - np.tanh(z) ** 2, EYE(z.shape[1])),
    "softmax": _softmaxes,
}


def _slope(case):
    a = case.arrays
    return SLOPES[case.options["activation"]](a["x"] @ a["kernel"] + a["bias"])


def kernel_truth(case):
    return {"value": np.einsum("bop,bi->boip", _slope(case), case.arrays["x"])}


def kernel_summed(case):
    return {"value": kernel_truth(case)["value"].sum(axis=(0, 1))}


def kernel_outputs(case):
    """The Jacobian to the input instead of the kernel, or its diagonal only."""
    slope, jacobian = _slope(case), kernel_truth(case)["value"]
    rows = np.einsum("bop,ip->boi", slope, case.arrays["kernel"])
    full = np.einsum("boi,bc->boci", rows, EYE(len(slope)))
    return {"value": Either(full, rows, np.einsum("boio->boi", jacobian))}


def kernel_apart(case):
    """As if output j depended on the kernel's column j only; said where that is wrong."""
    if case.options["activation"] != "softmax":
        return {}
    slope, eye = _slope(case).sum(axis=1), EYE(case.arrays["kernel"].shape[1])
    return {"value": np.einsum("bo,bi,op->boip", slope, case.arrays["x"], eye)}


def _kernel_case(rng, name, batch, ins, outs, activation, part, modes, dtype="float32"):
    inputs = {
        "x": draw.normal(rng, (batch, ins), dtype),
        "kernel": draw.normal(rng, (ins, outs), dtype),
        "bias": draw.normal(rng, (outs,), dtype),
    }
    return Case(name, inputs, part=part, modes=modes, options={"activation": activation})


def kernel_cases(rng):
    return [
        _kernel_case(rng, "four rows, tanh", 4, 3, 2, "tanh", "value", CALLED),
        _kernel_case(
            rng, "one row, softmax, float64", 1, 4, 3, "softmax", "robust", CALLED, "float64"
        ),
    ]


# per_example_jacobian -------------------------------------------------------------------------

W = np.array([[1.0, -0.5, 0.25], [0.5, 2.0, -1.0]])
LAYER = f"lambda x: tf.matmul(tf.exp(x), tf.constant({W.tolist()}, x.dtype))"
BLOCKS = {LAYER: lambda x: np.einsum("bi,io->boi", np.exp(x), W)}
FORMED = "full Jacobian formed"


def per_example_truth(case):
    value = {"value": BLOCKS[case.inputs["f"].text](case.arrays["x"])}
    return value | ({FORMED: False} if case.part == "memory" else {})


def wrong_axis(case):
    """The (b, outs, b, ins) Jacobian summed over another axis than the second batch."""
    blocks = per_example_truth(case)["value"]
    full = np.einsum("boi,bc->boci", blocks, EYE(len(blocks)))
    return {"value": Either(full.sum(0), full.sum(1), full.sum(3), blocks.sum(1), full)}


def _per_example_case(rng, name, batch, part, modes, dtype="float32"):
    inputs = {"f": Source(LAYER), "x": draw.upstream(rng, (batch, 2), dtype)}
    return Case(name, inputs, part=part, modes=modes)


def per_example_cases(rng):
    return [
        # Called: the part memory traces the function anyway.
        _per_example_case(rng, "five rows of two, three outputs each", 5, "value", CALLED),
        _per_example_case(rng, "the traced graph for 23 rows", 23, "memory", CALLED),
        _per_example_case(rng, "one row in float64", 1, "robust", CALLED, "float64"),
    ]


# rows_are_independent -------------------------------------------------------------------------

EXPONENTIAL = "lambda x: tf.exp(x)"
CONSTANT = "lambda x: tf.ones_like(x)"
INDEPENDENT = (EXPONENTIAL, CONSTANT)
# Rows mixed by a matrix. A Jacobian through tf.matmul or a slice would take a quarter longer.
MIXED_ROWS = "lambda x: tf.einsum('ij,jk->ik', tf.constant({}, x.dtype), x)"
CROSSED_ROWS = (
    "lambda x: x + tf.einsum('ij,jk,kl->il', tf.constant({}, x.dtype), x, "
    "tf.constant([[1, -1], [-1, 1]], x.dtype))"
)
ROWS = 5
LITTLE = 2e-4  # twice what counts


def up_from_the_middle(rng):
    """A row in the middle leaks into one above it, negatively: it is the magnitude that counts."""
    mixing, source = EYE(ROWS), rng.integers(2, ROWS - 1)
    mixing[rng.integers(source), source] = -LITTLE
    return MIXED_ROWS.format(mixing.tolist())


def down_from_the_middle(rng):
    """Two rows in the middle leak into the last two, and all cancels: the entries of each block's
    rows and columns, and the blocks over a batch, of targets or of sources."""
    mixing, sign = np.zeros((ROWS, ROWS)), rng.choice([-LITTLE, LITTLE])
    mixing[3:, 1:3] = [[sign, -sign], [-sign, sign]]
    return CROSSED_ROWS.format(mixing.tolist())


def less_the_mean():
    """As batch normalisation begins. It treats all rows alike: who swaps rows sees nothing."""
    return MIXED_ROWS.format((EYE(ROWS) - 1 / ROWS).tolist())


def independent_truth(case):
    return {"value": case.inputs["f"].text in INDEPENDENT}


def independent_cases(rng):
    def case(name, text, part, dtype="float32"):
        inputs = {"f": Source(text), "x": draw.upstream(rng, (ROWS, 2), dtype)}
        return Case(name, inputs, part=part, modes=CALLED)

    up, down, alike = up_from_the_middle(rng), down_from_the_middle(rng), less_the_mean()
    return [
        case("the exponential of each entry", EXPONENTIAL, "value"),
        case("a row leaks a little into one above it", up, "value"),
        case("each row less the mean of all", alike, "value"),
        case("two rows leak a little into the last two", down, "robust", "float64"),
        case("a constant function", CONSTANT, "robust"),
    ]


# Functions to a scalar: gradient and Hessian --------------------------------------------------

CUBIC = "lambda x: tf.reduce_sum(x ** 3) + tf.reduce_sum(x) ** 2"
LOGSUMEXP = "lambda x: tf.reduce_logsumexp(x) + tf.reduce_sum(x ** 2)"
QUARTIC = "lambda x: tf.square(tf.nn.l2_loss(x))"  # (x·x)² / 4
LINEAR = "lambda x: 3.0 * tf.reduce_sum(x)"
# Higher derivatives so large that differences of gradients in float32 miss its Hessian.
WAVES = "lambda x: tf.reduce_sum(tf.sin(5.0 * x)) + tf.reduce_sum(x) ** 2"


def _softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


GRADIENTS = {
    CUBIC: lambda x: 3 * x**2 + 2 * x.sum(),
    LOGSUMEXP: lambda x: _softmax(x) + 2 * x,
    QUARTIC: lambda x: np.sum(x * x) * x,
    LINEAR: lambda x: np.full_like(x, 3.0),
    WAVES: lambda x: 5 * np.cos(5 * x) + 2 * x.sum(),
}
# On flat x: (n, n).
HESSIANS = {
    CUBIC: lambda x: np.diag(6 * x) + 2.0,
    LOGSUMEXP: lambda x: np.diag(_softmax(x) + 2) - np.outer(_softmax(x), _softmax(x)),
    QUARTIC: lambda x: x @ x * EYE(x.size) + 2 * np.outer(x, x),
    LINEAR: lambda x: np.zeros((x.size, x.size)),
    WAVES: lambda x: np.diag(-25 * np.sin(5 * x)) + 2.0,
}


def _flat(case):
    """The Hessian of the case's f at its x, as (n, n)."""
    return HESSIANS[case.inputs["f"].text](case.arrays["x"].ravel())


def hessian_truth(case):
    shape = case.arrays["x"].shape
    return {"value": _flat(case).reshape(shape + shape)}


def hessian_summed(case):
    return {"value": _flat(case).sum(axis=0).reshape(case.arrays["x"].shape)}


def hessian_flat(case):
    return {"value": _flat(case)} if case.arrays["x"].ndim != 1 else {}


def of_linear(case):
    """None where f is linear: its gradient is a constant, and no path leads back to x."""
    linear = isinstance(case.inputs.get("f"), Source) and case.inputs["f"].text == LINEAR
    return {"value": None} if linear else {}


def _scalar_case(rng, name, text, shape, part, modes=CALLED, dtype="float32", **more):
    inputs = {"f": Source(text), "x": draw.upstream(rng, shape, dtype), **more}
    return Case(name, inputs, part=part, modes=modes)


def hessian_cases(rng):
    return [
        _scalar_case(rng, "a matrix of shape (2, 3)", QUARTIC, (2, 3), "value", TRACED),
        _scalar_case(rng, "a linear function", LINEAR, (3,), "robust"),
        _scalar_case(rng, "a scalar in float64", QUARTIC, (), "robust", dtype="float64"),
    ]


# hessian_matrix -------------------------------------------------------------------------------

# Every operation in a loss costs a vectorised Jacobian 10 ms: so one for each variable.
# w·w/2 times b·b/2, and u·u/2 apart from them; with two variables both apart.
COUPLED = "lambda w, b, u: tf.nn.l2_loss(w) * tf.nn.l2_loss(b) + tf.nn.l2_loss(u)"
APART = "lambda w, u: tf.reduce_sum(tf.exp(w)) + tf.exp(u)"


def _parts_of(case):
    """Second derivatives by pairs of flat variables: w (row-major), b if there is one, u."""
    flat = {name: np.ravel(value) for name, value in case.arrays.items()}
    parts = {(p, q): np.zeros((flat[p].size, flat[q].size)) for p in flat for q in flat}
    if "b" not in flat:
        return parts | {(v, v): np.diag(np.exp(flat[v])) for v in flat}
    w, b, u = flat["w"], flat["b"], flat["u"]
    parts |= {("w", "w"): b @ b / 2 * EYE(w.size), ("b", "b"): w @ w / 2 * EYE(b.size)}
    return parts | {("w", "b"): np.outer(w, b), ("b", "w"): np.outer(b, w), ("u", "u"): EYE(u.size)}


def _assemble(case, order=None):
    parts, order = _parts_of(case), order or case.options["order"]
    return np.block([[parts[p, q] for q in order] for p in order])


def matrix_truth(case):
    return {"value": _assemble(case)}


def blocks_exchanged(case):
    """The variables in another order: reversed or sorted."""
    order = case.options["order"]
    others = [order[::-1], sorted(order)]
    return {"value": Either(*(_assemble(case, o) for o in others if o != order))}


def blocks_diagonal(case):
    if case.options["loss"] == APART:
        return {}
    parts = {k: v if k[0] == k[1] else 0 * v for k, v in _parts_of(case).items()}
    order = case.options["order"]
    return {"value": np.block([[parts[p, q] for q in order] for p in order])}


def column_major(case):
    """Each matrix flattened along its columns."""
    parts, order, w = _parts_of(case), case.options["order"], case.arrays["w"]
    places = {name: np.arange(case.arrays[name].size) for name in order}
    places["w"] = places["w"].reshape(w.shape).T.ravel()
    turned = {(p, q): v[np.ix_(places[p], places[q])] for (p, q), v in parts.items()}
    return {"value": np.block([[turned[p, q] for q in order] for p in order])}


def _matrix_case(rng, name, loss, shapes, part, dtype="float32"):
    inputs = {v: draw.upstream(rng, shape, dtype) for v, shape in sorted(shapes.items())}
    options = {"order": list(shapes), "loss": loss}
    return Case(name, inputs, part=part, modes=CALLED, options=options)


def matrix_cases(rng):
    three, two = {"w": (2, 3), "b": (3,), "u": (2,)}, {"u": (), "w": (2, 2)}
    return [
        _matrix_case(rng, "a kernel, a bias, a vector apart", COUPLED, three, "value"),
        _matrix_case(rng, "a scalar in front, float64", APART, two, "robust", "float64"),
    ]


# newton_step ----------------------------------------------------------------------------------


def _system(case):
    a, p = case.arrays, case.inputs
    n = a["x"].size
    return a["x"], a["gradient"].ravel(), a["hessian"].reshape(n, n), p["damping"]


def newton_truth(case):
    x, g, h, damping = _system(case)
    return {"value": x - np.linalg.solve(h + damping * EYE(g.size), g).reshape(x.shape)}


def newton_sign(case):
    x = case.arrays["x"]
    return {"value": 2 * x - newton_truth(case)["value"]}


def damping_forgotten(case):
    x, g, h, _ = _system(case)
    return _solved(x, g, h)


def damping_everywhere(case):
    x, g, h, damping = _system(case)
    return _solved(x, g, h + damping) if g.size > 1 else {}


def eigenvalues_positive(case):
    """The step with the eigenvalues' magnitudes."""
    x, g, h, damping = _system(case)
    sizes, basis = np.linalg.eigh(h)
    if sizes.min() > -0.1:
        return {}
    return _solved(x, g, (basis * np.abs(sizes)) @ basis.T + damping * EYE(g.size))


def _solved(x, g, matrix):
    """The step with this matrix; nothing is said where rounding alone decides."""
    if np.linalg.matrix_rank(matrix, tol=1e-3) < g.size:
        return {}
    return {"value": x - np.linalg.solve(matrix, g).reshape(x.shape)}


def unflattened(case):
    """The last two axes inverted as if they were the matrix."""
    x, _, _, damping = _system(case)
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        return {}
    h = case.arrays["hessian"] + damping * EYE(len(x))
    inverse = np.linalg.inv(h)
    return {"value": x - np.tensordot(inverse, case.arrays["gradient"], 2)}


def _newton_case(rng, name, shape, damping, part, dtype="float32", singular=False, bent=False):
    n = int(np.prod(shape))
    basis, _ = np.linalg.qr(rng.standard_normal((n, n)))
    sizes = rng.uniform(0.5, 3.0, n)
    if singular:
        sizes[: n // 2] = 0.0
    if bent:
        sizes[0] *= -1.0
    h = (basis * sizes) @ basis.T
    inputs = {
        "x": draw.normal(rng, shape, dtype),
        "gradient": draw.upstream(rng, shape, dtype),
        "hessian": ((h + h.T) / 2).reshape(shape + shape).astype(dtype),
        "damping": damping,
    }
    return Case(name, inputs, part=part, modes=CALLED)


def newton_cases(rng):
    return [
        _newton_case(rng, "a vector of four", (4,), 0.25, "value"),
        _newton_case(rng, "a square matrix", (2, 2), 0.5, "value"),
        _newton_case(rng, "a matrix of shape (2, 3)", (2, 3), 0.25, "value"),
        _newton_case(rng, "a singular Hessian", (4,), 0.5, "robust", singular=True),
        _newton_case(rng, "a scalar", (), 0.25, "robust"),
        _newton_case(
            rng, "a negative eigenvalue, float64", (3,), 0.125, "robust", "float64", bent=True
        ),
    ]


# hvp ------------------------------------------------------------------------------------------

HESSIAN_FORMED = "Hessian formed"


def hvp_truth(case):
    v = case.arrays["v"]
    value = {"value": (_flat(case) @ v.ravel()).reshape(v.shape)}
    return value | ({HESSIAN_FORMED: False} if case.part == "memory" else {})


def gradient_times_v(case):
    g, v = GRADIENTS[case.inputs["f"].text](case.arrays["x"]), case.arrays["v"]
    return Either(g * v, np.asarray(np.sum(g * v)))


def row_sums_times_v(case):
    v = case.arrays["v"]
    return _flat(case).sum(axis=0).reshape(v.shape) * v


def _pair_case(rng, name, text, shape, part, second, dtype="float32", stack=(), modes=CALLED):
    """f, x and a further argument of x's shape, or a stack of them."""
    size = (*stack, *shape)
    more = rng.choice([-1.0, 1.0], size) if second == "probes" else draw.upstream(rng, size)
    inputs = {"f": Source(text), "x": draw.upstream(rng, shape, dtype)}
    inputs[second] = np.asarray(more).astype(dtype)
    return Case(name, inputs, part=part, modes=modes)


def hvp_cases(rng):
    return [
        _pair_case(rng, "a vector of five", WAVES, (5,), "value", "v"),
        _pair_case(rng, "a matrix of shape (2, 3)", LOGSUMEXP, (2, 3), "value", "v",
                   modes=TRACED),
        _pair_case(rng, "the traced graph for n = 60", CUBIC, (60,), "memory", "v"),
        _pair_case(rng, "a linear function", LINEAR, (3,), "robust", "v"),
        _pair_case(rng, "a scalar", CUBIC, (), "robust", "v"),
        _pair_case(rng, "float64", LOGSUMEXP, (4,), "robust", "v", "float64"),
    ]  # fmt: skip


# hessian_norm ---------------------------------------------------------------------------------


def _differences(case, change=None):
    """(g(x + hz) − g(x − hz)) / 2h for each direction z."""
    a, h = case.arrays, case.inputs["h"]
    g = GRADIENTS[case.inputs["f"].text]
    rows = [(g(a["x"] + h * z), g(a["x"] - h * z), z) for z in a["directions"]]
    quotient = change or (lambda up, down, z: (up - down) / (2 * h))
    return np.array([quotient(*row).ravel() for row in rows])


def norm_truth(case):
    return {"value": np.sqrt(np.mean(np.sum(_differences(case) ** 2, axis=1)))}


def _norm_of(rows):
    return {"value": np.sqrt(np.mean(np.sum(rows**2, axis=1)))}


def bracket_lost(case):
    h = case.inputs["h"]
    return _norm_of(_differences(case, lambda up, down, z: up - down / (2 * h)))


def by_direction(case):
    """Divided by the random direction: the published formula, once its brackets are set."""
    h = case.inputs["h"]
    return _norm_of(_differences(case, lambda up, down, z: (up - down) / (2 * h * z)))


def mean_of_norms(case):
    return {"value": np.mean(np.sqrt(np.sum(_differences(case) ** 2, axis=1)))}


def one_h_lost(case):
    return _norm_of(_differences(case, lambda up, down, z: (up - down) / 2))


def entries_averaged(case):
    return {"value": np.sqrt(np.mean(_differences(case) ** 2))}


def _norm_case(rng, name, text, shape, h, part, modes=CALLED, dtype="float32"):
    directions = draw.upstream(rng, (2, *shape), dtype)
    return _scalar_case(rng, name, text, shape, part, modes, dtype, directions=directions, h=h)


def norm_cases(rng):
    return [
        _norm_case(rng, "a vector of four", CUBIC, (4,), 0.25, "value"),
        _norm_case(rng, "a matrix of shape (2, 3)", QUARTIC, (2, 3), 0.5, "value", TRACED),
        _norm_case(rng, "a scalar", CUBIC, (), 0.125, "robust"),
        _norm_case(rng, "float64", LOGSUMEXP, (3,), 0.0625, "robust", dtype="float64"),
    ]


# hutchinson_trace -----------------------------------------------------------------------------


def _quadratic(case):
    h = _flat(case)
    return np.array([z.ravel() @ h @ z.ravel() for z in case.arrays["probes"]])


def trace_truth(case):
    value = {"value": np.mean(_quadratic(case))}
    return value | ({HESSIAN_FORMED: False} if case.part == "memory" else {})


def normalised(case):
    return np.mean(_quadratic(case)) / case.arrays["x"].size


def true_trace(case):
    return np.trace(_flat(case))


def trace_cases(rng):
    two = {"second": "probes", "stack": (2,)}
    return [
        _pair_case(rng, "a vector of five, two probes", CUBIC, (5,), "value", **two),
        _pair_case(rng, "a matrix of shape (2, 3)", QUARTIC, (2, 3), "value", modes=TRACED, **two),
        _pair_case(rng, "the traced graph for n = 60", QUARTIC, (60,), "memory", **two),
        _pair_case(rng, "a linear function", LINEAR, (3,), "robust", **two),
        _pair_case(rng, "one probe of a scalar", CUBIC, (), "robust", "probes", stack=(1,)),
        _pair_case(rng, "float64", LOGSUMEXP, (4,), "robust", dtype="float64", **two),
    ]


# input_gradient_penalty -----------------------------------------------------------------------

NAMES = ("w1", "b1", "w2", "b2")


def _forward(case):
    a = case.arrays
    hidden = np.tanh(a["x"] @ a["w1"] + a["b1"])
    return hidden, hidden @ a["w2"] + a["b2"] - a["y"]


def _penalty(case, weigh, scale=None):
    """The gradients of penalty(dL/dx), reverse mode by hand; weigh: dL/dx to d(penalty)/d(dL/dx).

    L = scale · Σ (tanh(x w1 + b1) w2 + b2 − y)², scale 1/size for the mean.
    """
    a = case.arrays
    hidden, error = _forward(case)
    scale = 1 / error.size if scale is None else scale
    slope = 1 - hidden**2
    r = 2 * scale * error
    back = r @ a["w2"].T
    bar = weigh((back * slope) @ a["w1"].T)
    through = bar @ a["w1"]
    w1 = bar.T @ (back * slope)
    back_bar, hidden_bar = through * slope, through * back * (-2 * hidden)
    w2 = back_bar.T @ r
    error_bar = 2 * scale * (back_bar @ a["w2"])
    w2 = w2 + hidden.T @ error_bar
    pre = (hidden_bar + error_bar @ a["w2"].T) * slope
    w1 = w1 + a["x"].T @ pre
    found = (w1, pre.sum(0), w2, error_bar.sum(0))
    return {f"gradient[{i}]": g for i, g in enumerate(found)}


def _whole(gradient):
    return gradient / np.sqrt(np.sum(gradient**2))


def penalty_truth(case):
    return _penalty(case, _whole)


def by_row(case):
    """The sum or the mean of the rows' norms."""

    def rows(g):
        return g / np.sqrt(np.sum(g**2, axis=1, keepdims=True))

    summed = _penalty(case, rows)
    count = len(case.arrays["x"])
    return {k: Either(v, v / count) for k, v in summed.items()} if count > 1 else {}


def squared(case):
    return _penalty(case, lambda g: 2 * g)


def summed_loss(case):
    return _penalty(case, _whole, 1.0)


def of_the_loss(case):
    """The ordinary gradients of the loss."""
    a = case.arrays
    hidden, error = _forward(case)
    r = 2 * error / error.size
    pre = (r @ a["w2"].T) * (1 - hidden**2)
    found = (a["x"].T @ pre, pre.sum(0), hidden.T @ r, r.sum(0))
    return {f"gradient[{i}]": g for i, g in enumerate(found)}


def _penalty_case(rng, name, batch, ins, hidden, outs, part, modes, dtype="float32"):
    shapes = {"x": (batch, ins), "y": (batch, outs), "w1": (ins, hidden), "b1": (hidden,)}
    shapes |= {"w2": (hidden, outs), "b2": (outs,)}
    inputs = {k: draw.normal(rng, shape, dtype) for k, shape in shapes.items()}
    return Case(name, inputs, part=part, modes=modes)


def penalty_cases(rng):
    return [
        _penalty_case(rng, "six rows, one hidden layer", 6, 3, 4, 1, "gradient", TRACED),
        _penalty_case(rng, "one row", 1, 3, 3, 2, "robust", CALLED),
        _penalty_case(rng, "three outputs, float64", 5, 2, 3, 3, "robust", CALLED, "float64"),
    ]


FORMS = Mistake(
    "forms the Hessian",
    "The graph holds a tensor with n² entries: the whole Hessian. Differentiate the inner product "
    "of gradient and vector instead; that costs no more than a few gradients.",
    lambda case: {HESSIAN_FORMED: True} if case.part == "memory" else {},
)
NO_PATH = Mistake(
    "none for a linear function",
    "The gradient of a linear `f` is a constant, so no path leads from it back to `x`, and the "
    'tape returns None. Its second derivative is zero: use `unconnected_gradients="zero"` or '
    "zeros.",
    of_linear,
)

INSIDE_OUT = Mistake(
    "second tape inside-out",
    "None comes for every `f`: the first gradient was taken after the outer tape's block, so that "
    "tape never saw it. Take it inside.",
    lambda case: {"value": None},
)
ALL_ZERO = Mistake(
    "taken outside the tape",
    "Everything is zero. What you differentiate was computed after the tape's block, or `x` is not "
    'watched, and `unconnected_gradients="zero"` makes zeros of the None.',
    pattern="zeros",
)

TAKEN_FOR_POSITIVE = (
    "An eigenvalue of the Hessian is negative here, and stays so with the damping. Solve the "
    "system as it is. A Cholesky factorisation does not take it, and with the magnitudes of the "
    "eigenvalues it is another step."
)

EXERCISES = [
    Exercise(
        id="jacobian_by_rows",
        probe="value",
        cases=jacobian_cases,
        truth=jacobian_truth,
        parts={"value": 3, "robust": 1},
        hints=(
            "Row i of the Jacobian is the gradient of the i-th entry of `y = f(x)`. Flatten `y` "
            "inside the tape, and ask a persistent tape for the gradient of each entry.",
            "The entries must be made inside the tape: `flat = tf.reshape(f(x), [-1])`, then "
            "`tf.unstack(flat)`. Outside it they are not recorded.",
            '`rows = [tape.gradient(e, x, unconnected_gradients="zero") for e in entries]`; stack '
            "them and reshape to `y.shape + x.shape`.",
        ),
        mistakes=(
            Mistake(
                "transposed",
                "You put the source's axes first. A Jacobian has the target's shape, then the "
                "source's: row i belongs to output i.",
                source_first,
            ),
            Mistake(
                "gradient of the sum",
                "`tape.gradient` of a whole `y` sums over its entries. One gradient per entry is "
                "asked.",
                summed_targets,
            ),
            Mistake(
                "none for an unconnected target",
                "`tape.gradient` returns None for an entry that does not depend on `x`. The "
                'Jacobian is zero there: `unconnected_gradients="zero"`. If that makes every entry '
                "zero, the entries were picked after the tape's block.",
                raises="None|convert a value",
            ),
            ALL_ZERO,
        ),
        reread="One row at a time",
        also=(
            "With a one-hot upstream gradient `e` of `y`'s shape: `tape.gradient(y, x, "
            "output_gradients=e)`. Then nothing has to be unstacked inside the tape."
        ),
    ),
    Exercise(
        id="kernel_jacobian",
        cases=kernel_cases,
        truth=kernel_truth,
        parts={"value": 2, "robust": 1},
        probe="kernel_jacobian",
        hints=(
            "`layer.kernel` is a variable; the tape watches it by itself. Call the layer inside.",
            "`tape.jacobian(y, layer.kernel)` has the shape of `y`, then that of the kernel.",
        ),
        mistakes=(
            Mistake(
                "transposed",
                "These are the right numbers in another order of axes. First the target (batch, "
                "out), then the source (in, out).",
                lambda case: {
                    "value": Either(
                        *(
                            kernel_truth(case)["value"].transpose(axes)
                            for axes in ((2, 3, 0, 1), (2, 0, 1, 3), (1, 0, 2, 3), (0, 1, 3, 2))
                        )
                    )
                },
            ),
            Mistake(
                "gradient of the sum",
                "This is `tape.gradient`: the Jacobian, summed over its target axes. Use "
                "`tape.jacobian`.",
                kernel_summed,
            ),
            Mistake(
                "another source",
                "These are derivatives to the input, or only the blocks that are not zero. The "
                "whole Jacobian to `layer.kernel` is asked.",
                kernel_outputs,
            ),
            Mistake(
                "outputs taken apart",
                "You take each output for a function of its own column of the kernel. That holds "
                "for `tanh` and the like; `softmax` mixes the columns. `tape.jacobian` makes no "
                "guess.",
                kernel_apart,
            ),
        ),
        reread="tape.jacobian",
        also=(
            "A list of sources gives a list: `tape.jacobian(y, layer.trainable_variables)[0]`, "
            "which makes the bias's Jacobian besides."
        ),
    ),
    Exercise(
        id="per_example_jacobian",
        cases=per_example_cases,
        truth=per_example_truth,
        parts={"value": 2, "memory": 2, "robust": 1},
        probe="per_example",
        hints=(
            "Row b of `y` depends on row b of `x` only. So the gradient of the sum over the batch "
            "of output o holds row o of every example's Jacobian at once.",
            "There is a tape method that does this: it takes `y` and `x` and returns (b, outs, "
            "ins).",
            "`tape.batch_jacobian(y, x)`. By hand: one `tape.gradient` for each column `y[:, o]`, "
            "stacked along axis 1.",
        ),
        mistakes=(
            Mistake(
                "sum over the wrong axis",
                "The full Jacobian is (b, outs, b, ins). To get (b, outs, ins), the second of the "
                "two batch axes must go.",
                wrong_axis,
            ),
            Mistake(
                "transposed",
                "You return (b, ins, outs): outputs come before inputs.",
                lambda case: {"value": per_example_truth(case)["value"].transpose(0, 2, 1)},
            ),
            Mistake(
                "full Jacobian",
                "The values are right, but the graph holds all (b, outs, b, ins) entries, almost "
                "all of them zero. That is what runs out of memory.",
                lambda case: {FORMED: True} if case.part == "memory" else {},
            ),
        ),
        reread="A batch of Jacobians",
        also=(
            "One gradient per output: unstack the columns of `y` inside a persistent tape, and "
            "stack `tape.gradient(column, x)` along axis 1. A loop over outs, where "
            "`batch_jacobian` is vectorised."
        ),
    ),
    Exercise(
        id="rows_are_independent",
        probe="value",
        cases=independent_cases,
        truth=independent_truth,
        parts={"value": 3, "robust": 1},
        hints=(
            "Here the full Jacobian (b, outs, b, ins) is the right tool: for a small batch. Look "
            "at the blocks that join different examples.",
            "Move the batch axes together, and take the largest magnitude where they differ. "
            "Compare it with something below 1e-4.",
            "`J = tape.jacobian(y, x)`, None counts as zeros; `off = tf.einsum('bocj->bcoj', J)` "
            "where b is not c; `return bool(max |off| < 1e-5)`.",
        ),
        mistakes=(
            Mistake(
                "coupling missed",
                "A coupled function came through as independent. Look at every block that joins "
                "two different examples, above and below the diagonal, and at its magnitude.",
                lambda case: {"value": True},
            ),
            Mistake(
                "independent called coupled",
                "An independent function was called coupled. Only the blocks of different examples "
                "count, and exact zeros there are no coupling.",
                lambda case: {"value": False},
            ),
            Mistake(
                "none for a constant function",
                "A constant function has no Jacobian on the tape, which returns None. No coupling: "
                "True.",
                raises="NoneType|None values",
            ),
        ),
        reread="Where the shortcut lies",
        also=(
            "Without a tape: move one entry of `x` at a time, and look whether another row of "
            "`f(x)` changes. That is one call of `f` per entry, and measures changes, not "
            "derivatives."
        ),
    ),
    Exercise(
        id="hessian",
        probe="value",
        cases=hessian_cases,
        truth=hessian_truth,
        parts={"value": 3, "robust": 1},
        hints=(
            "The Hessian is the Jacobian of the gradient: an inner tape for the gradient, and the "
            "outer one recording it.",
            "Take the inner gradient inside the outer tape's block, and the `jacobian` after it.",
            '`outer.jacobian(g, x, unconnected_gradients="zero")`, and watch `x` on both tapes.',
        ),
        mistakes=(
            Mistake(
                "gradient of a sum",
                "`outer.gradient` sums the rows of the Hessian. For all of it use "
                "`outer.jacobian`.",
                hessian_summed,
            ),
            NO_PATH,
            INSIDE_OUT,
            ALL_ZERO,
            Mistake(
                "flattened",
                "The numbers are right, as an (n, n) matrix. Asked is `x.shape + x.shape`.",
                hessian_flat,
            ),
        ),
        reread="The Hessian",
        also=(
            "Row by row: a persistent outer tape, the flattened gradient unstacked inside it, and "
            "one `outer.gradient` per entry. Slower than `jacobian`, which is vectorised."
        ),
    ),
    Exercise(
        id="hessian_matrix",
        cases=matrix_cases,
        truth=matrix_truth,
        parts={"value": 3, "robust": 1},
        probe="hessian_matrix",
        hints=(
            "The gradient is a list with one tensor per variable. Flatten and join it inside the "
            "outer tape, to one vector of n entries.",
            "The outer `jacobian` of that vector to the list gives one block of columns per "
            "variable: n rows, then the variable's shape.",
            "`joined = tf.concat([tf.reshape(g, [-1]) for g in grads], 0)`; `blocks = "
            'outer.jacobian(joined, variables, unconnected_gradients="zero")`; reshape each to '
            "(n, -1) and join along axis 1.",
        ),
        mistakes=(
            Mistake(
                "blocks in the wrong place",
                "The blocks are right and stand in another order. They follow the order of "
                "`variables`, in rows and columns.",
                blocks_exchanged,
            ),
            Mistake(
                "diagonal blocks only",
                "You have the Hessian of each variable alone. The mixed derivatives between two "
                "variables are missing.",
                blocks_diagonal,
            ),
            Mistake(
                "column-major",
                "A matrix was flattened along its columns. `tf.reshape` runs along the rows.",
                column_major,
            ),
            Mistake(
                "none for an unconnected block",
                "Two variables that never meet have no mixed derivative on the tape: None, where "
                'zeros belong. Use `unconnected_gradients="zero"`.',
                raises="None|convert a value",
            ),
            ALL_ZERO,
        ),
        reread="Several variables, one matrix",
        also=(
            "Block by block, with a persistent outer tape: `outer.jacobian(g, q, "
            'unconnected_gradients="zero")` for every pair of variables, each reshaped to a '
            "matrix. More calls, and nothing to join inside the tape."
        ),
    ),
    Exercise(
        id="newton_step",
        probe="value",
        cases=newton_cases,
        truth=newton_truth,
        parts={"value": 3, "robust": 1},
        tolerance=20.0,
        hints=(
            "A linear system has a matrix and a vector. Reshape the Hessian to (n, n) and the "
            "gradient to (n, 1), n being the number of entries of `x`.",
            "Add `damping * tf.eye(n, dtype=x.dtype)` to the matrix; then `tf.linalg.solve`.",
            "`x - tf.reshape(tf.linalg.solve(H + damping * I, g), x.shape)`.",
        ),
        mistakes=(
            Mistake(
                "inverse of the unflattened",
                "You inverted the last two axes of the unflattened Hessian. The matrix to invert "
                "has one row per entry of `x`: reshape to (n, n) first.",
                unflattened,
            ),
            Mistake(
                "inverse of the unflattened",
                "The last two axes of the unflattened Hessian are not the matrix; here they are "
                "not even square. Reshape it to (n, n) first.",
                raises="must be square|square matri|must be equal, but are",
            ),
            Mistake(
                "damping forgotten",
                "`damping` is not added to the diagonal. Where the Hessian is singular there is "
                "no step without it.",
                damping_forgotten,
            ),
            Mistake(
                "damping forgotten",
                "The Hessian is singular here, and `damping` was to save it: add it to the "
                "diagonal.",
                raises="not invertible",
            ),
            Mistake(
                "damping everywhere",
                "`damping` was added to every entry of the Hessian. It belongs on the diagonal: "
                "`damping` times the identity.",
                damping_everywhere,
            ),
            Mistake(
                "eigenvalues taken for positive",
                TAKEN_FOR_POSITIVE,
                eigenvalues_positive,
            ),
            Mistake(
                "eigenvalues taken for positive",
                TAKEN_FOR_POSITIVE,
                pattern="nan",
                part="robust",
            ),
            Mistake(
                "sign",
                "The step goes uphill: subtract it.",
                newton_sign,
            ),
        ),
        reread="A step of Newton's",
        also=(
            "`tf.linalg.lu_solve(*tf.linalg.lu(h), g)`, `h` being the damped matrix. By Cholesky "
            "it takes less work, where all eigenvalues of `h` are positive; here one may be "
            "negative."
        ),
    ),
    Exercise(
        id="hvp",
        cases=hvp_cases,
        truth=hvp_truth,
        parts={"value": 3, "memory": 2, "robust": 1},
        probe="hvp",
        hints=(
            "H v is the gradient of the number g·v, `g` being the gradient of `f`. No matrix "
            "occurs.",
            "Take `g` inside the outer tape. Then `outer.gradient(g, x, output_gradients=v)` is "
            "exactly the gradient of the sum of g · v.",
            'Add `unconnected_gradients="zero"` for linear `f`, and watch `x` on both tapes.',
        ),
        mistakes=(
            FORMS,
            NO_PATH,
            INSIDE_OUT,
            ALL_ZERO,
            Mistake(
                "first derivative only",
                "This is the gradient times `v`. One more derivative is asked.",
                lambda case: {"value": gradient_times_v(case)},
            ),
            Mistake(
                "row sums times v",
                "You took the gradient of the gradient's sum, and multiplied by `v` afterwards. "
                "`v` must weigh the gradient before the second derivative.",
                lambda case: {"value": row_sums_times_v(case)},
            ),
        ),
        reread="The product without the matrix",
        also=(
            "Forward over reverse: `tf.autodiff.ForwardAccumulator(x, v)` in place of the outer "
            "tape, then `forward.jvp(g)`. For a linear `f` it gives None, which has to become "
            "zeros."
        ),
    ),
    Exercise(
        id="hessian_norm",
        probe="value",
        cases=norm_cases,
        truth=norm_truth,
        parts={"value": 3, "robust": 1},
        tolerance=10.0,
        hints=(
            "Write a small function `g(point)` that watches the `point`, computes `f(point)` and "
            "takes the gradient. The tape must see `f` at that point.",
            "For each `z`: `(g(x + h*z) - g(x - h*z)) / (2*h)`, with brackets around the "
            "difference.",
            "Sum the squares over the entries of `x`, take the mean over the directions, then the "
            "root.",
        ),
        mistakes=(
            Mistake(
                "gradient is None",
                "The value was computed at `x`, and the gradient asked at x + h·z, which it does "
                "not depend on. Compute `f` anew at the moved point, inside the tape.",
                raises="NoneType|None values",
            ),
            Mistake(
                "bracket",
                "Only the second gradient is divided: brackets around the difference.",
                bracket_lost,
            ),
            Mistake(
                "divided by the direction",
                "You divide by the random direction, entry by entry. That is no norm: each entry "
                "becomes (H z) / z, and z is sometimes close to zero. Divide by 2h.",
                by_direction,
            ),
            Mistake(
                "mean of the norms",
                "You average the lengths. The root of the mean square is asked; that is the one "
                "which tends to the Frobenius norm.",
                mean_of_norms,
            ),
            Mistake(
                "h lost",
                "The difference is divided by 2, not by 2h.",
                one_h_lost,
            ),
            Mistake(
                "entries averaged",
                "The mean runs over directions and entries. Sum over the entries.",
                entries_averaged,
            ),
        ),
        reread="How large is the Hessian",
        also="`tf.norm(d) ** 2` in place of the sum of squares, the same but for the last digits.",
    ),
    Exercise(
        id="hutchinson_trace",
        cases=trace_cases,
        truth=trace_truth,
        parts={"value": 3, "memory": 2, "robust": 1},
        probe="hutchinson",
        hints=(
            "zᵀHz needs one Hessian-vector product per probe, no matrix.",
            "For each `z` of `tf.unstack(probes)`: `tf.reduce_sum(z * H z)`, where H z comes from "
            "two tapes as in `hvp`. Then the mean.",
        ),
        mistakes=(
            FORMS,
            Mistake(
                "normalised by norm",
                "You divide by zᵀz, or each probe by its norm. That makes a mean eigenvalue; the "
                "trace is their sum.",
                lambda case: {
                    "value": Either(normalised(case), normalised(case) / len(case.arrays["probes"]))
                },
            ),
            Mistake(
                "the trace itself",
                "This is the exact trace, not the estimate from the probes that were given.",
                lambda case: {"value": true_trace(case)},
            ),
            Mistake(
                "sum over the probes",
                "You sum over the probes; the mean is asked.",
                lambda case: {"value": np.sum(_quadratic(case))},
            ),
            Mistake(
                "none for a linear function",
                "The gradient of a linear `f` is not connected to `x`, and the second derivative "
                'comes as None. It is zero: `unconnected_gradients="zero"`. If that makes every '
                "trace zero, the first gradient was taken after the outer tape's block.",
                raises="NoneType|None values",
            ),
            ALL_ZERO,
        ),
        reread="The trace from a few probes",
        also=(
            "The product first: `hz = outer.gradient(g, x, output_gradients=z, "
            'unconnected_gradients="zero")`, then `tf.reduce_sum(z * hz)`.'
        ),
    ),
    Exercise(
        id="input_gradient_penalty",
        cases=penalty_cases,
        truth=penalty_truth,
        parts={"gradient": 3, "robust": 1},
        probe="penalty",
        tolerance=10.0,
        hints=(
            "Two tapes: the inner one watches `x` and gives the input gradient, the outer one "
            "gives the gradients of its norm to the variables.",
            "Everything up to the norm must happen inside the outer tape's block: the inner "
            "gradient, and `tf.norm` of it.",
            "`with outer: with inner:` watch `x`, loss; then `g = inner.gradient(loss, x)`; `size "
            "= tf.norm(g)`. After the block: `outer.gradient(size, model.trainable_variables)`.",
        ),
        mistakes=(
            Mistake(
                "second tape inside-out",
                "The gradients are None: the norm was computed outside the outer tape's block, so "
                "that tape never saw it. Take the inner gradient and its norm inside.",
                pattern="none",
            ),
            Mistake(
                "x not watched",
                "The inner gradient is None: `x` is a constant, and the inner tape was not told to "
                "watch it.",
                raises="None values not supported|NoneType",
            ),
            Mistake(
                "norm of each row",
                "You took the norm of each row and added or averaged. One norm over all of `x` is "
                "asked.",
                by_row,
            ),
            Mistake(
                "squared norm",
                "This is the gradient of the squared norm.",
                squared,
            ),
            Mistake(
                "sum for mean",
                "The loss is a mean over all entries; yours is their sum.",
                summed_loss,
            ),
            Mistake(
                "gradient of the loss",
                "These are the gradients of the loss itself. Asked are those of the norm of its "
                "gradient to `x`.",
                of_the_loss,
            ),
        ),
        reread="A gradient in the loss",
        also=(
            "One persistent tape can do both, if `tape.gradient(loss, x)` and its norm stand "
            "inside its own block: then it records the gradient, too, which is what is wanted "
            "here."
        ),
    ),
]
