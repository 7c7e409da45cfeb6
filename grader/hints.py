"""Hints, one at a time. How many were shown is remembered."""

from __future__ import annotations

from . import display, state, words
from .display.report import Report
from .key import Terms

_shown: dict[str, int] = {}  # where no file can be written, the session remembers


def used(exercise: str) -> int:
    """How many hints of an exercise have been shown."""
    return max(_shown.get(exercise, 0), int(state.read()["hints"].get(exercise, 0)))


def show(terms: Terms) -> None:
    """Shows the next hint; the last one stays, with the section to reread."""
    at = min(used(terms.id), len(terms.hints) - 1)
    _shown[terms.id] = at + 1
    state.update(lambda found: found["hints"].update({terms.id: at + 1}))
    last = at + 1 == len(terms.hints)
    reread = (words.REREAD.format(section=terms.reread),) if last and terms.reread else ()
    headline = words.HINT.format(number=at + 1, count=len(terms.hints))
    display.show(Report(terms.id, "unattempted", headline, (terms.hints[at], *reread)))
