"""What some calls raise or give names a mistake only where the other calls do not speak against."""

from dataclasses import replace

import numpy as np
import pytest

from grader.contract import Either, Mistake
from grader.key import key, terms
from grader.probe.outcome import Outcome, of
from grader.verdict import decide, words

from .test_decide import BASE, CASE, TRUE, UP, X, truth

RAISED = Outcome("error", text="boom", detail={"type": "AttributeError"})
GX, GK = TRUE["gradient:x"], TRUE["gradient:k"]
LOST = truth(replace(CASE, upstream=np.ones_like(UP)))


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
    gives = Mistake("left TensorFlow", "gave", answer=lambda case: {"gradient:x": 3 * GX})
    got = judged(replace(BASE, mistakes=(LEFT, gives)), 3 * GX, RAISED)
    assert (got.mistake, got.says) == ("left TensorFlow", "s")
    other = replace(gives, name="tripled")
    got = judged(replace(BASE, mistakes=(LEFT, other)), 3 * GX, RAISED)
    assert (got.mistake, got.says) == ("tripled", "gave")


def test_what_is_raised_is_a_mistake_of_its_own_part_alone():
    kept = replace(LEFT, part="value")
    assert judged(replace(BASE, mistakes=(kept,)), RAISED, RAISED).mistake is None


def test_what_is_raised_may_have_several_lines():
    lines = Outcome("error", text="in user code:\n\n    boom", detail={"type": "AttributeError"})
    told = replace(LEFT, raises="user code.*boom")
    assert judged(replace(BASE, mistakes=(told,)), lines, lines).mistake == LEFT.name


def test_of_two_with_one_name_each_has_its_own_words():
    gives = Mistake("left TensorFlow", "gave", answer=lambda case: {"gradient:x": 3 * GX})
    both = replace(BASE, mistakes=(gives, LEFT))
    assert judged(both, 3 * GX, 3 * GX).says == "gave"
    assert judged(both, RAISED, RAISED).says == "s"


def test_what_is_wrong_in_some_calls_is_not_said_of_all():
    got = judged(BASE, GX, 3 * GX)
    assert got.mistake == "constant factor"
    assert got.says == words.PARTLY.format(says="everything is 3 times what it should be.")
    assert judged(BASE, 3 * GX, 3 * GX).says == "Everything is 3 times what it should be."


def test_a_wrong_shape_is_graver_than_a_zero_beside_it():
    assert judged(BASE, np.zeros(X.shape), GX[None]).mistake == "shape"


def gives(name, part=None, **answers):
    answers = {what.replace("_", ":"): value for what, value in answers.items()}
    return Mistake(name, "s", answer=lambda case: answers, part=part)


def named(*mistakes, part="gradient", options=None, **answers):
    """The mistake that is named where all calls give these answers."""
    exercise = replace(BASE, mistakes=mistakes, options=options or {})
    answers = TRUE | {what.replace("_", ":"): value for what, value in answers.items()}
    seen = {
        ("c", mode, what): value if isinstance(value, Outcome) else of(np.float32(value))
        for mode in ("eager", "outside")
        for what, value in answers.items()
    }
    cases = exercise.cases(None)
    return decide(terms(exercise), key(exercise, cases), cases, seen, part).mistake


def test_the_mistake_that_tells_most_of_what_is_wrong_is_named():
    wide = gives("wide", gradient_x=3 * GX, gradient_k=5 * GK)
    narrow = gives("narrow", gradient_x=3 * GX)
    for mistakes in ((narrow, wide), (wide, narrow)):
        assert named(*mistakes, gradient_x=3 * GX, gradient_k=5 * GK) == "wide"


def test_a_mistake_of_the_exercise_goes_before_an_automatic_one():
    given = {"gradient_x": LOST["gradient:x"], "gradient_k": LOST["gradient:k"]}
    assert named(**given) == "upstream lost"
    assert named(gives("took ones", **given), **given) == "took ones"


@pytest.mark.parametrize("factor", [3, 5])
def test_a_mistake_may_give_one_thing_or_another(factor):
    either = gives("one of two", gradient_x=Either(3 * GX, 5 * GX))
    assert named(either, gradient_x=factor * GX) == "one of two"


def test_a_mistake_kept_to_one_part_is_not_all_that_is_wrong_in_two():
    kept = gives("tripled", "gradient", gradient_x=3 * GX)
    assert named(kept, part=None, gradient_x=3 * GX) == "tripled"
    assert named(kept, part=None, gradient_x=3 * GX, value=7 + TRUE["value"]) != "tripled"


def test_right_answers_are_no_sign_of_a_mistake_nor_of_another_part():
    entire = {"entire": True}
    same = gives("gives what is right", value=TRUE["value"])
    assert named(same, part=None, options=entire, gradient_x=3 * GX) != "gives what is right"
    kept = gives("tripled", "gradient", gradient_x=3 * GX)
    assert named(kept, part=None, options=entire, gradient_x=3 * GX) == "tripled"


def test_a_mistakes_numbers_are_met_within_four_tolerances():
    rtol = judged(BASE, 3 * GX, 3 * GX).first.rtol
    tripled = gives("tripled", gradient_x=3 * GX)
    assert named(tripled, gradient_x=3 * GX * (1 + 3 * rtol)) == "tripled"
    assert named(tripled, gradient_x=3 * GX * (1 + 5 * rtol)) != "tripled"


def test_a_mistakes_nan_may_stand_beside_a_rounding():
    holed = np.full(X.shape, 1e-4)
    holed[0, 0] = np.nan
    assert named(gives("holed", gradient_x=holed), gradient_x=holed + 1e-6) == "holed"


def test_in_a_wrong_dtype_a_mistakes_numbers_are_its_numbers():
    large = gives("large", gradient_x=1e4 * GX)
    single = np.float32(1e4 * GX)
    double = Outcome("array", array=np.float64(single) * (1 + judged(BASE, GX, -GX).first.rtol))
    assert judged(replace(BASE, mistakes=(large,)), single, double).mistake == "large"
