"""Draws that tell: inputs on which every named mistake shows. NumPy only.

A draw of a few numbers can hide a mistake: without a negative upstream gradient at a positive
input, the plain gradient of relu is the guided one, and a wrong answer would pass for one student
in thirty. So an exercise is drawn again until each mistake shows in every part in which it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .contract import Case, Either, Exercise
from .course import CourseError
from .key import SILENT, Key, Terms, key, said, terms
from .probe import outcome
from .probe.request import CARD
from .verdict.compare import asked, compare
from .verdict.tolerance import agree, relative

Shown = frozenset[tuple[str, str]]  # mistake, part
Draw = tuple[tuple[Case, ...], Key]
CARD_RANGE, CARD_POINTS = (-2.5, 2.5), 201
SAMPLE = range(6)  # draws that say what can show at all
DRAWS = 60
CLEARLY = 4  # a mistake shows where it is off by so many tolerances


def cases_for(exercise: Exercise, seed: int, again: int = 0) -> list[Case]:
    """The cases of an exercise for a seed; `again` asks for others. Their names must differ."""
    rng = np.random.default_rng([seed, again] if again else seed)
    cases = exercise.cases(rng)
    if len({case.name for case in cases}) != len(cases):
        raise CourseError(f"{exercise.id}: two cases have the same name")
    return [*cases, *_card_case(exercise, cases)]


def _card_case(exercise: Exercise, cases: list[Case]) -> list[Case]:
    """The case behind a surrogate card: a line of inputs, an upstream gradient of ones, no part."""
    if exercise.card is None:
        return []
    line = np.linspace(*CARD_RANGE, CARD_POINTS, dtype=np.float32)
    inputs = {**cases[0].inputs, exercise.card: line}
    if any(isinstance(v, np.ndarray) for name, v in inputs.items() if name != exercise.card):
        raise CourseError(f"{exercise.id}: a card needs a function of one array")
    return [Case(CARD, inputs, np.ones_like(line), CARD, cases[0].modes[:1])]


def expected(exercise: Exercise) -> Shown:
    """Which mistakes can show in which parts: those that do in one of a few draws."""
    return frozenset[tuple[str, str]]().union(
        *(shown(terms(exercise), *_drawn(exercise, seed)) for seed in SAMPLE)
    )


def draw(exercise: Exercise, seed: int, wanted: Shown) -> Draw:
    """Cases and their key: of the draws for this seed the first that shows all that is wanted,
    or of `DRAWS` the one that shows most of it. The same seed gives the same draw."""
    told, best, most = terms(exercise), None, -1
    for again in range(DRAWS):
        drawn = _drawn(exercise, seed, again)
        count = len(shown(told, *drawn, wanted))
        if count > most:
            best, most = drawn, count
        if count == len(wanted):
            break
    assert best is not None
    return best


def _drawn(exercise: Exercise, seed: int, again: int = 0) -> Draw:
    cases = cases_for(exercise, seed, again)
    return tuple(cases), key(exercise, cases)


def shown(
    exercise: Terms, cases: Sequence[Case], answers: Key, wanted: Shown | None = None
) -> Shown:
    """The mistakes that are clearly off somewhere, each with the part in which it is; of those
    that are `wanted`, if these are named."""
    found, looked = set[tuple[str, str]](), set[tuple[str, int, int]]()
    for case in cases:
        for mode in case.modes:
            for what, place in asked(exercise, answers.truth, case, mode, None).items():
                truth, part = answers.truth[case.name, place], case.part_of(what)
                for name, given in answers.mistakes.items():
                    if (name, part) in found or not (wanted is None or (name, part) in wanted):
                        continue
                    value = said(given, case.name, mode, what)
                    pair = (name, id(value), id(truth))  # most say the same in every mode
                    if value is SILENT or pair in looked:
                        continue
                    looked.add(pair)
                    if differs(value, truth, case, exercise.tolerance):
                        found.add((name, part))
    return frozenset(found)


def differs(value: Any, truth: Any, case: Case, tolerance: float) -> bool:
    """Whether a predicted answer is clearly not the true one, in all the forms it may have."""
    if isinstance(value, Either):
        return all(differs(option, truth, case, tolerance) for option in value.options)
    seen = outcome.of(np.asarray(value) if isinstance(value, float | int) else value)
    rtol = CLEARLY * relative(case.dtype, tolerance)
    if seen.array is not None and isinstance(truth, np.ndarray):  # `compare` also seeks the worst
        return not agree(seen.array, truth, rtol)
    dtype = seen.array.dtype.name if seen.array is not None else ""
    return compare(seen, truth, dtype, rtol)[0] != "right"
