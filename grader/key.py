"""The answer key: for some cases, what is right and what each named mistake would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .contract import Answers, Case, Exercise

# Mistakes that follow from the contract itself, without the chapter's doing.
UPSTREAM_LOST = "upstream lost"
TRUE_DERIVATIVE = "true derivative"

CaseKey = tuple[str, str]  # case, what


SILENT = object()


def said(answers: Mapping[CaseKey, Any], case: str, mode: str, what: str) -> Any:
    """What a mistake gives in this mode, before what it gives in any; SILENT where it says none."""
    return answers.get((case, f"{mode}/{what}"), answers.get((case, what), SILENT))


@dataclass(frozen=True)
class Key:
    """truth: (case, what) to the right answer. mistakes: name to the answers it gives."""

    truth: Mapping[CaseKey, Any]
    mistakes: Mapping[str, Mapping[CaseKey, Any]]


@dataclass(frozen=True)
class Term:
    """A mistake in words, as the verdict needs it."""

    name: str
    says: str
    raises: str | None = None
    pattern: str | None = None
    part: str | None = None


@dataclass(frozen=True)
class Terms:
    """Everything about an exercise but its answers: plain data that a learner may have."""

    id: str
    parts: Mapping[str, float]
    hints: tuple[str, ...]
    mistakes: tuple[Term, ...] = ()
    probe: str = "function"
    options: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 1.0
    card: str | None = None
    reread: str = ""
    also: str = ""
    starter: str = ""
    chapter: str = ""

    @property
    def by_entry(self) -> bool:
        """Whether every entry scores on its own: a table, or functions planted for a checker."""
        return self.probe == "table" or bool(self.options.get("by_entry"))


def terms(exercise: Exercise, starter: str = "", chapter: str = "") -> Terms:
    """The words of a contract."""
    mistakes = [Term(m.name, m.says, m.raises, m.pattern, m.part) for m in exercise.mistakes]
    return Terms(
        exercise.id,
        dict(exercise.parts),
        tuple(exercise.hints),
        tuple(mistakes),
        exercise.probe,
        dict(exercise.options),
        exercise.tolerance,
        exercise.card,
        exercise.reread,
        exercise.also,
        starter,
        chapter,
    )


def key(exercise: Exercise, cases: Sequence[Case]) -> Key:
    """The key for these cases, from the chapter's closed forms."""
    truth = _answers(exercise.truth, cases)
    mistakes = {
        m.name: _answers(m.answer, cases) for m in exercise.mistakes if m.answer is not None
    }
    if exercise.plain is not None:
        mistakes.setdefault(TRUE_DERIVATIVE, _answers(exercise.plain, cases))
    mistakes.setdefault(UPSTREAM_LOST, _upstream_lost(exercise, cases))
    return Key(truth, mistakes)


def _answers(answer: Any, cases: Sequence[Case]) -> dict[CaseKey, Any]:
    return {(case.name, what): value for case in cases for what, value in answer(case).items()}


def _upstream_lost(exercise: Exercise, cases: Sequence[Case]) -> dict[CaseKey, Any]:
    """What a rule gives that takes every upstream gradient for ones: right only at ones."""

    def with_ones(case: Case) -> Answers:
        if case.upstream is None:
            return {}
        ups = case.upstream if isinstance(case.upstream, tuple) else (case.upstream,)
        ones = tuple(np.ones_like(up) for up in ups)
        lost = replace(case, upstream=ones if isinstance(case.upstream, tuple) else ones[0])
        return {k: v for k, v in exercise.truth(lost).items() if k.startswith("gradient:")}

    return _answers(with_ones, cases)
