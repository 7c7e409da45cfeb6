"""What one run of a function leaves behind: operations, ways out of TensorFlow, overrides."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

KEPT = 3_000  # operations kept of a very long run: about a second of replay


@dataclass(frozen=True)
class Line:
    """A line of the user's code."""

    file: str
    number: int

    @property
    def text(self) -> str:
        """The source text of the line, or "" where it cannot be read."""
        return linecache.getline(self.file, self.number).strip()


@dataclass(frozen=True)
class Override:
    """A gradient that `gradient_override_map` put on an operation.

    `acts` is False where the override is ignored: in eager execution and for a tape inside
    the function that holds the map.
    """

    name: str
    registered: bool
    acts: bool


@dataclass(frozen=True)
class OverrideMap:
    """One `gradient_override_map` block, and the operation types that ran inside it."""

    mapping: dict[str, str]
    line: Line | None
    eager: bool
    ran: list[str]


@dataclass(frozen=True)
class Detour:
    """A tensor whose value was read by Python: `.numpy()`, `float()`, an `if`."""

    key: int
    word: str
    line: Line | None


@dataclass
class Memo:
    """A backward function seen by the tape, with what it returned there.

    The tape calls `__call__`; the X-ray reads `seen` afterwards, so that the user's gradient
    code runs once, not twice.
    """

    function: Callable[..., Any]
    seen: list[Any] | None = None

    def __call__(self, *grads: Any) -> Any:
        """Call the backward function and keep its answer."""
        answer = self.function(*grads)
        self.seen = list(answer) if isinstance(answer, list | tuple) else [answer]
        return answer


@dataclass
class Node:
    """One operation that ran: eager tensors in, eager tensors out.

    kind: "op"; "custom" (tf.custom_gradient and its like, in eager); "call" (a tf.function taken
    as one operation); "python" (numpy_function in eager); "unrecorded" (no tape was listening).
    """

    type: str
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    attrs: tuple[Any, ...] = ()
    kind: str = "op"
    line: Line | None = None
    scope: tuple[str, ...] = ()
    backward: Memo | None = None
    override: Override | None = None
    graph_op: Any = None
    env: dict[int, Any] | None = None
    skipped: frozenset[int] = frozenset()  # inputs that carry no gradient by construction
    label: str = ""
    concrete: Any = None
    snapshot: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Region:
    """A tf.cond, while_loop or switch_case inside a graph, and what it took and gave."""

    type: str
    inputs: frozenset[int]
    outputs: frozenset[int]
    line: Line | None
    note: str


@dataclass
class Recording:
    """The operations of one run, in the order in which they ran.

    Of a very long run only the last ones are kept: what cuts a gradient is looked for from the
    output. Of those dropped, `reached` keeps which tensors depend on an input.
    """

    nodes: list[Node] = field(default_factory=list)
    alias: dict[int, int] = field(default_factory=dict)
    detours: list[Detour] = field(default_factory=list)
    maps: list[OverrideMap] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    inner_tape: bool = False
    expanded: int = 0
    dropped: int = 0
    reached: set[int] = field(default_factory=set)

    def add(self, node: Node) -> None:
        """Append an operation, and forget the oldest when there are twice as many as kept."""
        self.nodes.append(node)
        if len(self.nodes) >= 2 * KEPT:
            for old in self.nodes[:KEPT]:
                if any(t._id in self.reached or t.dtype.name == "resource" for t in old.inputs):
                    self.reached.update(t._id for t in old.outputs)
            del self.nodes[:KEPT]
            self.dropped += KEPT

    def absorb(self, other: Recording) -> None:
        """Take over what a graph that was opened left behind."""
        for node in other.nodes:
            self.add(node)
        self.alias.update(other.alias)
        self.regions += other.regions
        self.inner_tape |= other.inner_tape
        self.dropped += other.dropped
        if other.dropped:
            self.reached |= other.reached

    def key(self, tensor: Any) -> int:
        """The number by which the recording knows a tensor (through tf.function outputs)."""
        number = int(tensor._id)
        while number in self.alias:
            number = self.alias[number]
        return number
