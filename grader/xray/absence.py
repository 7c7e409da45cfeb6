"""No path from an input to the output: how the value left TensorFlow, if it did."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np

from grader.xray.blame import Blame
from grader.xray.listen import CONDITION
from grader.xray.record_types import Line
from grader.xray.replay import Flow
from grader.xray.run import Run
from grader.xray.sources import Source

SHAPES = {"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike"}
_LEAVING = {"predict", "predict_on_batch", "tolist"}  # give NumPy arrays or Python numbers


def left_tensorflow(done: Run, flow: Flow, source: Source, reached: set[int]) -> list[Blame]:
    """The ways out that a value which depends on the source took; else why it is unused."""
    name, recording = source.name, flow.recording
    ways = [
        Blame(name, "left_tensorflow", line=d.line, detail=d.word)
        for d in recording.detours
        if d.word != CONDITION and recording.alias.get(d.key, d.key) in reached
    ]
    ways = _assigned(flow, source, reached) + ways
    if not ways:
        ways = _through_python(flow, source, reached)
    ways = ways or _not_taken(flow, source, reached)
    if not ways and any(d.word == CONDITION and d.key in reached for d in recording.detours):
        ways = [Blame(name, "condition")]
    return ways or _numpy_or_unused(done, source)


def _assigned(flow: Flow, source: Source, reached: set[int]) -> list[Blame]:
    """What was written into a variable. A variable made of zeros_like(x) holds nothing of x: it is
    named only where nothing else is written."""
    found: list[Blame] = []
    shapes: list[Blame] = []
    for index, node in enumerate(flow.recording.nodes):
        keys = flow.keys_in(index)
        writes = "Assign" in node.type or node.type.startswith("ResourceScatter")
        written = [k for k in keys[1:] if k in reached] if writes else []
        if written:
            empty = all(_shape_only(flow, k) for k in written)
            blame = Blame(source.name, "assigned", node.type, index, node.line)
            (shapes if empty else found).append(blame)
    return found or shapes


def _shape_only(flow: Flow, key: int) -> bool:
    """Whether an operation made this that takes no more than the shape of its input."""
    made_by = flow.producer.get(key, -1)
    return made_by >= 0 and flow.recording.nodes[made_by].type in SHAPES


def _through_python(flow: Flow, source: Source, reached: set[int]) -> list[Blame]:
    """numpy_function in eager has no operation: its record has inputs and outputs."""
    return [
        Blame(source.name, "python_function", node.type, index, node.line)
        for index, node in enumerate(flow.recording.nodes)
        if node.kind == "python" and any(k in reached for k in flow.keys_in(index))
    ]


def _not_taken(flow: Flow, source: Source, reached: set[int]) -> list[Blame]:
    return [
        Blame(source.name, "branch", region.type, -1, region.line, region.note)
        for region in flow.recording.regions
        if region.inputs & reached
    ]


def _numpy_or_unused(done: Run, source: Source) -> list[Blame]:
    calls = [
        Blame(source.name, "numpy_call", line=line, detail=word)
        for line, word in numpy_calls(done.function)
    ]
    return calls[:3] or [Blame(source.name, "unused")]


def numpy_calls(f: Callable[..., Any]) -> list[tuple[Line, str]]:
    """(line, "np.sin") of each NumPy name that a function's bytecode loads.

    NumPy reads a tensor's memory without any method of the tensor being called, so that this is
    the only trace that `np.sin(x)` leaves.
    """
    target = getattr(f, "python_function", f)
    code = getattr(target, "__code__", None)
    return [] if code is None else list(_loads(code, target.__globals__))


def _loads(code: CodeType, scope: dict[str, Any]) -> Iterator[tuple[Line, str]]:
    number, owner = code.co_firstlineno, ""
    for step in dis.get_instructions(code):
        number = (step.positions and step.positions.lineno) or number
        name = str(step.argval)
        if owner and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield Line(code.co_filename, number), f"{owner}.{name}"
        elif name in _LEAVING and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield Line(code.co_filename, number), f".{name}()"
        elif step.opname == "LOAD_GLOBAL" and isinstance(scope.get(name), np.ufunc):
            yield Line(code.co_filename, number), name
        owner = name if step.opname == "LOAD_GLOBAL" and scope.get(name) is np else ""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _loads(constant, scope)
