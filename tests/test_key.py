from dataclasses import replace

import numpy as np

from grader import telling
from grader.contract import Case, Exercise, Mistake
from grader.key import SILENT, TRUE_DERIVATIVE, UPSTREAM_LOST, key, said


def test_the_key_holds_truth_and_the_mistakes_that_follow_from_it(mini):
    exercise = mini.chapters[0].exercises()["twice"]
    cases = telling.cases_for(exercise, 5)
    made = key(exercise, cases)
    x, up = cases[0].inputs["x"], cases[0].upstream
    assert np.allclose(made.truth["a matrix", "value"], 2 * x)
    assert np.allclose(made.truth["a matrix", "gradient:x"], 3 * up)
    assert np.allclose(made.mistakes[UPSTREAM_LOST]["a matrix", "gradient:x"], 3)
    assert np.allclose(made.mistakes[TRUE_DERIVATIVE]["a matrix", "gradient:x"], 2 * up)
    assert ("a matrix", "gradient:x") not in made.mistakes["divided"]


def test_upstream_gradients_that_are_several_are_all_taken_for_ones():
    """One per output, in a tuple, as the truth is given them."""

    def truth(case):
        first, second = case.upstream or (0, 0)
        return {"value": case.arrays["x"], "gradient:x": 2 * first + 3 * second}

    x = np.arange(3.0)
    several = Case("several", {"x": x}, (7 * x, 5 * x))
    exercise = Exercise(id="f", cases=lambda rng: [several], truth=truth, parts={"gradient": 1},
                        hints=("a", "b"))  # fmt: skip
    made = key(exercise, [several, replace(several, name="none", upstream=None)])
    lost = made.mistakes[UPSTREAM_LOST]
    assert list(lost) == [("several", "gradient:x")]
    assert np.allclose(lost["several", "gradient:x"], 5)


def test_what_is_said_of_one_mode_goes_before_what_is_said_of_all():
    answers = {("a", "outside/value"): 1, ("a", "value"): 2}
    assert [said(answers, "a", mode, "value") for mode in ("outside", "eager")] == [1, 2]
    assert said(answers, "b", "outside", "value") is SILENT


def test_a_chapters_own_answer_to_a_mistake_of_a_general_name_stays():
    case = Case("a", {"x": np.ones(2)}, 7 * np.ones(2))
    names = (TRUE_DERIVATIVE, UPSTREAM_LOST)
    own = [Mistake(name, "…", lambda case: {"gradient:x": "own"}) for name in names]
    exercise = Exercise(id="f", cases=lambda rng: [case], parts={"gradient": 1}, hints=("a", "b"),
                        truth=lambda case: {"gradient:x": case.upstream}, mistakes=tuple(own),
                        plain=lambda case: {"gradient:x": 2 * case.upstream})  # fmt: skip
    made = key(exercise, [case]).mistakes
    assert {name: made[name]["a", "gradient:x"] for name in made} == dict.fromkeys(names, "own")
