"""Hints, one at a time."""

from __future__ import annotations

from . import display, words
from .display.report import Report
from .key import Terms

_shown: dict[str, int] = {}


def show(terms: Terms) -> None:
    """Shows the next hint; the last one stays, with the section to reread."""
    at = min(_shown.get(terms.id, 0), len(terms.hints) - 1)
    _shown[terms.id] = at + 1
    last = at + 1 == len(terms.hints)
    reread = (words.REREAD.format(section=terms.reread),) if last and terms.reread else ()
    headline = words.HINT.format(number=at + 1, count=len(terms.hints))
    display.show(Report(terms.id, "unattempted", headline, (terms.hints[at], *reread)))
