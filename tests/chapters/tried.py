"""Answers tried as a notebook would run them: those that a chapter refuses, those it accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import pytest

from grader.build.cells import read
from grader.checking import evaluate
from grader.course import Chapter
from grader.lint.space import answer, setup
from grader.verdict import Verdict

STORED = None  # the inputs in data/, beside which seeds draw fresh ones
Row = tuple[str, str]  # an exercise, and the text of an answer or the expression that is one


class Tried:
    """Tries answers to the exercises of one chapter."""

    def __init__(self, chapter: Chapter) -> None:
        self.chapter = chapter

    @cached_property
    def space(self) -> dict[str, Any]:
        """What answers find defined."""
        return setup(self.chapter)

    @cached_property
    def solutions(self) -> Mapping[str, str]:
        """Each exercise's solution."""
        cells = read(self.chapter).cells
        return {c.metadata.answer: c.source for c in cells if "answer" in c.metadata}

    def solved(self, rows: Iterable[Row]) -> list[Row]:
        """The solutions of the exercises of these rows: whoever refuses more must accept them."""
        return [(name, self.solutions[name]) for name in sorted({name for name, _ in rows})]

    def given(self, name: str, source: str) -> Any:
        """The object that a text defines or an expression is."""
        defines = f"def {name}(" in source or f"{name} =" in source
        return answer(source if defines else f"{name} = {source}", "tried", name, self.space)

    def verdict(self, name: str, source: str, seed: int | None, part: str | None = None) -> Verdict:
        """What is said of it."""
        return evaluate(name, self.given(name, source), seed, part)

    def refuses(self, name: str, source: str, seed: int | None) -> None:
        """It is an attempt, and wrong."""
        assert self.verdict(name, source, seed).outcome in ("fail", "error")

    def accepts(self, name: str, source: str, seed: int | None) -> None:
        """It is right."""
        verdict = self.verdict(name, source, seed)
        assert verdict.passed, (verdict.says, verdict.first)


def on_draws(
    rows: Iterable[Row], seeds: Iterable[int | None] = (STORED, 3, 4)
) -> pytest.MarkDecorator:
    """Runs a test for every row and seed."""
    pairs = [(name, source, seed) for name, source in rows for seed in seeds]
    ids = [f"{name} {i}, seed {seed}" for i, (name, _, seed) in enumerate(pairs)]
    return pytest.mark.parametrize(("name", "source", "seed"), pairs, ids=ids)
