"""Walk the recording backwards as the tape does, keeping what each operation passes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from grader.xray.local import Unseen, dense, is_trainable, state, vjp
from grader.xray.record_types import Node, Recording


@dataclass
class Part:
    """What one input of one operation contributes to the gradient of a tensor."""

    node: int
    position: int
    value: Any
    state: str


@dataclass
class Flow:
    """The gradients of one backward walk.

    total: tensor number → its gradient; state: tensor number → one of the four states (a number
    that is missing never received anything); parts: what each total was made of; refused: node →
    the LookupError's message; unseen: nodes whose own gradient could not be computed.
    """

    recording: Recording
    producer: dict[int, int] = field(default_factory=dict)
    consumers: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    total: dict[int, Any] = field(default_factory=dict)
    state: dict[int, str] = field(default_factory=dict)
    parts: dict[int, list[Part]] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    unseen: set[int] = field(default_factory=set)
    error: BaseException | None = None

    @property
    def entrances(self) -> set[int]:
        """Where inputs come in through operations that were dropped; empty for a full recording."""
        return self.recording.reached if self.recording.dropped else set()

    def keys_in(self, node: int) -> list[int]:
        """The numbers of a node's inputs."""
        return [self.recording.key(t) for t in self.recording.nodes[node].inputs]

    def keys_out(self, node: int) -> list[int]:
        """The numbers of a node's outputs, without those that a later record replaced."""
        keys = [self.recording.key(t) for t in self.recording.nodes[node].outputs]
        return [k for k in keys if self.producer.get(k) == node]

    def out_state(self, node: int) -> str:
        """The state of what arrives at a node from the output side."""
        states = [self.state.get(k, "none") for k in self.keys_out(node)]
        return worst(states)

    def forward(self, start: Iterable[int]) -> set[int]:
        """All tensors that depend on some tensors through operations (integers included)."""
        seen = set(start) | self.entrances
        todo = list(seen)
        while todo:
            for node, position in self.consumers.get(todo.pop(), ()):
                if position in self.recording.nodes[node].skipped:
                    continue
                new = [k for k in self.keys_out(node) if k not in seen]
                seen.update(new)
                todo += new
        return seen

    def backward(self, start: Iterable[int]) -> set[int]:
        """All tensors that some tensors depend on."""
        seen = set(start)
        todo = list(seen)
        while todo:
            node = self.producer.get(todo.pop())
            if node is not None:
                skipped = self.recording.nodes[node].skipped
                keys = [k for i, k in enumerate(self.keys_in(node)) if i not in skipped]
                new = [k for k in keys if k not in seen]
                seen.update(new)
                todo += new
        return seen


def worst(states: Iterable[str]) -> str:
    """One state for several: NaN wins over alive, alive over zero, zero over None."""
    found = set(states)
    return next((s for s in ("nan", "alive", "zero") if s in found), "none")


def connect(recording: Recording) -> Flow:
    """Who made and who used each tensor; of two records of one tensor the tape keeps the last."""
    flow = Flow(recording)
    for index, node in enumerate(recording.nodes):
        for tensor in node.outputs:
            flow.producer[recording.key(tensor)] = index
    consumers = defaultdict(list)
    for index, node in enumerate(recording.nodes):
        for position, tensor in enumerate(node.inputs):
            consumers[recording.key(tensor)].append((index, position))
    flow.consumers = dict(consumers)
    return flow


def replay(flow: Flow, targets: list[Any], sources: Iterable[int]) -> None:
    """Fill `flow` with the gradients of sum(targets) on the paths that start at the sources."""
    import tensorflow as tf

    reached = flow.forward(sources)
    for target in targets:
        key = flow.recording.key(target)
        _add(flow, key, Part(-1, 0, tf.ones_like(target), "alive"))
    for index in range(len(flow.recording.nodes) - 1, -1, -1):
        keys = [flow.recording.key(t) for t in flow.recording.nodes[index].inputs]
        live = [k for k in flow.keys_out(index) if k in flow.parts]
        if live and any(k in reached for k in keys):
            _step(flow, index, keys)
    for key in list(flow.parts):
        _sum(flow, key)


def _step(flow: Flow, index: int, keys: list[int]) -> None:
    node = flow.recording.nodes[index]
    grads = [_sum(flow, flow.recording.key(t)) for t in node.outputs]
    for position, (key, grad) in enumerate(
        zip(keys, _local(flow, index, node, grads), strict=True)
    ):
        if grad is not None and is_trainable(node.inputs[position]):
            grad = dense(grad)
            _add(flow, key, Part(index, position, grad, state(grad)))


def _local(flow: Flow, index: int, node: Node, grads: list[Any]) -> list[Any]:
    try:
        return vjp(node, grads)
    except LookupError as error:
        flow.refused[index] = str(error)
    except Unseen:
        flow.unseen.add(index)
    except Exception as error:  # the user's gradient function, or ours: never the caller's problem
        flow.unseen.add(index)
        flow.error = flow.error or error
    return [None] * len(node.inputs)


def _add(flow: Flow, key: int, part: Part) -> None:
    flow.parts.setdefault(key, []).append(part)


def _sum(flow: Flow, key: int) -> Any:
    if key in flow.total or key not in flow.parts:
        return flow.total.get(key)
    values = [p.value for p in flow.parts[key]]
    total = values[0]
    for value in values[1:]:
        total = _plus(total, value)
    flow.total[key] = total
    flow.state[key] = state(total)
    return total


def _plus(a: Any, b: Any) -> Any:
    try:
        return a + b
    except Exception:  # variants (TensorList) add by an operation of their own
        import tensorflow as tf

        return tf.raw_ops.AddN(inputs=[a, b])
