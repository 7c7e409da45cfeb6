from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader import telling
from grader.contract import Case, Either, Exercise, Mistake
from grader.course import Course, CourseError
from grader.key import terms
from grader.telling import differs

COURSE = Course.find(Path(__file__))


def cases(rng):
    """Two numbers: one draw in four has no negative upstream gradient, and hides the mistake."""
    return [Case("two", {"x": np.ones(2)}, rng.choice([-2.0, 2.0], 2))]


def guided(case):
    return {"value": 2.0 * np.ones(2), "gradient:x": np.maximum(case.upstream, 0)}


EXERCISE = Exercise(
    "two", cases, guided, {"value": 1, "gradient": 1}, ("", ""),
    mistakes=(
        Mistake("plain", "…", lambda case: {"gradient:x": case.upstream}),
        Mistake("never seen", "…", lambda case: {"value": 2.0 * np.ones(2) + 1e-9}),
    ),
)  # fmt: skip
PLAIN = ("plain", "gradient")


def hidden(case):
    return not (case.upstream < 0).any()


def test_a_draw_that_hides_a_mistake_is_drawn_again():
    seeds = range(40)
    assert any(hidden(telling.cases_for(EXERCISE, seed)[0]) for seed in seeds)
    wanted = telling.expected(EXERCISE)
    for seed in seeds:
        drawn, answers = telling.draw(EXERCISE, seed, wanted)
        assert not hidden(drawn[0])
        assert np.array_equal(answers.truth["two", "gradient:x"], np.maximum(drawn[0].upstream, 0))


def test_a_draw_that_tells_is_the_first_one_and_every_draw_repeats():
    wanted = telling.expected(EXERCISE)
    for seed in range(40):
        first = telling.cases_for(EXERCISE, seed)[0]
        one, two = (telling.draw(EXERCISE, seed, wanted)[0][0] for _ in range(2))
        assert np.array_equal(one.upstream, two.upstream)
        if not hidden(first):
            assert np.array_equal(one.upstream, first.upstream)


def test_what_can_never_show_is_not_waited_for():
    assert telling.expected(EXERCISE) == {PLAIN, ("upstream lost", "gradient")}


def test_what_shows_in_one_draw_of_twelve_is_still_found():
    rare = replace(
        EXERCISE,
        cases=lambda rng: [Case("two", {"x": np.ones(2)}, rng.choice([-2.0] + [2.0] * 23, 2))],
    )
    for seed in range(20):
        assert not hidden(telling.draw(rare, seed, frozenset({PLAIN}))[0][0])


def test_of_what_is_not_waited_for_nothing_counts():
    """Else a draw that hides a mistake could pass for one that shows all."""
    drawn = telling.draw(EXERCISE, 3, frozenset({PLAIN}))
    assert telling.shown(terms(EXERCISE), *drawn, frozenset({PLAIN})) == {PLAIN}


def test_two_cases_of_one_name_and_a_card_of_two_arrays_are_refused():
    """The answers to one would be taken for the other's; a card is drawn along one line."""
    twins = replace(EXERCISE, cases=lambda rng: [*cases(rng), *cases(rng)])
    with pytest.raises(CourseError, match="two: two cases have the same name"):
        telling.cases_for(twins, 3)
    both = Case("both", {"x": np.ones(2), "y": np.ones(2)}, np.ones(2))
    with pytest.raises(CourseError, match="two: a card needs a function of one array"):
        telling.cases_for(replace(EXERCISE, cases=lambda rng: [both], card="x"), 3)


def test_where_all_cannot_show_at_once_the_best_draw_counts():
    wanted = telling.expected(EXERCISE) | {("no such mistake", "value")}
    drawn, _ = telling.draw(EXERCISE, 3, wanted)
    assert not hidden(drawn[0])


def test_forms_of_answers():
    case = Case("a", {"x": np.ones(2, "float32")}, np.ones(2, "float32"))
    for value, truth, off in (
        (np.ones(2), np.ones(2), False),
        (np.ones(2) * (1 + 3e-5), np.ones(2), False),  # within four tolerances: not clearly
        (np.ones(2) * 1.01, np.ones(2), True),
        (1.0, np.asarray(1.0), False),
        (None, np.ones(2), True),
        (None, Either(None, np.zeros(2)), False),
        (Either(None, np.zeros(2)), None, False),
        (Either("absent", "plain"), "mapped", True),
        ("mapped", "mapped", False),
        (True, False, True),
        (["a", "b"], ["b", "a"], True),
    ):
        assert differs(value, truth, case, 1.0) is off, (value, truth)


@pytest.mark.parametrize("name", [chapter.name for chapter in COURSE.chapters])
def test_in_every_chapter_each_mistake_shows_on_whatever_inputs(name):
    for exercise in COURSE.chapter(name).exercises().values():
        wanted = telling.expected(exercise)
        for seed in range(10):
            drawn = telling.draw(exercise, seed, wanted)
            assert wanted <= telling.shown(terms(exercise), *drawn), (exercise.id, seed)
