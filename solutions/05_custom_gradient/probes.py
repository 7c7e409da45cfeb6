"""How the exercises of this chapter are run: what a plain call with a tape does not show."""

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from grader.probe.graphs import behind
from grader.probe.modes import MODES, tensors

FACTORISATIONS = frozenset(
    "Lu Cholesky Qr Svd Eig SelfAdjointEigV2 MatrixInverse MatrixSolve MatrixSolveLs "
    "MatrixDeterminant LogMatrixDeterminant TridiagonalSolve".split()
)
IN_NUMPY = frozenset(("PyFunc", "PyFuncStateless", "EagerPyFunc"))


def maybe_squared(answer, case, mode):
    """Value and derivatives of the answer; where the case asks for it, of the answer's square."""

    def after(x):
        y = answer(x)
        return y * y if tf.is_tensor(y) else y

    return MODES[mode](after if case.options.get("squared") else answer, case)


def factorising(answer, case, mode):
    """Value and gradients; where the case asks for it, how often a matrix is factorised."""
    if case.options.get("count"):
        found = factorisations(answer, *tensors(case).values())
        kept = "LU" if set(found) <= {"Lu"} else "another factorisation"
        return {"factorisations": float(len(found)), "factors": kept}
    return MODES[mode](answer, case)


def factorisations(f, matrix, rhs):
    """The types of the factorisations in one traced graph of forward and backward pass together."""

    def both(matrix, rhs):
        with tf.GradientTape() as tape:
            tape.watch([matrix, rhs])
            x = f(matrix, rhs)
        return tape.gradient(x, [matrix, rhs])

    traced = tf.function(both).get_concrete_function(matrix, rhs).graph.as_graph_def()
    bodies = {f.signature.name: f.node_def for f in traced.library.function}
    return _listed(traced.node, bodies)


def _listed(nodes, bodies):
    found = [node.op for node in nodes if node.op in FACTORISATIONS]
    for node in nodes:
        for attr in node.attr.values():
            called = [attr.func.name] if attr.HasField("func") else [f.name for f in attr.list.func]
            found += [op for name in called for op in _listed(bodies[name], bodies)]
    return found


def iterating(answer, case, mode):
    """Value and gradient to theta; of the gradient to the starting point only what it is."""
    answers = MODES[mode](answer, case)
    start = answers.pop("gradient:x0", None)
    if "gradient" in case.wants:
        still = start is None or not np.any(np.asarray(start))
        answers["gradient to x0"] = "none or zero" if still else "through the iterations"
    return answers


def leaving_tensorflow(answer, case, mode):
    """Value and gradient; where it is traced, the static shape and whether NumPy does the work."""
    answers = MODES[mode](answer, case)
    if mode == "outside" and "value" in case.wants:
        (x,) = tensors(case).values()
        traced = tf.function(answer).get_concrete_function(x)
        answers["static shape"] = "kept" if traced.output_shapes.is_fully_defined() else "lost"
        answers["runs in NumPy"] = any(
            node.op in IN_NUMPY for node in behind(traced.graph, traced.outputs)
        )
    return answers


class Doubtful(tf.Module):
    """A module whose one op claims another derivative than its own."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        """x squared, with a gradient of its own."""

        @tf.custom_gradient
        def squared(x):
            return x * x, lambda upstream: self.factor * upstream

        return squared(x)


def exporting(answer, case, mode):
    """What lies at the path after the export, and what the loaded module computes."""
    from tensorflow.core.protobuf import saved_model_pb2

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved")
        answer(Doubtful(case.options["factor"]), str(path))
        file = path / "saved_model.pb"
        if not file.is_file():
            return {"saved model": "not found", "custom gradients": "missing"}
        saved = saved_model_pb2.SavedModel()
        saved.ParseFromString(file.read_bytes())
        rules = saved.meta_graphs[0].graph_def.library.registered_gradients
        loaded = tf.saved_model.load(str(path))
        return {
            "saved model": "found",
            "custom gradients": "saved" if rules else "missing",
            "value": loaded(tensors(case)["x"]),
        }
