"""Where a NaN gradient comes from: a NaN value, or an infinite derivative times a zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.xray.blame import Blame
from grader.xray.local import array, is_trainable, vjp
from grader.xray.record_types import Node
from grader.xray.replay import Flow, Part
from grader.xray.run import Run
from grader.xray.sources import Source


def of_nan(done: Run, flow: Flow, source: Source, part: Part) -> Blame:
    """An operation that got numbers from above and passed on NaN."""
    nodes, index = flow.recording.nodes, part.node
    node = nodes[index]
    if _spoiled(node, part):
        return _of_value(done, flow, source)
    if node.kind == "call":
        return Blame(source.name, "closed", node.type, index, node.line)
    if node.kind == "custom" or node.label:
        return Blame(source.name, "custom_nan", node.type, index, node.line, node.type)
    infinite = _made_infinite(flow, index)
    if infinite >= 0:
        first = nodes[infinite]
        return Blame(source.name, "inf_times_zero", first.type, infinite, first.line, node.type)
    above = _who_made_zero(flow, index)
    kind = "nan_here" if above is None else "zero_times_inf"
    return Blame(source.name, kind, node.type, index, node.line, above or "", node.override)


def _spoiled(node: Node, part: Part) -> bool:
    """Whether NaN values explain the NaN gradients: entry by entry where shapes tell, since a NaN
    that a where drops stands beside the zero whose derivative is infinite."""
    spoiled = [t for t in (*node.inputs, *node.outputs) if _has(np.isnan, t)]
    values = [v for v in map(array, spoiled) if v is not None]
    found = array(part.value)
    if not values or found is None or any(v.shape != found.shape for v in values):
        return bool(values)
    return bool(np.all(np.any(np.isnan(values), axis=0) | ~np.isnan(found)))


def of_sum(flow: Flow, source: Source, key: int) -> Blame:
    """Contributions of which none is NaN and whose sum is: infinities of both signs."""
    last = max((p.node for p in flow.parts[key]), default=-1)
    node = flow.recording.nodes[last]
    names = " and ".join(sorted({flow.recording.nodes[p.node].type for p in flow.parts[key]}))
    return Blame(source.name, "inf_minus_inf", names, last, node.line)


def of_filled(done: Run, flow: Flow, source: Source, reached: set[int]) -> list[Blame]:
    """NaN from the zeros that a cond or loop in a graph hands back for what it did not use."""
    import tensorflow as tf

    regions = [r for r in done.recording.regions if r.inputs & reached]
    for index in range(len(flow.recording.nodes) - 1, -1, -1):
        node = flow.recording.nodes[index]
        if not regions or not reached & set(flow.keys_in(index)) or node.kind != "op":
            continue
        try:
            grads = vjp(node, [tf.zeros_like(t) if is_trainable(t) else None for t in node.outputs])
        except Exception:  # an operation that cannot be asked again is not the one
            continue
        if any(g is not None and _has(np.isnan, g) for g in grads):
            given = regions[-1].type
            return [Blame(source.name, "zero_times_inf", node.type, index, node.line, given)]
    return []


def _of_value(done: Run, flow: Flow, source: Source) -> Blame:
    """The forward pass already has a NaN: the input, or the first operation that made one."""
    for given in done.sources:
        if _has(np.isnan, given.value):
            return Blame(source.name, "nan_input", detail=given.name)
    for index, node in enumerate(flow.recording.nodes):
        if any(_has(np.isnan, t) for t in node.outputs):
            return Blame(source.name, "forward_nan", node.type, index, node.line)
    return Blame(source.name, "unknown")


def _has(test: Any, tensor: Any) -> bool:
    values = array(tensor) if is_trainable(tensor) else None
    return values is not None and bool(test(values).any())


def _made_infinite(flow: Flow, index: int) -> int:
    """The operation above that turned a finite gradient into an infinite one; -1: none."""
    todo, seen = [index], set()
    while todo:
        node = todo.pop()
        for key in flow.keys_out(node):
            for part in flow.parts.get(key, ()):
                if part.node < 0 or part.node in seen or not _has(np.isinf, part.value):
                    continue
                seen.add(part.node)
                above = [flow.total[k] for k in flow.keys_out(part.node) if k in flow.total]
                if not any(_has(np.isinf, g) for g in above):
                    return part.node
                todo.append(part.node)
    return -1


def _who_made_zero(flow: Flow, index: int) -> str | None:
    """The operation above that sent a zero (usually a where); None if no zero arrived."""
    for key in flow.keys_out(index):
        if key not in flow.total or not _has(lambda g: g == 0, flow.total[key]):
            continue
        makers = [p.node for p in flow.parts.get(key, ()) if p.node >= 0]
        return flow.recording.nodes[makers[0]].type if makers else ""
    return None
