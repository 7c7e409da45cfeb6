"""The trusted side of a check: draws the inputs, knows the answers, decides. NumPy only.

`plan` makes the request that goes to the learner's code, `decide` judges what came back. Fresh
inputs come from a seed; `seed_for` derives it from the course's key, so that a regrade repeats.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from . import store, telling, verdict
from .contract import Case, Exercise
from .course import Chapter, Course, CourseError
from .key import Key, Terms, terms
from .probe.outcome import Observation
from .probe.request import Request, request

STORED_SEED = 20_170_711  # any fixed number: the learner's inputs never change
# What the verdict alone reads: reasons, the words of a table, and which functions are faulty.
UNSENT = frozenset(("allowed", "because", "by_entry", "entire", "planted"))


@dataclass(frozen=True)
class Plan:
    """One check, planned: what to ask (no answer in it) and what is true (never sent)."""

    terms: Terms
    cases: tuple[Case, ...]
    key: Key
    part: str | None
    probes: str

    @property
    def request(self) -> Request:
        """What goes to the learner's code."""
        sent = {name: v for name, v in self.terms.options.items() if name not in UNSENT}
        said = replace(self.terms, options=sent)
        return request(said, self.cases, self.part, self.probes)

    def decide(self, observation: Observation) -> verdict.Verdict:
        """The verdict on what came back."""
        return verdict.decide(self.terms, self.key, self.request.cases, observation, self.part)


def fresh(
    chapter: Chapter, exercise_id: str, part: str | None, seed: int, starter: str = ""
) -> Plan:
    """A plan on fresh inputs, from the chapter's reference. CourseError if there is none.
    `starter` is the learner's text as it was handed out."""
    exercise = _exercises(chapter).get(exercise_id)
    if exercise is None:
        raise CourseError(f"{chapter.name} has no exercise {exercise_id!r}")
    cases, answers = _drawn(chapter, _stamp(chapter), exercise_id, seed)
    said = terms(exercise, starter, chapter.name)
    return Plan(said, cases, answers, part, chapter.probes)


@lru_cache(maxsize=16)
def _drawn(
    chapter: Chapter, stamp: int, exercise_id: str, seed: int
) -> tuple[tuple[Case, ...], Key]:
    """Fresh inputs and their answers: worked out once for all parts of an exercise."""
    wanted = _expected(chapter, stamp, exercise_id)
    return telling.draw(_exercises(chapter)[exercise_id], seed, wanted)


@lru_cache(maxsize=256)
def _expected(chapter: Chapter, stamp: int, exercise_id: str) -> telling.Shown:
    return telling.expected(_exercises(chapter)[exercise_id])


def _stamp(chapter: Chapter) -> int:
    return (chapter.folder / "reference.py").stat().st_mtime_ns


def _exercises(chapter: Chapter) -> dict[str, Exercise]:
    return _loaded(chapter, _stamp(chapter))


@lru_cache(maxsize=32)
def _loaded(chapter: Chapter, stamp: int) -> dict[str, Exercise]:
    return chapter.exercises()


def stored(root: Path, exercise_id: str, part: str | None) -> Plan:
    """A plan on the stored inputs in data/. CourseError where no chapter has this exercise."""
    entry = _find(root, exercise_id)
    if entry is None:
        raise CourseError(f"there is no exercise called {exercise_id!r}")
    (said, cases, answers), probes = entry
    return Plan(said, tuple(cases), answers, part, probes)


def exercises_of(root: Path, chapter: str) -> list[str]:
    """The exercises of a chapter, by data/; empty for a notebook that is no chapter."""
    file = Chapter(root, chapter).words
    return list(_shelf(file, _age(file))) if file.is_file() else []


def _age(words: Path) -> tuple[int, ...]:
    """When a chapter's words and its numbers were written: a build may change either alone."""
    files = words, words.with_suffix(".npz")
    return tuple(file.stat().st_mtime_ns for file in files if file.is_file())


def _find(root: Path, exercise_id: str) -> tuple[store.Stored, str] | None:
    """A stored exercise and its chapter's probes."""
    files = sorted((root / "data").glob("*.json"))
    return _read(exercise_id, tuple((file, _age(file)) for file in files))


@lru_cache(maxsize=256)
def _read(
    exercise_id: str, files: tuple[tuple[Path, tuple[int, ...]], ...]
) -> tuple[store.Stored, str] | None:
    for file, stamp in files:
        if store.mentions(file, exercise_id) and exercise_id in (shelf := _shelf(file, stamp)):
            return shelf[exercise_id], shelf.probes
    return None


@lru_cache(maxsize=32)
def _shelf(words: Path, stamp: tuple[int, ...]) -> store.Shelf:
    return store.Shelf(words.with_suffix(".npz"), words)


def plan(course: Course, exercise_id: str, part: str | None, seed: int) -> Plan:
    """A plan on fresh inputs for grading; CourseError where no chapter has this exercise."""
    entry = _find(course.root, exercise_id)
    if entry is not None:
        said = entry[0][0]
        chapter = Chapter(course.root, said.chapter)
        return fresh(chapter, exercise_id, part, seed, said.starter)
    for chapter in course.chapters:  # not built yet
        if exercise_id in _exercises(chapter):
            return fresh(chapter, exercise_id, part, seed)
    raise CourseError(f"there is no exercise called {exercise_id!r}")


def seed_for(course_key: bytes, student: str, exercise_id: str) -> int:
    """The seed of a student's fresh inputs: the same at every regrade, unknown without the key."""
    digest = hmac.new(course_key, f"{student}/{exercise_id}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big")
