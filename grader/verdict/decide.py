"""From findings to a verdict: what happened, and which mistake was made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contract import Case, Either
from ..key import SILENT, Key, Term, Terms, said
from ..probe.outcome import UNTOUCHED, Observation, Outcome
from . import tables, words
from .compare import Finding, compare, findings
from .patterns import factor, gravest, nothing_returned, shared_by

PASS, FAIL, ERROR, UNATTEMPTED = "pass", "fail", "error", "unattempted"
WRONG_ENTRIES, NO_RETURN = "wrong entries", "nothing returned"
NO_ANSWER = ("error", "skipped", "blank")  # what a mistake's answers are not compared with


@dataclass(frozen=True)
class Verdict:
    """The judgement of one part of an exercise (all parts where `part` is None).

    outcome: "pass", "fail", "error" (the learner's code raised) or "unattempted".
    mistake: the name of the recognised mistake, None if there is none or it is not known.
    headline and says: the learner's words. findings: one per answer. fraction: what it is worth,
    0 to 1 (between them only for tables). rows: label and value for every planted function.
    """

    exercise: str
    part: str | None
    outcome: str
    mistake: str | None
    headline: str
    says: str
    findings: tuple[Finding, ...] = ()
    fraction: float = 0.0
    rows: tuple[tuple[str, str], ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything asked was right."""
        return self.outcome == PASS

    @property
    def first(self) -> Finding | None:
        """The finding worth showing: the first one that is not right."""
        return next((f for f in self.findings if not f.right), None)


def unattempted(terms: Terms, part: str | None, gap: Outcome) -> Verdict:
    """The verdict on a starter that was not touched, or on a gap that was left."""
    line, name, code = (gap.detail.get(what) for what in ("line", "name", "code"))
    says = words.gap(line, name, code) if gap.detail else words.NOT_ATTEMPTED_SAYS
    return Verdict(terms.id, part, UNATTEMPTED, None, words.NOT_ATTEMPTED, says)


def decide(
    terms: Terms, key: Key, cases: Sequence[Case], observation: Observation, part: str | None
) -> Verdict:
    """The verdict on an observation, whatever it holds.

    Raises ValueError for a part in which the contract asks nothing: it could not be failed.
    """
    if UNTOUCHED in observation:
        return unattempted(terms, part, observation[UNTOUCHED])
    found = findings(terms, key.truth, cases, observation, part)
    if not found:
        raise ValueError(f"{terms.id}: nothing is asked in part {part!r}")
    wrong = [f for f in found if not f.right]
    table = terms.by_entry
    rows = tables.planted(found, terms.options)
    if not wrong:
        return Verdict(terms.id, part, PASS, None, words.PASS, "", tuple(found), 1.0, rows)
    blank = next((f for f in wrong if f.status == "blank"), None)
    if blank is not None and (not table or all(f.status == "blank" for f in found)):
        return unattempted(terms, part, blank.outcome)
    mistake, says = _name(terms, key, found)
    errors = all(f.status == "error" for f in wrong)
    outcome = ERROR if errors and mistake is None else FAIL
    fraction = _fraction(terms, found) if table else 0.0
    headline = words.headline(outcome, mistake, part)
    return Verdict(terms.id, part, outcome, mistake, headline, says, tuple(found), fraction, rows)


def _fraction(terms: Terms, found: list[Finding]) -> float:
    """The share of right entries; with planted functions, catches less false alarms."""
    planted = set(terms.options.get("planted", ()))
    if not planted:
        return sum(f.right for f in found) / len(found)
    caught = sum(f.right for f in found if tables.name_entry(f) in planted)
    alarms = sum(not f.right for f in found if tables.name_entry(f) not in planted)
    return max(0, caught - alarms) / len(planted)


def _name(terms: Terms, key: Key, found: list[Finding]) -> tuple[str | None, str]:
    """The mistake's name and words: the exercise's own first, then the general patterns."""
    wrong = [f for f in found if not f.right]
    own = {term.name: term for term in terms.mistakes}
    table = terms.by_entry and not all(f.status == "error" for f in wrong)
    raised = _raised(terms, wrong)
    if raised is not None:
        return raised.name, raised.says
    numbers = [f for f in wrong if f.status not in NO_ANSWER]
    if nothing_returned(numbers, terms.parts):  # before mistakes that end in None, too
        return NO_RETURN, words.PATTERNS[NO_RETURN]
    # An own probe that scores entry by entry: "misses every fault" is said of who does, not of who
    # misses some, so entries that are right count, too. Likewise where a contract says so.
    entire = terms.options.get("by_entry") or terms.options.get("entire")
    told = [f for f in found if f.status not in NO_ANSWER] if entire else numbers
    named = _predicted(key, told, own)
    if named is not None:
        says = own[named].says if named in own else words.PATTERNS[named]
        return named, f"{says}\n{tables.lines(wrong, terms.options)}".strip() if table else says
    if table:
        return WRONG_ENTRIES, tables.lines(wrong, terms.options)
    shared = shared_by(numbers) if numbers else None
    for term in terms.mistakes:
        if term.pattern is not None and term.pattern == shared and _of_part(term, wrong):
            return term.name, term.says
    pattern = shared or gravest(numbers)
    if pattern is None:
        return None, words.unknown(wrong)
    return pattern, words.pattern(pattern, numbers, _factor(numbers))


def _factor(found: list[Finding]) -> str:
    c = factor(found[0]) if found[0].status in ("value", "zeros") else None
    return "" if c is None else f"{c:.4g}"


def _of_part(term: Term, wrong: list[Finding]) -> bool:
    return term.part is None or all(f.case.part_of(f.key) == term.part for f in wrong)


def _raised(terms: Terms, wrong: list[Finding]) -> Term | None:
    """The named mistake whose exception was raised in every failing call."""
    errors = [f for f in wrong if f.status == "error"]
    if not errors:
        return None
    for term in terms.mistakes:
        if term.raises is None or not _of_part(term, wrong):
            continue
        said = [f"{f.outcome.detail.get('type')}: {f.outcome.text}" for f in errors]
        if all(re.search(term.raises, text, re.DOTALL) for text in said):
            return term
    return None


def _predicted(key: Key, found: list[Finding], own: dict[str, Term]) -> str | None:
    """The mistake whose answers are what came back, everywhere it speaks; the most telling one."""
    wrong = [f for f in found if not f.right]
    order = [*own, *(n for n in key.mistakes if n not in own)]
    scores = {}
    for name in order:
        if name not in key.mistakes or (name in own and not _of_part(own[name], wrong)):
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
    loose = float(value) if getattr(value, "shape", None) == () else value
    dtype = finding.outcome.array.dtype.name if finding.outcome.array is not None else ""
    rtol = 4 * finding.rtol
    return compare(finding.outcome, loose, dtype, rtol)[0] == "right" or _rounded(
        finding, value, rtol
    )


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
