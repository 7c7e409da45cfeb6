"""What a chapter's `reference.py` declares: exercises, their cases, truths, mistakes and hints.

Nothing here knows TensorFlow. Inputs and truths are NumPy arrays in float64 unless a case says
otherwise; the probe makes tensors of them beside the learner's code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from . import refusal

Upstream = np.ndarray | tuple[np.ndarray, ...] | None
Answers = Mapping[str, Any]

EAGER, OUTSIDE, INSIDE, GRAPH, XLA = refusal.MODES
DEFAULT_MODES = (EAGER, OUTSIDE)
GRAPH_MODES = (OUTSIDE, GRAPH)
EVERYWHERE = (EAGER, OUTSIDE, INSIDE)


def is_float(value: Any) -> bool:
    """Whether a value is an array of floats (bfloat16, which NumPy calls "V", included)."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "fV"


class Either:
    """A truth that several answers satisfy, such as None or zeros."""

    def __init__(self, *options: Any) -> None:
        self.options = options


@dataclass(frozen=True)
class Accuracy:
    """A truth about predicted labels: at least the share `floor` of them must be right.

    labels: (n,) integers. beside: what trivial models reach on them, in words.
    """

    labels: np.ndarray
    floor: float
    beside: str = ""


@dataclass(frozen=True)
class Source:
    """A function handed to the learner's code, as a Python expression with `tf` and `np` in scope.

    Sent as text and compiled beside the learner's code, so that a case stays plain data.
    """

    text: str


@dataclass(frozen=True)
class Case:
    """One call of the learner's function.

    name: a few plain words shown to the learner ("a batch of shape (3, 2)").
    inputs: argument name to value. An array becomes a tensor of its dtype, a `Source` a function,
        anything else is passed as it is.
    upstream: one array per output (a tuple for several), the upstream gradient.
    part: None sends "value" to the part `value` and "gradient:…" to the part `gradient`;
        a name sends everything to that part.
    modes: where it runs: "eager", "outside" (tf.function, tape outside), "inside", "graph", "xla"
        (function and tape compiled as one).
    wants: "value", "gradient", "second" (the derivative of the summed gradient).
    variables: the inputs handed over as tf.Variable.
    options: plain data for a probe of the chapter's own.
    Raises ValueError for a want that does not exist, and without modes.
    """

    name: str
    inputs: Mapping[str, Any]
    upstream: Upstream = None
    part: str | None = None
    modes: tuple[str, ...] = DEFAULT_MODES
    wants: tuple[str, ...] = ("value", "gradient")
    variables: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what nothing would ever run or give."""
        refusal.of_case(self.name, self.modes, self.wants)

    def part_of(self, key: str) -> str:
        """The part of the exercise in which the answer under this key counts."""
        if self.part is not None:
            return self.part
        return "gradient" if key.startswith(("gradient", "second")) else "value"

    @cached_property
    def dtype(self) -> str:
        """The dtype that float answers must have: that of the first float input."""
        floats = [v.dtype.name for v in self.inputs.values() if is_float(v)]
        return floats[0] if floats else "float32"

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The inputs that become tensors, in float64 where they are floats (for the reference)."""
        arrays = {k: v for k, v in self.inputs.items() if isinstance(v, np.ndarray)}
        return {k: v.astype(np.float64) if is_float(v) else v for k, v in arrays.items()}


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that the verdict recognises.

    Exactly one of these says how it is recognised:
    answer: case to the arrays this mistake gives (only the keys that it gets wrong).
    raises: a regular expression over "ExceptionType: message".
    pattern: the name of a general pattern ("none", "zeros", "nan", …) which, in this exercise,
        deserves words of its own.
    `part` keeps it to one part of the exercise.
    """

    name: str
    says: str
    answer: Callable[[Case], Answers] | None = None
    raises: str | None = None
    pattern: str | None = None
    part: str | None = None


@dataclass(frozen=True)
class Exercise:
    """The contract of one exercise: what is asked, what is true, how people go wrong.

    id: the name the learner defines. cases: seeded generator to the calls to make. truth: case to
    the right answers under "value" (or "value[0]", "value[1]" for several outputs),
    "gradient:<argument>", "second:<argument>", and whatever keys a probe of the chapter's own
    returns; None where None is the right answer. parts: part to its weight in points. tolerance:
    a factor on the dtype's usual tolerance. plain: what comes back where a surrogate never took
    effect (the true derivative of the forward function). probe: "function", "table",
    "op_gradient" or a function of the chapter's probes.py. card: the argument along which a
    surrogate card is drawn. With options["by_entry"] the keys "entry:…" of an own probe score one
    by one, as in a table; options["planted"] names those that must be caught, and a false alarm
    on another takes a catch away. With options["entire"] a mistake is named only where the answers
    that are right are what it gives, too.
    """

    id: str
    cases: Callable[[np.random.Generator], list[Case]]
    truth: Callable[[Case], Answers]
    parts: Mapping[str, float]
    hints: tuple[str, ...]
    mistakes: tuple[Mistake, ...] = ()
    plain: Callable[[Case], Answers] | None = None
    probe: str = "function"
    options: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 1.0
    card: str | None = None
    reread: str = ""
    also: str = ""

    def __post_init__(self) -> None:
        """Refuse a contract that could not be checked."""
        refusal.of_exercise(self.id, self.parts, self.hints, self.mistakes)


@dataclass(frozen=True)
class Entry:
    """One entry of a table exercise: the right word and why each wrong one is wrong."""

    answer: Any
    because: str


def table(
    id: str,
    entries: Mapping[str, Entry],
    allowed: tuple[Any, ...],
    hints: tuple[str, ...],
    *,
    weight: float = 1.0,
    reread: str = "",
    mistakes: tuple[Mistake, ...] = (),
) -> Exercise:
    """An exercise whose answer is a dictionary (or list) of words, with credit per entry."""
    refusal.of_table(id, {key: entry.answer for key, entry in entries.items()}, allowed)
    truth = {f"entry:{key}": entry.answer for key, entry in entries.items()}
    reasons = {f"entry:{key}": entry.because for key, entry in entries.items()}
    options = {"keys": list(entries), "allowed": list(allowed), "because": reasons}
    return Exercise(
        id=id,
        cases=lambda rng: [Case("the entries", {}, modes=(EAGER,), part="value")],
        truth=lambda case: truth,
        parts={"value": weight},
        hints=hints,
        probe="table",
        options=options,
        reread=reread,
        mistakes=mistakes,
    )
