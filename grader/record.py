"""The map over all chapters: done, attempted, regressed, next; hints used; predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import state
from .verdict import Verdict

DONE, REGRESSED, ATTEMPTED, OPEN = "done", "regressed", "attempted", "open"


@dataclass(frozen=True)
class Mark:
    """One exercise on the map."""

    exercise: str
    status: str
    hints: int = 0


@dataclass(frozen=True)
class Stretch:
    """One chapter on the map."""

    chapter: str
    title: str
    marks: tuple[Mark, ...]

    @property
    def done(self) -> int:
        """How many exercises are done."""
        return sum(mark.status == DONE for mark in self.marks)


@dataclass(frozen=True)
class Map:
    """Everything a learner has done. predicted and right count first predictions."""

    chapters: tuple[Stretch, ...]
    predicted: int = 0
    right: int = 0

    @property
    def next(self) -> tuple[str, str] | None:
        """Chapter and exercise to go on with: the first regressed one, else the first not done."""
        every = [(c.chapter, m) for c in self.chapters for m in c.marks if m.status != DONE]
        back = [pair for pair in every if pair[1].status == REGRESSED]
        first = next(iter(back or every), None)
        return None if first is None else (first[0], first[1].exercise)


def remember(verdict: Verdict, parts: Mapping[str, Any]) -> None:
    """Notes a verdict of a check; a check of the whole exercise counts for all its parts."""
    if verdict.outcome == "unattempted":
        return

    def change(found: state.State) -> None:
        row = found["exercises"].setdefault(verdict.exercise, {"parts": {}})
        names = [verdict.part] if verdict.part else list(parts)
        row["parts"] = {**row.get("parts", {}), **dict.fromkeys(names, verdict.outcome)}
        row["asked"] = list(parts)
        if all(row["parts"].get(name) == "pass" for name in parts):
            row["was done"] = True

    state.update(change)


def status_of(row: Mapping[str, Any]) -> str:
    """The status of an exercise by its row in the state."""
    parts = row.get("parts", {})
    if parts and all(parts.get(name) == "pass" for name in row.get("asked", parts)):
        return DONE
    if row.get("was done"):
        return REGRESSED
    return ATTEMPTED if parts else OPEN


def read(root: Path) -> Map:
    """The map of the course at `root`, from data/ and the state."""
    found = state.read()
    guesses = found["predictions"].values()
    right = sum(row.get("guess") == row.get("truth") for row in guesses)
    return Map(tuple(_stretches(root, found)), len(guesses), right)


def _stretches(root: Path, found: state.State) -> Iterator[Stretch]:
    for path in sorted((root / "data").glob("[0-9]*.json")):
        words = json.loads(path.read_text(encoding="utf-8"))
        marks = tuple(
            Mark(name, status_of(found["exercises"].get(name, {})), found["hints"].get(name, 0))
            for name in words["exercises"]
        )
        yield Stretch(path.stem, words.get("title", path.stem), marks)
