"""Whether an answer earns the same on every draw: two students who wrote the same get the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..build.cells import starters
from ..checking import evaluate
from ..contract import Exercise
from ..course import Chapter
from ..grading.demo import choices
from . import Fault, Rule
from .space import answer, setup

STORED = None


def even(draws: int) -> Rule:
    """The rule that tries every answer on the stored inputs and on so many draws beside them."""

    def lucky(chapter: Chapter) -> Iterator[Fault]:
        space, offered = setup(chapter), choices(chapter)
        for name, text in starters(chapter).items():
            offered[name]["the starter"] = text
        for exercise in chapter.exercises().values():
            for what, text in offered[exercise.id].items():
                for says in _uneven(exercise, what, text, space, draws):
                    yield Fault(chapter.name, f"{exercise.id}, {what}", says)

    return lucky


def _uneven(
    exercise: Exercise, what: str, text: str, space: Mapping[str, Any], draws: int
) -> Iterator[str]:
    try:
        given = answer(text, what, exercise.id, space)
    except Exception:
        return  # `answers.judged` says so
    for part in exercise.parts:
        earned: dict[float, str] = {}
        for seed in (STORED, *range(draws)):
            share = evaluate(exercise.id, given, seed, part).fraction
            earned.setdefault(
                share, "on the stored inputs" if seed is STORED else f"on seed {seed}"
            )
        if len(earned) > 1:
            shares = ", ".join(f"{share:.3g} {where}" for share, where in earned.items())
            yield f"its points in {part!r} depend on the draw: {shares}"
