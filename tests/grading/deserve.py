"""What an answer deserves, found by evaluating it alone, without nbgrader and without the engine."""

from __future__ import annotations

from functools import cache

from grader import evaluate
from grader.grading.demo import choices, text_of
from grader.lint.space import answer, setup


def deserved(chapter):
    """A function of exercise, answer and part: the share of the part's points."""
    space, offered = setup(chapter), choices(chapter)

    @cache
    def given(exercise, what):
        try:
            return answer(text_of(offered, exercise, what), what, exercise, space)
        except Exception:  # the answer's cell raises: the name stays what the cell had made of it
            return None

    @cache
    def share(exercise, what, part):
        if text_of(offered, exercise, what) is None:
            return 0.0
        return evaluate(exercise, given(exercise, what), part=part).fraction

    return share
