"""What some calls raise or give names a mistake only where the other calls do not speak against."""

from dataclasses import replace

import numpy as np
import pytest

from grader.contract import Mistake
from grader.key import key, terms
from grader.probe.outcome import Outcome, of
from grader.verdict import decide, words

from .test_decide import BASE, TRUE, X

RAISED = Outcome("error", text="boom", detail={"type": "AttributeError"})
GX = TRUE["gradient:x"]


def judged(exercise, directly, traced):
    """The verdict where the gradient to x differs between the two ways to call."""
    cases = exercise.cases(None)
    seen = {
        ("c", mode, k): v if isinstance(v, Outcome) or v is None else of(np.float32(v))
        for mode, gx in (("eager", directly), ("outside", traced))
        for k, v in (TRUE | {"gradient:x": gx}).items()
    }
    seen = {place: of(None) if v is None else v for place, v in seen.items()}
    return decide(terms(exercise), key(exercise, cases), cases, seen, None)


LEFT = Mistake("left TensorFlow", "s", raises="AttributeError")


@pytest.mark.parametrize(("directly", "named"), [(None, True), (GX, True), (3 * GX, False)])
def test_what_is_raised_names_a_mistake_unless_numbers_speak_of_another(directly, named):
    got = judged(replace(BASE, mistakes=(LEFT,)), directly, RAISED)
    assert (got.mistake == "left TensorFlow") is named


def test_numbers_that_the_mistake_gives_as_well_go_with_what_it_raises():
    gives = Mistake("left TensorFlow", "s", answer=lambda case: {"gradient:x": 3 * GX})
    got = judged(replace(BASE, mistakes=(LEFT, gives)), 3 * GX, RAISED)
    assert got.mistake == "left TensorFlow"


def test_what_is_wrong_in_some_calls_is_not_said_of_all():
    got = judged(BASE, GX, 3 * GX)
    assert got.mistake == "constant factor"
    assert got.says == words.PARTLY.format(says="everything is 3 times what it should be.")
    assert judged(BASE, 3 * GX, 3 * GX).says == "Everything is 3 times what it should be."


def test_a_wrong_shape_is_graver_than_a_zero_beside_it():
    assert judged(BASE, np.zeros(X.shape), GX[None]).mistake == "shape"
