"""What a verdict says of a table, entry by entry: predictions, and a checker's own judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..words import a

if TYPE_CHECKING:
    from .compare import Finding


def lines(wrong: Sequence[Finding], options: Mapping[str, Any]) -> str:
    """One line per wrong entry of a dictionary, with its reason."""
    if wrong[0].outcome.detail.get("handed"):
        return f"A dictionary is asked, {a(wrong[0].outcome.text)} came."
    if options.get("planted"):
        return PLANTED_SCORE if len(wrong) > 1 else ""
    return "\n".join(f"{name_entry(f)}: {_entry(f, options)}" for f in wrong)


def name_entry(finding: Finding) -> str:
    """The entry as the learner wrote it."""
    return finding.key.removeprefix("entry:")


NOT_ANSWERED = "not answered yet."
MISSPELT = " Nothing is asked about {near!r}: is it misspelt?"


def _entry(finding: Finding, options: Mapping[str, Any]) -> str:
    if finding.status in ("blank", "none", "missing"):
        near = finding.outcome.detail.get("near")
        return NOT_ANSWERED + (MISSPELT.format(near=near) if near else "")
    allowed = options["allowed"]
    answer = finding.outcome.word if finding.outcome.kind == "word" else None
    if finding.outcome.array is not None and finding.outcome.array.shape == ():
        answer = finding.outcome.array.item()
    if isinstance(answer, str) and answer in map(str, allowed) and answer not in allowed:
        return f"not {answer!r}, a text: write it without quotes."
    if answer not in allowed:
        return f"not one of {', '.join(str(word) for word in allowed)}."
    return f"not {answer}. {options['because'][finding.key]}"


PLANTED_SCORE = "Score: faults caught, less one for every false alarm. The table says which."


def planted(found: Sequence[Finding], options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """One row per planted function: what the learner's checker made of it."""
    faults = options.get("planted", ())
    return tuple(
        (name_entry(f), _planted(f, name_entry(f) in faults, options)) for f in found if faults
    )


def _planted(finding: Finding, fault: bool, options: Mapping[str, Any]) -> str:
    if finding.right:
        return "fault caught" if fault else "correct, passed"
    if finding.status == "error":
        detail, text = finding.outcome.detail, finding.outcome.text
        return f"your checker raised {detail.get('type')}: {text}"
    start = "fault missed" if fault else "false alarm"
    return f"{start}. {options['because'][finding.key]}"
