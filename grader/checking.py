"""`check`, `evaluate`, `hint`, `progress`: what a learner and a program call."""

from __future__ import annotations

import difflib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import companions, display, judge, probe, record, words
from .calling import word
from .course import Course, CourseError
from .display.report import Report, report
from .oneline import OneLine
from .verdict import Verdict


class CheckFailed(OneLine):
    """An answer is not right yet."""


class NoSuchExercise(CourseError):
    """A name that no exercise has."""


def evaluate(id: str, object: Any, seed: int | None = None, part: str | None = None) -> Verdict:
    """The verdict on an answer, without displaying anything.

    id: the exercise. object: the learner's function, dictionary or list. seed: None checks on the
    stored inputs in data/; a number draws fresh ones, which needs the course's solutions/.
    part: one graded part only. Raises CourseError for an unknown exercise or part.
    """
    return _evaluated(_plan(id, seed, part), object)


def _evaluated(plan: judge.Plan, object: Any) -> Verdict:
    return plan.decide(probe.run(object, plan.request))


@word
def check(id: str, object: Any, part: str | None = None, fresh: bool = False) -> None:
    """Checks an answer and shows what it found.

    id: the exercise's name. object: what you wrote. part: "value", "gradient", … or all of it.
    fresh: on new inputs, which needs the instructor's side of the course.
    Raises CheckFailed when the answer is not right; writes nothing to stderr.
    """
    plan = _plan(id, _fresh_seed(id) if fresh else None, part)
    verdict = _evaluated(plan, object)
    if not fresh:
        record.remember(verdict, plan.terms.parts)
    display.show(_report(plan, verdict, object, reveal=not fresh))
    if not verdict.passed and not _scored_by_entry(verdict):
        raise CheckFailed(words.failed(verdict.exercise, verdict.part, verdict.headline))


def partial_credit(id: str, object: Any, points: float) -> float:
    """The points an answer has earned: the last line of a graded cell with credit per entry."""
    return points * evaluate(id, object).fraction


@word
def hint(id: str) -> None:
    """Shows the next hint for an exercise."""
    from . import hints

    hints.show(_plan(id, None, None).terms)


def _scored_by_entry(verdict: Verdict) -> bool:
    """While nbgrader grades a table, its last line counts the entries: an exception would be 0."""
    grading = os.environ.get("NBGRADER_EXECUTION") == "autograde"
    return grading and any(f.key.startswith("entry:") for f in verdict.findings)


def _report(plan: judge.Plan, verdict: Verdict, object: Any, *, reveal: bool) -> Report:
    """The report, with the X-ray's finding where the gradient is missing or dead."""
    # Once an exercise: after its last part, or after a check of the whole.
    last = plan.part in (None, list(plan.terms.parts)[-1])
    also = words.ALSO.format(also=plan.terms.also) if plan.terms.also and last and reveal else ""
    finding = companions.finding(plan, verdict, object) if reveal else ""
    made = report(verdict, reveal=reveal, finding=finding, also=also)
    return companions.with_card(made, plan, verdict, object) if reveal else made


def progress() -> None:
    """Shows the map: what is done, what is next, hints used, how well you predict."""
    from .display import map

    map.show(record.read(data_root()))


def _plan(id: str, seed: int | None, part: str | None) -> judge.Plan:
    plan = judge.plan(Course.find(), id, part, seed) if seed is not None else _stored(id, part)
    if part is not None and part not in plan.terms.parts:
        raise CourseError(f"{id} has no part {part!r}; it has {', '.join(plan.terms.parts)}")
    return plan


def _stored(id: str, part: str | None) -> judge.Plan:
    root = data_root()
    try:
        return judge.stored(root, id, part)
    except CourseError as error:
        chapters = [file.stem for file in sorted((root / "data").glob("[0-9]*.json"))]
        names = [name for chapter in chapters for name in judge.exercises_of(root, chapter)]
        near = difflib.get_close_matches(str(id), names, 1)
        nearest = words.NEAREST.format(near=near[0]) if near else ""
        raise NoSuchExercise(f"{error}.{nearest}") from None


def data_root() -> Path:
    """The folder whose data/ the checks use: the course around here, or the installed one's."""
    beside = Path(__file__).resolve().parents[1]
    try:
        around = Course.find().root
    except CourseError:
        if not (beside / "data").is_dir():
            raise
        return beside
    # A learner may have an nbgrader_config.py that is of no course but for handing in.
    there = (around / "data").is_dir() or not (beside / "data").is_dir()
    return around if there else beside


def _fresh_seed(id: str) -> int:
    """Repeatable for one submission folder where the course has a key."""
    root = Course.find().root
    key = b""
    with suppress(OSError):  # a learner has none, or none to read
        key = (root / ".course_key").read_bytes()
    return judge.seed_for(key, str(Path.cwd()), id)
