"""What is asked of the learner's code: plain data without a single answer in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..contract import Case
from ..key import Terms

CARD = "card"  # the part of cases that are drawn and never judged


@dataclass(frozen=True)
class Request:
    """The cases to run, how to run them, and the text of the chapter's own probes."""

    exercise: str
    probe: str
    options: Mapping[str, Any]
    cases: tuple[Case, ...]
    probes: str = ""
    starter: str = ""


def asked(cases: Iterable[Case], part: str | None) -> tuple[Case, ...]:
    """The cases that a part needs, each wanting only what that part judges."""
    if part is None:
        return tuple(case for case in cases if case.part != CARD)
    kept = []
    for case in cases:
        wants = tuple(want for want in case.wants if case.part_of(want) == part)
        # A probe of the chapter's own names its keys itself: it runs whole, the verdict selects.
        if wants or (not case.wants and case.part in (None, part)):
            kept.append(replace(case, wants=wants))
    return tuple(kept)


def request(terms: Terms, cases: Iterable[Case], part: str | None, probes: str) -> Request:
    """The request for one part (or, with None, for all) of an exercise."""
    kept = asked(cases, part)
    return Request(terms.id, terms.probe, terms.options, kept, probes, terms.starter)
