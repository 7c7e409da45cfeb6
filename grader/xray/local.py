"""The local test of one operation: its vector-Jacobian product, as the tape computes it.

The registry alone cannot tell: Floor is registered, and its gradient function returns None.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from grader.xray.graphs import GraphRunner
from grader.xray.record_types import Memo, Node, Recording


class Unseen(Exception):
    """The product cannot be computed a second time, and was not seen the first time."""


def is_trainable(tensor: Any) -> bool:
    """Whether TensorFlow lets a gradient flow to tensors of this dtype."""
    import tensorflow as tf

    dtype = tensor.dtype
    return bool(dtype.is_floating or dtype.is_complex or dtype in (tf.resource, tf.variant))


def vjp(node: Node, grads: Sequence[Any]) -> list[Any]:
    """Gradients of a node's inputs for those of its outputs (None where there is none).

    Raises LookupError where no gradient is registered, Unseen where it cannot be repeated.
    """
    if node.kind in ("unrecorded", "python"):
        return [None] * len(node.inputs)
    if node.backward is not None:
        return _seen(node)
    if node.kind == "call":
        raise Unseen
    filled = [_filled(g, t) for g, t in zip(grads, node.outputs, strict=True)]
    found = _in_graph(node, filled) if node.graph_op is not None else _by_registry(node, filled)
    return [g if is_trainable(t) else None for g, t in zip(found, node.inputs, strict=False)] + [
        None
    ] * (len(node.inputs) - len(found))


def _seen(node: Node) -> list[Any]:
    answer = node.backward.seen if node.backward is not None else None
    if answer is None:
        raise Unseen
    return [*answer, *[None] * len(node.inputs)][: len(node.inputs)]


def _filled(grad: Any, output: Any) -> Any:
    """Zeros for an output that nothing depends on, as the tape does."""
    import tensorflow as tf

    if grad is not None or output.dtype in (tf.variant, tf.resource, tf.string):
        return grad
    return tf.zeros_like(output)


def _by_registry(node: Node, grads: list[Any]) -> list[Any]:
    from tensorflow.python.eager import backprop

    found = backprop._gradient_function(
        node.type, node.attrs, len(node.inputs), node.inputs, node.outputs, grads, (), ""
    )
    return list(found) if isinstance(found, list | tuple) else [found]


def _in_graph(node: Node, grads: list[Any]) -> list[Any]:
    """An overridden operation: `tf.gradients` on the real operation, run on the recorded values."""
    import tensorflow as tf
    from tensorflow.python.framework import func_graph
    from tensorflow.python.ops import gradients_util

    op, env = node.graph_op, node.env or {}
    graph = func_graph.FuncGraph("local_gradient")
    with graph.as_default():
        seeds = [tf.compat.v1.placeholder(t.dtype, t.shape) for t in op.outputs]
        ins = list(op.inputs)
        found = gradients_util._GradientsHelper(
            op.outputs, ins, grad_ys=seeds, stop_gradients=ins, src_graph=op.graph
        )
        found = [None if g is None else tf.convert_to_tensor(g) for g in found]
    captures = graph.captures
    graph.inputs = seeds + [inside for _, inside in captures]
    graph.outputs = [g for g in found if g is not None]
    values = grads + [_value(outside, env) for outside, _ in captures]
    results = iter(GraphRunner(Recording()).run(graph, values, ()))
    return [None if g is None else next(results) for g in found]


def _value(tensor: Any, env: dict[int, Any]) -> Any:
    if id(tensor) in env:
        return env[id(tensor)]
    if hasattr(tensor, "_numpy"):
        return tensor
    raise Unseen


@contextmanager
def seen_once(recording: Recording) -> Iterator[None]:
    """Keep what the tape's own backward pass gets from operations that answer only once.

    `tf.py_function` forgets its inner tape after the first use.
    """
    from tensorflow.python.eager import backprop

    nodes = {
        dict(zip(n.attrs[::2], n.attrs[1::2], strict=False)).get("token"): n
        for n in recording.nodes
        if n.type == "EagerPyFunc"
    }

    def watching(op_name: Any, attrs: Any, *rest: Any) -> Any:
        answer = backprop._gradient_function(op_name, attrs, *rest)
        if op_name == "EagerPyFunc":
            node = nodes.get(dict(zip(attrs[::2], attrs[1::2], strict=False)).get("token"))
            if node is not None:
                node.backward = Memo(watching, list(answer))
        return answer

    register = backprop.pywrap_tfe.TFE_Py_RegisterGradientFunction
    register(watching)
    try:
        yield
    finally:
        register(backprop._gradient_function)


def dense(grad: Any) -> Any:
    """A gradient as a tensor; rows of `tf.gather` come as IndexedSlices."""
    import tensorflow as tf

    return tf.convert_to_tensor(grad) if isinstance(grad, tf.IndexedSlices) else grad


def state(grad: Any) -> str:
    """ "alive", "none", "zero" or "nan"; one NaN entry is enough for "nan".

    A gradient without entries (of an empty tensor) counts as alive.
    """
    if grad is None:
        return "none"
    values = array(grad)
    if values is None:
        return "alive"
    if np.isnan(values).any():
        return "nan"
    return "alive" if values.any() or not values.size else "zero"


def array(tensor: Any) -> np.ndarray[Any, Any] | None:
    """Values as a NumPy array; None for dtypes without values (variant, resource, string)."""
    values = getattr(tensor, "values", tensor)
    try:
        found = np.asarray(values.numpy() if hasattr(values, "numpy") else values)
    except Exception:
        return None
    if found.dtype.kind in "fcbiu":
        return found
    # bfloat16 and float8 are NumPy extension types that isnan does not know everywhere
    return found.astype(np.float32) if found.dtype.kind == "V" else None
