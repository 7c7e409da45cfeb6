"""Walk back from the output to the operation that is to blame."""

from __future__ import annotations

from typing import Any

from grader.xray import why
from grader.xray.blame import Blame
from grader.xray.local import is_trainable
from grader.xray.nan import of_filled, of_nan, of_sum
from grader.xray.replay import Flow, worst
from grader.xray.run import Run
from grader.xray.sources import Source

MANY = 6  # culprits of one input that are worth naming


def blame(done: Run, flow: Flow) -> dict[str, tuple[Blame, ...]]:
    """For each input whose gradient is not alive: who is to blame, nearest to the output first."""
    found: dict[str, tuple[Blame, ...]] = {}
    for source in done.sources:
        status = done.status.get(source.name)
        if status in ("none", "zero", "nan"):
            culprits = _culprits(done, flow, source, status)
            found[source.name] = tuple(_distinct(culprits))[:MANY]
    return found


def _culprits(done: Run, flow: Flow, source: Source, status: str) -> list[Blame]:
    walk = _Walk(done, flow, source)
    given = why.of_input(done, source) if status == "none" else None
    if given is not None:
        return [given]
    seen = worst(flow.state.get(key, "none") for key in walk.starts)
    if flow.entrances and seen != status:
        return [Blame(source.name, "earlier", detail=status)]
    if (status, seen) == ("zero", "alive"):
        return [Blame(source.name, "rounding")]
    if status == "nan":
        culprits = walk.nan() if seen == "nan" else of_filled(done, flow, source, walk.reached)
    elif status == "zero" and seen == "zero":
        culprits = walk.zero()
    else:  # inside a tf.function, tf.cond gives zeros where eager execution gives None
        culprits = walk.none() if seen == "none" else []
    compiled = getattr(done.function, "_jit_compile", None)
    return culprits or [Blame(source.name, "xla" if compiled else "tape_only", detail=status)]


def _distinct(culprits: list[Blame]) -> list[Blame]:
    """One of each: the turns of a loop repeat the same operation on the same line."""
    found: dict[Any, Blame] = {}
    for item in culprits:
        found.setdefault((item.kind, item.op, item.line, item.detail), item)
    return list(found.values())


class _Walk:
    def __init__(self, done: Run, flow: Flow, source: Source) -> None:
        self.done, self.flow, self.source = done, flow, source
        self.starts = sorted(flow.entrances | {source.key})
        self.reached = flow.forward([source.key])
        self.nodes = flow.recording.nodes

    # None: the cut edges that lie nearest to the output
    def none(self) -> list[Blame]:
        cuts = [
            cut
            for index in range(len(self.nodes) - 1, -1, -1)
            if self.flow.out_state(index) != "none"
            for cut in self._cuts(index)
        ]
        return (
            cuts
            or self._int_results()
            or why.of_absence(self.done, self.flow, self.source, self.reached)
        )

    def _int_results(self) -> list[Blame]:
        """The result has no float: the operation that made the integers is to blame."""
        if self.done.targets:
            return []
        keys = [self.flow.recording.key(t) for t in int_results(self.done)]
        made = [self._made_int(key) for key in keys if key in self.reached]
        return [
            why.of_cut(self.done, self.flow, self.source, node, -1, 0) for node in made if node >= 0
        ]

    def _cuts(self, index: int) -> list[Blame]:
        node, cuts = self.nodes[index], []
        for position, key in enumerate(self.flow.keys_in(index)):
            if key not in self.reached or position in node.skipped:
                continue
            if any(
                p.node == index and p.position == position for p in self.flow.parts.get(key, ())
            ):
                continue
            culprit = index if is_trainable(node.inputs[position]) else self._made_int(key)
            cuts.append(why.of_cut(self.done, self.flow, self.source, culprit, index, position))
        return cuts

    def _made_int(self, key: int) -> int:
        """The operation that turned floats into the integers (or booleans) of a tensor."""
        return made_int(self.flow, key, self.reached)

    # zero: follow the zero contributions up to the operation that made them
    def zero(self) -> list[Blame]:
        return self._follow("zero", why.of_zero)

    def nan(self) -> list[Blame]:
        return self._follow("nan", of_nan)

    def _follow(self, state: str, explain: Any) -> list[Blame]:
        todo, seen, found = list(self.starts), set(), []
        while todo:
            key = todo.pop()
            if key in seen:
                continue
            seen.add(key)
            parts = self.flow.parts.get(key, [])
            guilty = [p for p in parts if p.state == state and self.flow.state[key] == state]
            if guilty_sum(self.flow, key, state) and any(p.state == "alive" for p in parts):
                found.append(why.of_cancel(self.done, self.flow, self.source, key))
                continue
            if state == "nan" and not guilty and self.flow.state.get(key) == "nan":
                found.append(of_sum(self.flow, self.source, key))
            for part in guilty:
                above = [k for k in self.flow.keys_out(part.node) if part.node >= 0]
                same = [k for k in above if self.flow.state.get(k) == state]
                if self.flow.out_state(part.node) == state and same:
                    todo += same
                elif part.node >= 0:
                    found.append(explain(self.done, self.flow, self.source, part))
        return sorted(found, key=lambda b: -b.node)


def int_results(done: Run) -> list[Any]:
    """The tensors of the result that are no floats."""
    import tensorflow as tf

    flat = tf.nest.flatten(done.result, expand_composites=True)
    return [t for t in flat if isinstance(t, tf.Tensor) and not is_trainable(t)]


def guilty_sum(flow: Flow, key: int, state: str) -> bool:
    """Whether a tensor's gradient is zero as a sum."""
    return state == "zero" and flow.state.get(key) == "zero"


def made_int(flow: Flow, key: int, reached: set[int]) -> int:
    """The node, going back from a tensor through non-floats, that took a float; -1: none."""
    todo, seen = [key], set()
    while todo:
        node = flow.producer.get(todo.pop())
        if node is None or node in seen:
            continue
        seen.add(node)
        for tensor, k in zip(flow.recording.nodes[node].inputs, flow.keys_in(node), strict=True):
            if k in reached and is_trainable(tensor):
                return node
            if k in reached:
                todo.append(k)
    return -1
