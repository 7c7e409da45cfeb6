"""From findings to a verdict: what happened, and which mistake was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..contract import Case
from ..key import Key, Terms
from ..probe.outcome import UNTOUCHED, Observation, Outcome
from . import tables, words
from .compare import Finding, findings
from .known import goes_with, of_part, predicted, raised_by
from .patterns import factor, gravest, nothing_returned, shared_by

PASS, FAIL, ERROR, UNATTEMPTED = "pass", "fail", "error", "unattempted"
WRONG_ENTRIES, NO_RETURN = "wrong entries", "nothing returned"
SWEEPING = ("zeros", "sign", "mean for sum", "constant factor")  # they speak of everything
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
    numbers = [f for f in wrong if f.status not in NO_ANSWER]
    raised = raised_by(terms, wrong)
    if raised is not None and goes_with(key, raised, numbers):
        return raised.name, raised.says
    if nothing_returned(numbers, terms.parts):  # before mistakes that end in None, too
        return NO_RETURN, words.PATTERNS[NO_RETURN]
    # An own probe that scores entry by entry: "misses every fault" is said of who does, not of who
    # misses some, so entries that are right count, too. Likewise where a contract says so.
    entire = terms.options.get("by_entry") or terms.options.get("entire")
    told = [f for f in found if f.status not in NO_ANSWER] if entire else numbers
    named = predicted(key, told, own)
    if named is not None:
        says = own[named].says if named in own else words.PATTERNS[named]
        return named, f"{says}\n{tables.lines(wrong, terms.options)}".strip() if table else says
    if table:
        return WRONG_ENTRIES, tables.lines(wrong, terms.options)
    shared = shared_by(numbers) if numbers else None
    for term in terms.mistakes:
        if term.pattern is not None and term.pattern == shared and of_part(term, wrong):
            return term.name, term.says
    pattern = shared or gravest(numbers)
    if pattern is None:
        return None, words.unknown(wrong)
    partly = pattern in SWEEPING and _elsewhere_right(found, numbers)
    return pattern, words.pattern(pattern, numbers, _factor(numbers), partly)


def _elsewhere_right(found: list[Finding], wrong: list[Finding]) -> bool:
    """Whether another call got what is wrong here, and not as a mere zero."""
    keys = {f.key for f in wrong}
    return any(f.right and f.key in keys and np.any(f.expected) for f in found)


def _factor(found: list[Finding]) -> str:
    c = factor(found[0]) if found[0].status in ("value", "zeros") else None
    return "" if c is None else f"{c:.4g}"
