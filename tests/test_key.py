import numpy as np

from grader import telling
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
