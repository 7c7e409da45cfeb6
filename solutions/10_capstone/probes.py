"""Probes of chapter 10: they run the learner's training code; what is right they do not know."""

import numpy as np
import tensorflow as tf

from grader.contract import Case
from grader.probe.modes import MODES, compile_source


def labels(answer, case, mode):
    """A predictor: the labels it gives to images of shape (n, 8, 8)."""
    given = answer(tf.constant(case.inputs["images"]))
    if given is None or type(given).__name__ == "Blank":
        return {"value": given, "form": given}
    found = np.asarray(given)
    return {"value": found, "form": _form(found, len(case.inputs["images"]))}


def _form(found, n):
    """What the shape says of it, and of numbers in the right shape whether they are labels."""
    if found.shape == (n,):
        digits = np.mean(np.isin(found, np.arange(10)))
        return "one label per image" if digits > 0.5 else "no labels"
    if found.shape == (10,):
        return "one number per digit"
    if found.ndim != 2 or len(found) != n:
        return "another shape"
    return "a column" if found.shape[1] == 1 else "a row per image"


def _model(options):
    """A small Keras model with the case's kernels and biases, relu between the layers."""
    count = sum(name.startswith("kernel") for name in options)
    sizes = [options[f"bias {i}"].size for i in range(count)]
    last = len(sizes) - 1
    layers = [tf.keras.layers.Dense(n, "relu" if i < last else None) for i, n in enumerate(sizes)]
    model = tf.keras.Sequential(layers)
    model.build((None, options["kernel 0"].shape[0]))
    for i, layer in enumerate(layers):
        layer.set_weights([options[f"kernel {i}"], options[f"bias {i}"]])
    return model


def _loss(model, x, y):
    scores = model(x)
    return float(tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores)))


def pruning(answer, case, mode):
    """prune_and_tune: where the zeros are afterwards, and whether the rest has learned."""
    options = case.options
    model, x, y = _model(options), tf.constant(options["x"]), tf.constant(options["y"], tf.int32)
    returned = answer(model, x, y, float(options["keep"]))
    if type(returned).__name__ == "Blank":
        return {"loss": returned}
    after = [[np.asarray(w) for w in layer.get_weights()] for layer in model.layers]
    zeros = {f"zeros in kernel {i}": (k == 0).astype(np.int64) for i, (k, _) in enumerate(after)}
    kernels = [_moved(k, options[f"kernel {i}"]) for i, (k, _) in enumerate(after)]
    biases = [_moved(b, options[f"bias {i}"]) for i, (_, b) in enumerate(after)]
    some = "tuned in some kernels" if any(kernels) else "as they were"
    whole = all(np.all(bias != 0) for _, bias in after)
    low = _loss(model, x, y) <= options["enough"]
    other = "nothing" if returned is None else "something else"
    return {
        **zeros,
        "kept entries": "tuned" if all(kernels) else some,
        "biases": ("tuned" if all(biases) else "as they were") if whole else "pruned",
        "loss": "as low as after five epochs" if low else "higher than after five epochs",
        "returned": "the model" if returned is model else other,
    }


def _moved(after, before):
    """Whether an entry that stays has moved by more than a third of Adam's first step."""
    return bool(np.any(np.abs(after - before)[after != 0] > 1e-3))


def newton(answer, case, mode):
    """newton_cg_step: the new x, with the size of what it builds, or a race against Adam."""
    ask = case.options["ask"]
    if ask == "memory":
        return _memory(answer, case)
    if ask == "adam":
        return _against_adam(answer)
    bare = Case(case.name, case.inputs, modes=case.modes, wants=("value",))
    return MODES[mode](answer, bare)


def _memory(answer, case):
    f, x = compile_source(case.inputs["f"]), tf.constant(case.inputs["x"])
    k, damping = case.inputs["iterations"], case.inputs["damping"]
    step = tf.function(lambda at: answer(f, at, k, damping)).get_concrete_function(x)
    largest = _largest(step.graph, set())
    # The value, too: what computes nothing builds nothing large.
    return {"value": step(x), "forms the Hessian": bool(largest >= x.shape[0] ** 2)}


def _largest(graph, seen):
    """The number of entries of the largest tensor in a graph and the functions it calls."""
    sizes = [0]
    for op in graph.get_operations():
        sizes += [t.shape.num_elements() or 0 for t in op.outputs if t.shape.rank is not None]
        for name in _called(op):
            if name not in seen:
                seen.add(name)
                inner = graph._get_function(name)
                if inner is not None and getattr(inner, "graph", None) is not None:
                    sizes.append(_largest(inner.graph, seen))
    return max(sizes)


def _called(op):
    for value in op.node_def.attr.values():
        if value.HasField("func"):
            yield value.func.name
        for function in value.list.func:
            yield function.name


def _problem():
    """Ridge regression in 20 unknowns, long and narrow along directions that are no axes.

    The inputs, their gradient for Adam in NumPy, and the loss for the learner's function.
    """
    random = np.random.default_rng(0)
    turned, _ = np.linalg.qr(random.normal(size=(20, 20)))
    x = random.normal(size=(200, 20)) * np.geomspace(0.1, 3, 20)
    y = x @ (random.normal(size=20) / np.geomspace(0.1, 3, 20)) + random.normal(size=200)
    x = x @ turned
    inputs, outputs = tf.constant(x, tf.float32), tf.constant(y[:, None], tf.float32)

    def loss(w):
        off = tf.matmul(inputs, tf.reshape(w, [20, 1])) - outputs
        return tf.nn.l2_loss(off) / 200.0 + 2e-4 * tf.nn.l2_loss(w)

    return loss, lambda w: x.T @ (x @ w - y) / 200 + 2e-4 * w


def _against_adam(answer):
    """One step of six products, two gradients each, against as many steps of Adam."""
    loss, gradient = _problem()
    w = answer(loss, tf.zeros(20), 6, 1e-3)
    if w is None or type(w).__name__ == "Blank":
        return {"lower loss than Adam": w}
    return {"lower loss than Adam": bool(loss(w) < loss(_adam(gradient, 1 + 2 * 6)))}


def _adam(gradient, steps, rate=0.1):
    """Where Adam stands after so many steps from zero."""
    w, m, v = np.zeros((3, 20))
    for t in range(1, steps + 1):
        g = gradient(w)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-7)
    return tf.constant(w, tf.float32)
