"""Where a NaN gradient comes from: a NaN value, or an infinite derivative times a zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.xray.blame import Blame
from grader.xray.local import array, is_trainable
from grader.xray.replay import Flow, Part
from grader.xray.run import Run
from grader.xray.sources import Source


def of_nan(done: Run, flow: Flow, source: Source, part: Part) -> Blame:
    """An operation that got numbers from above and passed on NaN."""
    nodes, index = flow.recording.nodes, part.node
    node = nodes[index]
    if any(_has(np.isnan, t) for t in (*node.inputs, *node.outputs)):
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
