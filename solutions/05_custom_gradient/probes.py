"""How the exercises of this chapter are run: what a plain call with a tape does not show."""

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from grader.probe.modes import MODES, tensors

FACTORISATIONS = frozenset(
    "Lu Cholesky Qr Svd Eig SelfAdjointEigV2 MatrixInverse MatrixSolve MatrixSolveLs "
    "MatrixDeterminant LogMatrixDeterminant TridiagonalSolve".split()
)
IN_NUMPY = frozenset(("PyFunc", "PyFuncStateless", "EagerPyFunc"))


def factorising(answer, case, mode):
    """Value and gradients; where the case asks for it, how often a matrix is factorised."""
    if case.options.get("count"):
        return {"factorisations": float(factorisations(answer, *tensors(case).values()))}
    return MODES[mode](answer, case)


def factorisations(f, matrix, rhs):
    """The factorisations in one traced graph of forward and backward pass together."""

    def both(matrix, rhs):
        with tf.GradientTape() as tape:
            tape.watch([matrix, rhs])
            x = f(matrix, rhs)
        return tape.gradient(x, [matrix, rhs])

    traced = tf.function(both).get_concrete_function(matrix, rhs).graph.as_graph_def()
    bodies = {f.signature.name: f.node_def for f in traced.library.function}
    return _count(traced.node, bodies)


def _count(nodes, bodies):
    found = sum(node.op in FACTORISATIONS for node in nodes)
    for node in nodes:
        for attr in node.attr.values():
            called = [attr.func.name] if attr.HasField("func") else [f.name for f in attr.list.func]
            found += sum(_count(bodies[name], bodies) for name in called)
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
    seen = {}

    def converted(x):
        y = answer(x)
        note(x, y)
        return y

    @tf.autograph.experimental.do_not_convert
    def note(x, y):
        if tf.is_tensor(y) and not tf.executing_eagerly():
            known = y.shape.rank is not None and y.shape.is_fully_defined()
            seen["static shape"] = "kept" if known and y.shape == x.shape else "lost"
            types = {op.type for op in tf.compat.v1.get_default_graph().get_operations()}
            seen["runs in NumPy"] = bool(types & IN_NUMPY)

    return MODES[mode](converted, case) | seen


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
