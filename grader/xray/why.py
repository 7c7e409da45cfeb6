"""Why one operation passes on None, zero or NaN: the choice of the words' kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.xray import overrides
from grader.xray.absence import SHAPES, left_tensorflow
from grader.xray.blame import Blame
from grader.xray.graphs import operation_types
from grader.xray.local import array, is_trainable, state, vjp
from grader.xray.record_types import Node
from grader.xray.replay import Flow, Part
from grader.xray.run import Run
from grader.xray.sources import Source

_FLAT = {"Sign", "Floor", "Ceil", "Round", "Rint", "FloorDiv"}
_CLIPS = {
    "Minimum",
    "Maximum",
    "ClipByValue",
    "Relu",
    "Relu6",
    "LeakyRelu",
    "Elu",
    "Selu",
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars",
    "QuantizeAndDequantizeV2",
    "Sigmoid",
    "Tanh",
    "Softsign",
    "Erf",
}
_CHOICES = {"Select", "SelectV2"}
_PRODUCTS = {
    "Mul",
    "MatMul",
    "BatchMatMulV2",
    "MulNoNan",
    "Einsum",
    "RealDiv",
    "DivNoNan",
    "Conv2D",
}


def of_input(done: Run, source: Source) -> Blame | None:
    """What is to blame in the input itself, before any operation."""
    name, value = source.name, source.value
    if done.foreign and not done.targets:
        return Blame(name, "no_tensor", detail=", ".join(sorted(set(done.foreign))))
    if not is_trainable(getattr(value, "handle", value)) or not _float(value):
        return Blame(name, "int_input", detail=value.dtype.name)
    if getattr(value, "trainable", True) is False:
        return Blame(name, "not_trainable")
    return None


def _float(value: Any) -> bool:
    return bool(value.dtype.is_floating or value.dtype.is_complex)


def of_absence(done: Run, flow: Flow, source: Source, reached: set[int]) -> list[Blame]:
    """No operation on the way to the output ever received a gradient that it could cut."""
    return left_tensorflow(done, flow, source, reached)


def of_cut(done: Run, flow: Flow, source: Source, culprit: int, index: int, position: int) -> Blame:
    """An edge that a gradient reached from above and that passed on None."""
    culprit = index if culprit < 0 else culprit
    node = flow.recording.nodes[culprit]
    kind, detail = _cut_kind(flow, node, culprit, index)
    if node.override is not None and not node.override.acts:
        kind = "override_ignored"
    if kind == "index":
        detail = str(position)
    return Blame(source.name, kind, node.type, culprit, node.line, detail, node.override)


def _cut_kind(flow: Flow, node: Node, culprit: int, index: int) -> tuple[str, str]:
    if culprit in flow.refused:
        return "unregistered", flow.refused[culprit].splitlines()[0]
    if culprit in flow.unseen:
        return "unknown", type(flow.error).__name__ if flow.error else ""
    if node.type == "StopGradient":  # before "unrecorded": it runs while the tape is stopped
        return "stop_gradient", ""
    if node.kind == "unrecorded":
        return "unrecorded", ""
    if node.kind == "call":
        return "closed", inside(node)
    if node.type in SHAPES:
        return "shape_only", ""
    if node.type.startswith("PyFunc"):
        return "python_function", ""
    if node.kind == "custom" or node.label:
        return "custom_none", node.type if node.kind == "custom" else ""
    if node.override is not None and node.override.acts:
        return "override_none", node.override.name
    if culprit != index or not any(is_trainable(t) for t in node.outputs):
        return "to_int", ", ".join(sorted({t.dtype.name for t in node.outputs}))
    if overrides.is_no_gradient(node.type):
        return "not_differentiable", ""
    return "no_derivative", ""


def inside(node: Node) -> str:
    """The suspects in a tf.function that was too long to open, loops and branches included."""
    suspects = _FLAT | {"StopGradient", "PyFunc", "EagerPyFunc", "ArgMax"}
    found = suspects & operation_types(node.concrete.graph)
    return f" (it holds {', '.join(sorted(found))})" if found else ""


def of_cancel(done: Run, flow: Flow, source: Source, key: int) -> Blame:
    """Contributions that are alive and sum to zero."""
    parts = [p for p in flow.parts[key] if p.state == "alive" and p.node >= 0]
    ops = [flow.recording.nodes[p.node] for p in parts]
    words = " and ".join(sorted({n.type for n in ops}))
    last = max(parts, key=lambda p: p.node)  # never empty: a seed is never zero
    node = flow.recording.nodes[last.node]
    where = "" if key == source.key else flow.recording.nodes[flow.producer[key]].type
    return Blame(source.name, "cancel", words, last.node, node.line, where)


def of_zero(done: Run, flow: Flow, source: Source, part: Part) -> Blame:
    """An operation that got a gradient and passed on zeros."""
    node = flow.recording.nodes[part.node]
    kind = _zero_kind(flow, node, part)
    detail = node.type if node.kind == "custom" else inside(node) if kind == "closed" else ""
    return Blame(source.name, kind, node.type, part.node, node.line, detail, node.override)


def _zero_kind(flow: Flow, node: Node, part: Part) -> str:
    if node.override is not None:
        return "override_zero" if node.override.acts else "override_ignored"
    if node.kind == "call":
        return "closed"
    if node.kind == "custom" or node.label:
        return "custom_zero"
    if node.type in _FLAT:
        return "flat"
    if node.type in _CLIPS:
        return "saturated"
    if node.type in _CHOICES:
        return "not_chosen"
    if node.type in _PRODUCTS and _other_factor_zero(node, part.position):
        return "times_zero"
    return (
        _upstream_kind(flow, part.node) if _alive_for_random(node, part.position) else "zero_here"
    )


def _upstream_kind(flow: Flow, index: int) -> str:
    """The operation could pass something on: what is wrong with what arrives from above?"""
    above = [array(flow.total[k]) for k in flow.keys_out(index) if k in flow.total]
    values = np.concatenate([np.abs(a).ravel() for a in above if a is not None] or [np.ones(1)])
    if values.max() < 1e-25:
        return "underflow"
    return "masked" if (values == 0).any() else "upstream_cancels"


def _other_factor_zero(node: Node, position: int) -> bool:
    others = [array(t) for i, t in enumerate(node.inputs[:2]) if i != position]
    return any(a is not None and not a.any() for a in others)


def _alive_for_random(node: Node, position: int) -> bool:
    """The local test: is the product alive for upstream gradients that differ by entry?"""
    import tensorflow as tf

    rng = np.random.default_rng(0)
    try:
        grads = [
            tf.cast(rng.uniform(0.5, 2.0, t.shape), t.dtype) if is_trainable(t) else None
            for t in node.outputs
        ]
        return state(vjp(node, grads)[position]) == "alive"
    except Exception:
        return False
