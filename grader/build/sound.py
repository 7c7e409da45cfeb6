"""A draw of an exercise, whose functions are the author's: what goes wrong there is one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import telling
from ..contract import Answers, Case, Exercise
from ..course import Chapter, CourseError
from ..key import Key, key

LONGEST = 60


@contextmanager
def named(chapter: Chapter, exercise: Exercise) -> Iterator[None]:
    """Makes of whatever a contract raises a CourseError with its file, line and exercise."""
    try:
        yield
    except Exception as error:
        raise chapter.wrong("reference", error, exercise.id) from error


def sound(chapter: Chapter, exercise: Exercise, seed: int) -> tuple[list[Case], Key]:
    """Cases and key for a seed. CourseError where a function of the contract raises, or gives
    something else than cases or answers."""
    with named(chapter, exercise):
        _want_cases(exercise.cases(np.random.default_rng(seed)))
        cases = telling.cases_for(exercise, seed)
        for case in cases:
            for what, answer in _answers(exercise):
                _want_answers(what, case, answer(case))
        return cases, key(exercise, cases)


def _want_cases(given: Any) -> None:
    right = isinstance(given, list | tuple) and all(isinstance(case, Case) for case in given)
    if not right or not given:
        raise CourseError(f"cases must give a list of Case, got {_shown(given)}")


def _want_answers(what: str, case: Case, given: Any) -> None:
    if not isinstance(given, Mapping):
        said = f"must give a dictionary of answers, got {_shown(given)}"
        raise CourseError(f"{what} {said} for the case {case.name!r}")


def _answers(exercise: Exercise) -> Iterator[tuple[str, Callable[[Case], Answers]]]:
    """All that gives answers to a case, by what it is."""
    yield "truth", exercise.truth
    if exercise.plain is not None:
        yield "plain", exercise.plain
    for mistake in exercise.mistakes:
        if mistake.answer is not None:
            yield f"the mistake {mistake.name!r}", mistake.answer


def _shown(given: Any) -> str:
    said = repr(given)
    return said if len(said) <= LONGEST else type(given).__name__
