from dataclasses import replace

import numpy as np

from grader import telling
from grader.contract import Case, Exercise
from grader.key import TRUE_DERIVATIVE, UPSTREAM_LOST, key


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
