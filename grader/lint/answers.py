"""The starter is not attempted, right answers pass, wrong ones fail and are named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..build.cells import read, starters
from ..checking import evaluate
from ..contract import Exercise
from ..course import Chapter
from ..verdict import Verdict
from . import Fault
from .space import answer, setup

LEAST_RIGHT, LEAST_WRONG = 2, 3


def judged(chapter: Chapter) -> Iterator[Fault]:
    """Every answer of the chapter gets the verdict that its name promises."""
    given = starters(chapter)
    written = chapter.load("answers").ANSWERS
    space = setup(chapter)
    solutions = {c.metadata.answer: c.source for c in read(chapter).cells if "answer" in c.metadata}
    for name, exercise in chapter.exercises().items():
        yield from _counts(chapter, name, written.get(name, {}))
        tried = {"the starter": given[name], "the solution": solutions[name]}
        for what, source in (tried | written.get(name, {})).items():
            fault = _judge(exercise, what, source, space)
            if fault is not None and what == "the solution" and fault.startswith("should pass"):
                fault = f"reference.py and the solution in {chapter.name}.md disagree: {fault}"
            if fault is not None:
                yield Fault(chapter.name, f"{name}, {what}", fault)


def _counts(chapter: Chapter, name: str, written: Mapping[str, str]) -> Iterator[Fault]:
    right = sum(is_right(what) for what in written)
    if right < LEAST_RIGHT:
        yield Fault(chapter.name, name, f"{right} other right answers, {LEAST_RIGHT} are asked")
    if len(written) - right < LEAST_WRONG:
        wrong = len(written) - right
        yield Fault(chapter.name, name, f"{wrong} wrong answers, {LEAST_WRONG} are asked")


def is_right(what: str) -> bool:
    """Whether an answer of this name is one that earns all points."""
    return what.startswith("ok") or what == "the solution"


def _judge(exercise: Exercise, what: str, source: str, space: Mapping[str, Any]) -> str | None:
    try:
        verdict = evaluate(exercise.id, answer(source, what, exercise.id, space))
    except Exception as error:
        return f"could not be run: {type(error).__name__}: {error}"
    return wrongly(what, verdict)


def wrongly(what: str, verdict: Verdict) -> str | None:
    """What is wrong with this verdict on an answer of this name; None if nothing is."""
    got = f"{verdict.outcome} ({verdict.mistake}): {verdict.headline} {verdict.says}"
    if is_right(what):
        return None if verdict.passed else f"should pass, got {got} {_first(verdict)}"
    if what == "the starter":
        return None if verdict.outcome == "unattempted" else f"should be unattempted, got {got}"
    if what.startswith("raises"):
        return None if verdict.outcome == "error" else f"should raise, got {got}"
    if verdict.passed:
        return "should fail, but passes"
    wanted = what.rstrip("0123456789").rstrip("_").replace("_", " ")
    if (verdict.mistake or "") != wanted:
        return f"should be named {wanted!r}, got {got} {_first(verdict)}"
    return None


def _first(verdict: Verdict) -> str:
    f = verdict.first
    if f is None:
        return ""
    return f"[{f.case.name}, {f.mode}, {f.key}: {f.status} {f.worst or f.outcome.text}]"
