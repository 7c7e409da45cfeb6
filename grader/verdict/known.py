"""Which of an exercise's own mistakes the answers show: by what it raises, by what it gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..contract import Either
from ..key import SILENT, Key, Term, Terms, said
from .compare import Finding, compare


def raised_by(terms: Terms, wrong: list[Finding]) -> Term | None:
    """The named mistake whose exception was raised in every failing call."""
    errors = [f for f in wrong if f.status == "error"]
    if not errors:
        return None
    for term in terms.mistakes:
        if term.raises is None or not of_part(term, wrong):
            continue
        said = [f"{f.outcome.detail.get('type')}: {f.outcome.text}" for f in errors]
        if all(re.search(term.raises, text, re.DOTALL) for text in said):
            return term
    return None


def goes_with(key: Key, raised: Term, numbers: list[Finding]) -> bool:
    """Whether the calls that came back do not speak against what the others raised: they hold no
    gradient, or what this mistake gives. Wrong numbers for no reason given are another mistake."""
    if all(f.status == "none" for f in numbers):
        return True
    return predicted(key, numbers, {raised.name: raised}) == raised.name


def predicted(key: Key, found: list[Finding], own: dict[str, Term]) -> str | None:
    """The mistake whose answers are what came back, everywhere it speaks; the most telling one."""
    wrong = [f for f in found if not f.right]
    order = [*own, *(n for n in key.mistakes if n not in own)]
    scores = {}
    for name in order:
        if name not in key.mistakes or (name in own and not of_part(own[name], wrong)):
            continue
        given = key.mistakes[name]
        told = [(f, said(given, f.case.name, f.mode, f.key)) for f in found]
        spoken = [(f, value) for f, value in told if value is not SILENT]
        # Numbers tell a mistake: a dtype is as wrong whatever they are.
        telling = sum(not f.right and f.status != "dtype" for f, _ in spoken)
        if telling and all(_as_predicted(f, value) for f, value in spoken):
            scores[name] = telling
    # max keeps the first of equals: the exercise's own mistakes stand before the automatic ones.
    return max(scores, key=lambda name: scores[name]) if scores else None


def _as_predicted(finding: Finding, value: Any) -> bool:
    if isinstance(value, Either):
        return any(_as_predicted(finding, option) for option in value.options)
    # The dtype of a wrong answer is nobody's concern: compare numbers only.
    dtype = finding.outcome.array.dtype.name if finding.outcome.array is not None else ""
    rtol = 4 * finding.rtol
    same = compare(finding.outcome, value, dtype, rtol)[0] == "right"
    return same or _rounded(finding, value, rtol)


def _rounded(finding: Finding, value: Any, rtol: float) -> bool:
    """Whether what came back is this but for rounding on the scale of the right answer: a mistake
    may be a small difference of large numbers."""
    got, truth = finding.outcome.array, finding.expected
    if not isinstance(value, np.ndarray) or not isinstance(truth, np.ndarray):
        return False
    if got is None or got.dtype.kind == "c":
        return False
    if got.shape != value.shape or truth.size == 0:
        return False
    came, given, right = (each.astype(np.float64) for each in (got, value, truth))
    scale = np.abs(right[np.isfinite(right)]).max(initial=0.0)
    same = (came == given) | (np.isnan(came) & np.isnan(given))
    with np.errstate(invalid="ignore", over="ignore"):  # where both are infinite
        return bool(np.all(same | (np.abs(came - given) <= rtol * scale)))


def of_part(term: Term, wrong: list[Finding]) -> bool:
    """Whether what is wrong lies in the part that the mistake is kept to."""
    return term.part is None or all(f.case.part_of(f.key) == term.part for f in wrong)
