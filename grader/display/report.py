"""What a verdict says, in order, before it becomes HTML or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .. import words
from ..contract import Accuracy, Either
from ..verdict import Finding, Verdict
from ..verdict.decide import PASS
from ..verdict.words import HIDDEN

MOST_WORD = 60  # characters of a text that came where something else was asked


@dataclass(frozen=True)
class Report:
    """The lines of a verdict. `rows` are label and value pairs; `picture` is an SVG or HTML."""

    title: str
    outcome: str
    headline: str
    says: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    checked: str = ""
    also: str = ""
    picture: str = ""
    picture_says: str = ""
    verdict: Mapping[str, str | None] = field(default_factory=dict)


def report(verdict: Verdict, *, reveal: bool = True, finding: str = "", also: str = "") -> Report:
    """The report of a verdict.

    reveal: whether inputs and right values may be shown (not for the hidden inputs of grading).
    finding: a line of the gradient X-ray about the learner's own function.
    also: another right answer, shown after a pass.
    """
    title = verdict.exercise + (f" · {verdict.part}" if verdict.part else "")
    title = title if reveal else words.FOR_THE_SCORE.format(title=title)
    said = verdict.says if reveal else HIDDEN.get(verdict.says, verdict.says)
    says = tuple(line for line in (*said.split("\n"), finding) if line)
    if verdict.passed:
        checked = _checked(verdict)
        data = _data(verdict)
        rows = verdict.rows or _accuracy(verdict)
        return Report(title, PASS, verdict.headline, (), rows, checked, also, verdict=data)
    first = verdict.first
    rows = _rows(first) if first is not None and reveal else ()
    rows = verdict.rows or _accuracy(verdict) or rows
    return Report(title, verdict.outcome, verdict.headline, says, rows, verdict=_data(verdict))


def _data(verdict: Verdict) -> dict[str, str | None]:
    """The verdict as data, for those who read notebooks by program."""
    names = ("exercise", "part", "outcome", "mistake")
    return {name: getattr(verdict, name) for name in names}


def _checked(verdict: Verdict) -> str:
    found = verdict.findings
    if any(f.key.startswith("entry:") for f in found):
        return words.all_entries(len(found))
    cases = list(dict.fromkeys(f.case.name for f in found))
    modes = list(dict.fromkeys(words.MODES.get(f.mode, f.mode) for f in found))
    tolerance = max((f.rtol for f in found if _measured(f.expected)), default=0.0)
    return words.checked(cases, modes, tolerance)


def _measured(expected: object) -> bool:
    """Whether a truth is floating-point numbers, which are right within a tolerance."""
    if isinstance(expected, Either):
        return any(map(_measured, expected.options))
    if isinstance(expected, np.ndarray | np.generic):
        return expected.dtype.kind in "fV"
    return isinstance(expected, float)


def _accuracy(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    """Accuracy, floor and what trivial models reach, where labels were predicted."""
    judged = [f for f in verdict.findings if isinstance(f.expected, Accuracy)]
    if not judged or judged[0].worst is None:
        return ()
    reached, floor = judged[0].worst.got, judged[0].worst.expected
    rows = ((words.ACCURACY, words.percent(reached)), (words.FLOOR, words.percent(floor)))
    beside = judged[0].expected.beside
    return (*rows, (words.BESIDE, beside)) if beside else rows


def _rows(finding: Finding) -> tuple[tuple[str, str], ...]:
    """Where it went wrong: the case, the way of running, the element."""
    rows: list[tuple[str, str]] = []
    if finding.key.startswith("entry") or finding.key == "entries":
        return ()
    rows.append((words.WHERE, words.where(finding.case.name, finding.mode)))
    if finding.status == "error":
        rows += _raised(finding)
    elif finding.worst is not None:
        rows += _worst(finding)
    else:
        if isinstance(finding.expected, bool | str):  # of what, else nobody can tell
            rows.append((words.WHAT, words.thing(finding.key)))
        rows.append((words.GOT, described(finding)))
        rows.append((words.EXPECTED, _shape_of(finding.expected)))
    return tuple(rows)


def _raised(finding: Finding) -> list[tuple[str, str]]:
    detail = finding.outcome.detail
    rows = [(str(detail.get("type", "error")), finding.outcome.text)]
    if detail.get("code"):
        rows.append((words.LINE.format(line=detail.get("line")), str(detail["code"])))
    return [*rows, (words.INPUTS, inputs(finding))]


def _worst(finding: Finding) -> list[tuple[str, str]]:
    worst = finding.worst
    assert worst is not None
    at = f"[{', '.join(map(str, worst.index))}]" if worst.index else ""
    rows = [
        (words.ELEMENT, f"{words.thing(finding.key)}{at}"),
        (words.GOT, _number(worst.got, finding.expected)),
        (words.EXPECTED, _number(worst.expected, finding.expected)),
    ]
    if worst.ratio is not None and _measured(finding.expected):
        rows.append((words.RATIO, f"{worst.ratio:.4g}"))
    if _measured(finding.expected):
        rows.append((words.TOLERANCE, words.tolerance(finding.rtol, finding.case.dtype)))
    return rows


def _number(value: float, expected: object) -> str:
    """A number as the truth's dtype has it: True and False where that is bool."""
    truth = isinstance(expected, np.ndarray) and expected.dtype.kind == "b"
    return str(bool(value)) if truth and value in (0, 1) else f"{value:.6g}"


def inputs(finding: Finding) -> str:
    """The inputs of a case, each shortened to one line."""
    return "; ".join(f"{name} = {short(value)}" for name, value in finding.case.inputs.items())


def short(value: object) -> str:
    """A value on one line: an array with its dtype and shape, at most eight numbers."""
    if isinstance(value, np.ndarray):
        flat = value.astype(np.float64).ravel() if value.dtype.kind == "V" else value.ravel()
        numbers = ", ".join(f"{v:.4g}" if value.dtype.kind in "fV" else str(v) for v in flat[:8])
        more = ", …" if flat.size > 8 else ""
        return f"{value.dtype.name}{_shape(value.shape)} [{numbers}{more}]"
    return str(getattr(value, "text", value))


def described(finding: Finding) -> str:
    """What came back, in a few words."""
    outcome = finding.outcome
    if outcome.array is not None:
        return f"{outcome.array.dtype.name}{_shape(outcome.array.shape)}"
    if outcome.kind == "word":
        return words.cut(" ".join(str(outcome.word).split()), MOST_WORD)
    return {"none": "None"}.get(outcome.kind, outcome.text or outcome.kind)


def _shape_of(expected: object) -> str:
    if isinstance(expected, np.ndarray):
        return f"shape {_shape(expected.shape)}"
    return str(expected)


def _shape(shape: Sequence[int]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
