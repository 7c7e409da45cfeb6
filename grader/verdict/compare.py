"""One finding per answer: right, or in which way not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contract import Accuracy, Case, Either
from ..key import CaseKey, Terms
from ..probe.outcome import Observation, Outcome
from .form import missing
from .tolerance import allowed, relative, within

BUILT_IN = ("function", "op_gradient")
# Statuses that come before any comparison of numbers.
_OF_KIND = {kind: kind for kind in ("error", "blank", "type", "skipped", "missing")}


@dataclass(frozen=True)
class Worst:
    """The element that is furthest off, measured in tolerances."""

    index: tuple[int, ...]
    got: float
    expected: float

    @property
    def ratio(self) -> float | None:
        """got / expected, None where that says nothing."""
        finite = np.isfinite(self.got) and np.isfinite(self.expected) and self.expected != 0
        return self.got / self.expected if finite else None


@dataclass(frozen=True)
class Finding:
    """The judgement of one answer.

    status: "right", "none", "not none", "zeros", "nan", "shape", "dtype", "value", "word",
    "accuracy", "error", "blank", "type", "skipped" or "missing".
    """

    case: Case
    mode: str
    key: str
    status: str
    expected: Any
    outcome: Outcome
    rtol: float = 0.0
    worst: Worst | None = None

    @property
    def right(self) -> bool:
        """Whether this answer is right."""
        return self.status == "right"


def findings(
    terms: Terms,
    truth: Mapping[CaseKey, Any],
    cases: Iterable[Case],
    observation: Observation,
    part: str | None,
) -> list[Finding]:
    """A finding for every answer that this part (None: any part) asks for."""
    return [
        _finding(case, mode, what, expected, observation, terms)
        for case in cases
        for mode in case.modes
        for expected in [_expected(terms, truth, case, mode, part)]
        for what in expected
    ]


def _expected(
    terms: Terms, truth: Mapping[CaseKey, Any], case: Case, mode: str, part: str | None
) -> dict[str, Any]:
    """What is asked in this mode, with what is true."""
    keys = asked(terms, truth, case, mode, part)
    return {what: truth[case.name, key] for what, key in keys.items()}


def asked(
    terms: Terms, truth: Mapping[CaseKey, Any], case: Case, mode: str, part: str | None
) -> dict[str, str]:
    """What is asked in this mode, to the key under which the truth about it stands.

    A truth under "eager/gradient:x" holds in that mode only and goes before "gradient:x".
    """
    asked: dict[str, str] = {}
    for name, key in truth:
        own, _, what = key.rpartition("/")
        if name != case.name or own not in ("", mode) or (what in asked and not own):
            continue
        family = what.split(":")[0].split("[")[0].split(" ")[0]
        wanted = terms.probe not in BUILT_IN or family in case.wants
        if wanted and part in (None, case.part_of(what)):
            asked[what] = key
    return asked


def _finding(
    case: Case,
    mode: str,
    key: str,
    expected: Mapping[str, Any],
    observation: Observation,
    terms: Terms,
) -> Finding:
    outcome = observation.get((case.name, mode, "error"))
    outcome = outcome or observation.get((case.name, mode, key))
    outcome = outcome or missing(case, mode, key, expected, observation)
    rtol = relative(case.dtype, terms.tolerance)
    status, worst = compare(outcome, expected[key], case.dtype, rtol)
    return Finding(case, mode, key, status, expected[key], outcome, rtol, worst)


def compare(outcome: Outcome, expected: Any, dtype: str, rtol: float) -> tuple[str, Worst | None]:
    """The status of an outcome against the truth, with the worst element if numbers differ.

    A truth that is an array of floats also fixes the dtype; a Python number leaves it open.
    """
    if isinstance(expected, Either):
        tried = [compare(outcome, option, dtype, rtol) for option in expected.options]
        return next((t for t in tried if t[0] == "right"), tried[0])
    if outcome.kind in _OF_KIND:
        return _OF_KIND[outcome.kind], None
    if expected is None:
        return ("right" if outcome.kind == "none" else "not none"), None
    if outcome.kind == "none":
        return "none", None
    if outcome.kind == "word" or isinstance(expected, str | bool | list):
        return ("right" if _same_word(outcome, expected) else "word"), None
    assert outcome.array is not None
    if outcome.array.dtype.kind == "c":  # no answer here is complex
        return "type", None
    if isinstance(expected, Accuracy):
        return _accuracy(outcome.array, expected)
    strict = isinstance(expected, np.ndarray | np.generic) and expected.dtype.kind == "f"
    return _numbers(outcome.array, np.asarray(expected), dtype if strict else None, rtol)


def _same_word(outcome: Outcome, expected: Any) -> bool:
    if outcome.kind == "array" and isinstance(expected, bool):  # np.bool_, a bool tensor
        assert outcome.array is not None
        return outcome.array.shape == () and bool(outcome.array) == expected
    if outcome.kind != "word":
        return False
    word = outcome.word
    return type(word) is type(expected) and bool(word == expected)


def _numbers(
    got: np.ndarray, expected: np.ndarray, dtype: str | None, rtol: float
) -> tuple[str, Worst | None]:
    if got.shape != expected.shape:
        return "shape", None
    good = within(got, expected, rtol)
    if good.all():
        return ("right" if dtype in (None, got.dtype.name) else "dtype"), None
    worst = _worst(got.astype(np.float64), expected.astype(np.float64), good, rtol)
    if np.isnan(got.astype(np.float64)[~good]).any():
        return "nan", worst
    return ("value" if np.any(got) else "zeros"), worst


def _accuracy(got: np.ndarray, expected: Accuracy) -> tuple[str, Worst | None]:
    if got.shape != expected.labels.shape:
        return "shape", None
    share = float(np.mean(got == expected.labels))
    reached = share >= expected.floor
    return ("right" if reached else "accuracy"), Worst((), share, expected.floor)


def _worst(got: np.ndarray, expected: np.ndarray, good: np.ndarray, rtol: float) -> Worst:
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(got - expected) / allowed(expected, rtol)
    off = np.where(good, -1.0, np.where(np.isnan(off), np.inf, off))
    index = np.unravel_index(int(np.argmax(off)), got.shape) if got.shape else ()
    where = tuple(int(i) for i in index)
    return Worst(where, float(got[where]), float(expected[where]))
