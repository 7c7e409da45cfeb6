"""An answer in another container than was asked is said to be that, not to be nothing."""

from dataclasses import replace

import numpy as np
import pytest

from grader.contract import Case, Exercise
from grader.key import key, terms
from grader.probe.outcome import flatten, of
from grader.verdict import decide

ONE = np.ones(2)
PAIR = {"value[0]": ONE, "value[1]": None}
BASE = Exercise(
    "f",
    lambda rng: [Case("c", {"x": ONE}, None, modes=("eager",), wants=("value",))],
    lambda case: {"value": ["Sin", "Mul"]},
    {"value": 1},
    ("a", "b"),
)


def says(truth, given):
    exercise = replace(BASE, truth=lambda case: truth)
    cases = exercise.cases(None)
    seen = {("c", "eager", what): of(value) for what, value in flatten(given, "value").items()}
    verdict = decide(terms(exercise), key(exercise, cases), cases, seen, None)
    assert not verdict.passed
    return verdict.says


@pytest.mark.parametrize(
    ("truth", "given", "asked", "came"),
    [
        ({"value": ["Sin"]}, {"Sin": 1, "Mul": 2}, "A list", "a dictionary with the keys Sin, Mul"),
        ({"value": ["Sin"]}, {0: "Sin"}, "A list", "a dictionary with the keys 0"),
        ({"value": ["Sin"]}, (ONE, ONE), "A list", "a tuple or list of 2"),
        ({"value": ONE}, (ONE, None, ONE), "One value", "a tuple or list of 3"),
        (PAIR, np.ones((2, 2)), "A tuple of 2", "one tensor of shape (2, 2)"),
        (PAIR, ONE, "A tuple of 2", "one tensor of shape (2,)"),
        (PAIR, None, "A tuple of 2", "None"),
        (PAIR, "none", "A tuple of 2", "one word"),
        (PAIR, object(), "A tuple of 2", "something of type object"),
        (PAIR, {"x": ONE, "y": ONE}, "A tuple of 2", "a dictionary with the keys x, y"),
    ],
)
def test_the_form_that_came_and_the_one_that_was_asked(truth, given, asked, came):
    assert says(truth, given).startswith(f"{asked} is asked, {came} came back.")


def test_one_output_too_few_is_missing():
    assert says(PAIR, (ONE,)).startswith("Nothing came back for output [1].")


def test_among_a_flood_of_answers_nobody_looks_for_what_came_instead():
    said = says(PAIR, {f"k{i}": ONE for i in range(2000)})
    assert said.startswith("Nothing came back for output [0].")


def test_many_keys_are_cut():
    assert len(says({"value": ONE}, {f"a long key {i}": ONE for i in range(99)})) < 200
