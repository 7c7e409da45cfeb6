import numpy as np
import pytest

from grader.contract import Case, Entry, Exercise, Mistake, table


def exercise(**changes):
    given = {
        "id": "f",
        "cases": lambda rng: [],
        "truth": lambda case: {},
        "parts": {"value": 1},
        "hints": ("a", "b"),
    }
    return Exercise(**{**given, **changes})


def test_answers_count_in_the_part_of_their_kind_unless_the_case_names_one():
    free, robust = Case("a", {}), Case("b", {}, part="robust")
    assert [free.part_of(k) for k in ("value", "value[1]", "gradient:x", "second:x")] == [
        "value",
        "value",
        "gradient",
        "gradient",
    ]
    assert {robust.part_of(k) for k in ("value", "gradient:x")} == {"robust"}


def test_arrays_are_float64_for_the_reference_and_the_dtype_is_the_inputs():
    case = Case("a", {"n": 3, "x": np.ones(2, np.float16), "i": np.arange(2)})
    assert case.arrays["x"].dtype == np.float64
    assert case.arrays["i"].dtype.kind == "i"
    assert set(case.arrays) == {"x", "i"}
    assert case.dtype == "float16"
    assert Case("b", {"n": 1}).dtype == "float32"


@pytest.mark.parametrize(
    "changes",
    [{"parts": {}}, {"hints": ("one",)}, {"mistakes": (Mistake("m", "s"),)}],
    ids=["no parts", "one hint", "a mistake that nothing recognises"],
)
def test_a_contract_that_cannot_be_checked_is_refused(changes):
    with pytest.raises(ValueError, match="f: "):
        exercise(**changes)


def test_a_mistake_recognised_in_two_ways_is_refused():
    with pytest.raises(ValueError, match="exactly one way"):
        exercise(mistakes=(Mistake("m", "s", pattern="none", raises="x"),))


def test_a_table_asks_for_its_entries():
    made = table("t", {"a": Entry("none", "why")}, ("none", "zero"), ("h", "i"))
    (case,) = made.cases(np.random.default_rng(0))
    assert made.truth(case) == {"entry:a": "none"}
    assert made.options["because"] == {"entry:a": "why"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": "leaky-relu"}, "a Python name"),
        ({"id": "class"}, "a Python name"),
        ({"hints": "one hint."}, "a tuple of texts"),
        *(
            ({"parts": {"value": w}}, "no positive number")
            for w in (0, -1, "1", True, None, np.inf, np.nan)
        ),
    ],
)
def test_what_no_contract_may_say_is_named(changes, said):
    with pytest.raises(ValueError, match=said):
        exercise(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"wants": ("value", "grad")}, "value, gradient, second"),
        ({"wants": "value"}, "as a tuple"),
        ({"modes": "eager"}, "as a tuple"),
        ({"modes": ()}, "eager, outside"),
    ],
)
def test_a_case_that_nothing_would_run_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        Case("a", {}, **changes)


@pytest.mark.parametrize(("right", "allowed"), [("number", ("none", "zero")), (True, (0, 1))])
def test_a_right_word_must_be_an_allowed_one(right, allowed):
    with pytest.raises(ValueError, match=f"t: {right!r}, right for 'a', is not in"):
        table("t", {"a": Entry(right, "why")}, allowed, ("h", "i"))
