"""Run a tf.function's graph operation by operation, so that each one can be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.xray import lines, overrides
from grader.xray.execute import attributes, execute, writes
from grader.xray.record_types import Node, Recording, Region

LIMIT = 20_000  # operations run one by one: some seconds
_QUIET = {"NoOp", "Assert", "PrintV2", "Print"}  # nobody wants to see these twice
_CALLS = {"PartitionedCall", "StatefulPartitionedCall"}
_IFS = {"If", "StatelessIf"}
_CASES = {"Case", "StatelessCase"}
_WHILES = {"While", "StatelessWhile"}


class TooMuch(Exception):
    """The graph has more operations (loops unrolled) than are worth following."""


class GraphRunner:
    """Executes graph operations eagerly and appends a `Node` for each."""

    def __init__(self, recording: Recording) -> None:
        self.recording, self.count = recording, 0
        self._known: dict[int, Node] = {}
        self._constants: dict[int, list[Any]] = {}
        self._order: dict[int, list[Any]] = {}

    def run(self, graph: Any, inputs: Sequence[Any], scope: tuple[str, ...]) -> list[Any]:
        """Values of `graph.outputs` for the given values of `graph.inputs`.

        Raises TooMuch beyond the limit, and whatever an operation raises.
        """
        env = {id(t): value for t, value in zip(graph.inputs, inputs, strict=True)}
        if id(graph) not in self._order:
            self._order[id(graph)] = _needed(graph)
        for op in self._order[id(graph)]:
            if op.type in _QUIET or (op.outputs and all(id(t) in env for t in op.outputs)):
                continue
            self._run_op(op, env, scope)
        return [env[id(t)] for t in graph.outputs]

    def _run_op(self, op: Any, env: dict[int, Any], scope: tuple[str, ...]) -> None:
        inputs = [env[id(t)] for t in op.inputs]
        if op.name.startswith("gradient_tape/") or "/gradient_tape/" in op.name:
            self.recording.inner_tape = True
        if op.type in _CALLS | _IFS | _CASES | _WHILES:
            outputs = self._run_region(op, inputs, scope)
        else:
            outputs = self._execute(op, inputs)
            self.count += 1
            if self.count > LIMIT:
                raise TooMuch
            self._note(op, inputs, outputs, env, scope)
        env.update((id(t), value) for t, value in zip(op.outputs, outputs, strict=False))

    def _note(
        self, op: Any, inputs: list[Any], outputs: list[Any], env: dict[int, Any], scope: Any
    ) -> None:
        if op.type == "Const":
            return
        known = self._static(op)
        node = Node(op.type, tuple(inputs), tuple(outputs), known.attrs, scope=scope)
        node.line, node.override = known.line, known.override
        node.label, node.skipped = known.label, known.skipped
        if node.override or node.label:
            node.graph_op, node.env = op, env
        self.recording.add(node)

    def _execute(self, op: Any, inputs: list[Any]) -> list[Any]:
        if op.type != "Const":
            return execute(op, inputs, self._static(op).attrs)
        if id(op) not in self._constants:
            self._constants[id(op)] = execute(op, inputs, ())
        return self._constants[id(op)]

    def _static(self, op: Any) -> Node:
        """What is the same each time that a loop comes by: attributes, line, override."""
        known = self._known.get(id(op))
        if known is None:
            known = self._known[id(op)] = Node(op.type, (), (), attributes(op))
            known.line, known.override = lines.of_graph_op(op), overrides.of_graph_op(op)
            if overrides.is_custom_gradient(op):
                known.label, known.skipped = "custom_gradient", frozenset(range(_results(op)))
        return known

    def _run_region(self, op: Any, inputs: list[Any], scope: tuple[str, ...]) -> list[Any]:
        if op.type in _CALLS:
            return self.run(_body(op, "f"), inputs, (*scope, "tf.function"))
        if op.type in _WHILES:
            outputs, note = self._run_while(op, inputs, scope)
        else:
            outputs, note = self._run_branch(op, inputs, scope)
        taken, given = (frozenset(t._id for t in values) for values in (inputs, outputs))
        self.recording.regions.append(Region(op.type, taken, given, lines.of_graph_op(op), note))
        return outputs

    def _run_branch(self, op: Any, inputs: list[Any], scope: Any) -> tuple[list[Any], str]:
        if op.type in _IFS:
            taken = bool(inputs[0].numpy())
            body, note = ("then_branch", "true") if taken else ("else_branch", "false")
            graph = _body(op, body)
        else:
            branches = op.get_attr("branches")
            index = int(inputs[0].numpy())
            index = index if 0 <= index < len(branches) else len(branches) - 1
            graph, note = _function(op.graph, branches[index].name), f"number {index}"
        return self.run(graph, inputs[1:], (*scope, f"branch {note}")), note

    def _run_while(self, op: Any, state: list[Any], scope: Any) -> tuple[list[Any], str]:
        condition, body = _body(op, "cond"), _body(op, "body")
        turn = 0
        while bool(self.run(condition, state, (*scope, "condition"))[0].numpy()):
            turn += 1
            state = self.run(body, state, (*scope, f"turn {turn}"))
        return state, f"{turn} turns"


def _needed(graph: Any) -> list[Any]:
    """What the outputs depend on and what writes to variables, each after what it needs.

    The order of creation is not enough: differentiating a loop puts a new While into the graph.
    """
    operations = graph.get_operations()
    wanted = [t.op for t in graph.outputs] + [op for op in operations if _stateful(op)]
    place = {id(op): i for i, op in enumerate(operations)}
    ordered: list[Any] = []
    seen: set[int] = set()
    todo = [(op, False) for op in sorted(wanted, key=lambda op: -place.get(id(op), 0))]
    while todo:
        op, ready = todo.pop()
        if ready:
            ordered.append(op)
        elif id(op) not in seen:
            seen.add(id(op))
            todo.append((op, True))
            todo += [(o, False) for o in [*(t.op for t in op.inputs), *op.control_inputs]]
    return ordered


def _stateful(op: Any) -> bool:
    return writes(op) or op.type in {"If", "While", "Case", "StatefulPartitionedCall", "PyFunc"}


def _results(op: Any) -> int:
    """How many of the IdentityN's inputs are results (the others are the arguments).

    Only the outputs that stand for results are ever used; the function's own outputs count, those
    that differentiation added do not.
    """
    import tensorflow as tf

    own = getattr(op.graph, "structured_outputs", None)
    kept = {id(t) for t in tf.nest.flatten(own, expand_composites=True)}
    used = [i for i, t in enumerate(op.outputs) if t.consumers() or id(t) in kept]
    return min(max(used, default=0) + 1, max(1, len(op.inputs) - 1))


def operation_types(graph: Any) -> set[str]:
    """All types of operations in a graph and in the functions that it calls."""
    found = {op.type for op in graph.get_operations()}
    for function in getattr(graph, "_functions", {}).values():
        inner = getattr(function, "graph", None)
        found |= {op.type for op in inner.get_operations()} if inner is not None else set()
    return found


def _body(op: Any, attr: str) -> Any:
    return _function(op.graph, op.get_attr(attr).name)


def _function(graph: Any, name: str) -> Any:
    while graph is not None:
        found = graph._get_function(name)
        if found is not None and getattr(found, "graph", None) is not None:
            return found.graph
        graph = getattr(graph, "outer_graph", None)
    raise LookupError(name)
