"""What a contract may not say: each of these is refused with a ValueError where it is written."""

from __future__ import annotations

from keyword import iskeyword
from math import inf
from typing import Any

import numpy as np

MODES = ("eager", "outside", "inside", "graph", "xla")
WANTS = ("value", "gradient", "second")


def of_case(name: str, modes: Any, wants: Any) -> None:
    """Refuse what nothing would ever run or give. A mode of another name is for a probe of the
    chapter's own to know: `grader lint` looks for it there."""
    if isinstance(wants, str) or not set(wants) <= set(WANTS):
        known = ", ".join(WANTS)
        raise ValueError(f"the case {name!r} wants {wants!r}; what there is, as a tuple: {known}")
    if isinstance(modes, str) or not modes:
        known = ", ".join(MODES)
        raise ValueError(f"the case {name!r} runs in {modes!r}; modes, as a tuple: {known}")


def of_exercise(id: Any, parts: Any, hints: Any, mistakes: Any) -> None:
    """Refuse a contract that could not be checked."""
    if not str(id).isidentifier() or iskeyword(str(id)):
        raise ValueError(f"{id}: an id is a Python name, which the learner defines")
    if not parts:
        raise ValueError(f"{id}: an exercise needs at least one part with its points")
    for part, weight in parts.items():
        if not _is_weight(weight):
            said = f"the weight of part {part!r} is {weight!r}, no positive number"
            raise ValueError(f"{id}: {said}")
    if isinstance(hints, str):
        raise ValueError(f"{id}: hints is a tuple of texts, not one text")
    if len(hints) < 2:
        raise ValueError(f"{id}: at least two hints, the last one nearly the answer")
    for mistake in mistakes:
        ways = [mistake.answer, mistake.raises, mistake.pattern]
        if sum(way is not None for way in ways) != 1:
            raise ValueError(f"{id}: mistake {mistake.name!r} needs exactly one way")


def _is_weight(value: Any) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and bool(0 < value < inf)


def of_table(id: str, answers: dict[str, Any], allowed: Any) -> None:
    """Refuse a right word that is not among the allowed ones."""
    words = [(type(word), word) for word in allowed]  # True is not 1
    for entry, answer in answers.items():
        if (type(answer), answer) not in words:
            raise ValueError(f"{id}: {answer!r}, right for {entry!r}, is not in {tuple(allowed)}")
