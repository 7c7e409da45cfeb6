"""Each general pattern is told from numbers alone; the exercise's own mistakes go first."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.contract import Case, Entry, Exercise, Mistake, table
from grader.key import key, terms
from grader.probe.outcome import UNTOUCHED, Outcome, handed, of
from grader.probe.targets import NOTHING
from grader.verdict import decide, words

RNG = np.random.default_rng(7)
X = RNG.normal(size=(3, 3)).astype(np.float32)
K = RNG.normal(size=(1, 3)).astype(np.float32)
UP = (RNG.uniform(0.5, 3, (3, 3)) * np.array([1, -1, 1])).astype(np.float32)


def truth(case):
    x, k = case.arrays["x"], case.arrays["k"]
    return {
        "value": x**2 * k,
        "gradient:x": 2 * x * k * case.upstream,
        "gradient:k": (x**2 * case.upstream).sum(0, keepdims=True),
    }


BASE = Exercise(
    "f",
    lambda rng: [Case("c", {"x": X, "k": K}, UP)],
    truth,
    {"value": 1, "gradient": 1},
    ("a", "b"),
    plain=lambda case: {"gradient:x": 7.0 + 0 * case.arrays["x"]},
)
CASE = BASE.cases(None)[0]
TRUE = truth(CASE)


def verdict(part="gradient", exercise=BASE, **changes):
    cases = exercise.cases(None)
    answers = {**TRUE, **{name.replace("_", ":"): v for name, v in changes.items()}}
    seen = {
        ("c", mode, k): v if isinstance(v, Outcome) else of(_f32(v))
        for mode in ("eager", "outside")
        for k, v in answers.items()
    }
    return decide(terms(exercise), key(exercise, cases), cases, seen, part)


def _f32(value):
    return value.astype(np.float32) if isinstance(value, np.ndarray) else value


def test_a_right_answer_passes_and_says_what_was_checked():
    got = verdict(None)
    assert got.passed
    assert got.fraction == 1
    assert len(got.findings) == 6


@pytest.mark.parametrize(("off", "named"), [(1e-6, True), (1e-3, False), (np.inf, False)])
def test_a_mistakes_small_numbers_may_have_the_rounding_of_large_ones(off, named):
    small = Mistake("small", "…", lambda case: {"gradient:x": np.full((3, 3), 1e-4)})
    exercise = replace(BASE, mistakes=(small,))
    got = verdict("gradient", exercise, gradient_x=np.full((3, 3), 1e-4 + off))
    assert (got.mistake == "small") is named


@pytest.mark.parametrize(("entire", "named"), [({}, "all zero"), ({"entire": True}, "zeros")])
def test_right_answers_speak_against_a_mistake_where_the_contract_says_so(entire, named):
    zeros = Mistake("all zero", "…", lambda case: {k: 0 * v for k, v in TRUE.items()})
    exercise = replace(BASE, mistakes=(zeros,), options=entire)
    assert verdict("gradient", exercise, gradient_x=0 * TRUE["gradient:x"]).mistake == named
    both = {"gradient_x": 0 * TRUE["gradient:x"], "gradient_k": 0 * TRUE["gradient:k"]}
    assert verdict("gradient", exercise, **both).mistake == "all zero"


def test_infinities_are_compared_without_a_warning():
    endless = Mistake("endless", "…", lambda case: {"gradient:x": np.full((3, 3), np.inf)})
    got = verdict(
        "gradient", replace(BASE, mistakes=(endless,)), gradient_x=np.full((3, 3), np.inf)
    )
    assert got.mistake == "endless"
    odd = np.where(np.eye(3) > 0, 1.0, np.inf)
    got = verdict("gradient", replace(BASE, mistakes=(endless,)), gradient_x=odd)
    assert got.mistake != "endless"


def test_an_infinite_truth_does_not_make_everything_a_rounding():
    def infinite(case):
        return truth(case) | {"gradient:x": np.where(np.eye(3) > 0, np.inf, 1.0)}

    small = Mistake("small", "…", lambda case: {"gradient:x": np.where(np.eye(3) > 0, np.inf, 2.0)})
    exercise = replace(BASE, truth=infinite, mistakes=(small,))
    for off, named in ((0.0, True), (1e-7, True), (0.1, False), (np.inf, False)):
        got = verdict("gradient", exercise, gradient_x=infinite(CASE)["gradient:x"] + 1.0 + off)
        assert (got.mistake == "small") is named, off


GX, GK = TRUE["gradient:x"], TRUE["gradient:k"]
ONES = truth(replace(BASE.cases(None)[0], upstream=np.ones((3, 3))))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("upstream lost", {"gradient_x": ONES["gradient:x"]}),
        ("upstream lost", {"gradient_x": ONES["gradient:x"], "gradient_k": ONES["gradient:k"]}),
        ("true derivative", {"gradient_x": np.full((3, 3), 7.0)}),
        ("none", {"gradient_x": None}),
        ("zeros", {"gradient_x": 0 * GX}),
        ("nan", {"gradient_x": np.where(GX > 0, np.nan, GX)}),
        ("sign", {"gradient_x": -GX}),
        ("constant factor", {"gradient_x": 1.7 * GX}),
        ("mean for sum", {"gradient_x": GX / 9}),
        ("mean for sum", {"gradient_k": GK / 3}),
        ("transposed", {"gradient_x": GX.T}),
        ("transposed", {"gradient_k": GK.T}),
        ("not reduced", {"gradient_k": X**2 * UP}),
        ("summed away", {"gradient_x": np.array(GX.sum())}),
        ("passed through", {"gradient_x": UP}),
        ("shape", {"gradient_x": GX[:2]}),
        (None, {"gradient_x": GX + np.eye(3)}),
    ],
)
def test_general_patterns(name, changes):
    got = verdict(**changes)
    assert got.outcome == "fail"
    assert got.mistake == name
    assert got.says


NO_RETURN = "Your function returned None. Is a `return` missing?"


def test_a_forgotten_return_is_not_told_as_a_lost_gradient():
    own = replace(BASE, mistakes=(Mistake("dead", "Nothing flows.", pattern="none"),))
    assert verdict("value", own, value=None).says == NO_RETURN
    lost = Outcome("none", text=NOTHING)  # as the probe says it where there is no value
    assert verdict("gradient", own, gradient_x=lost, gradient_k=lost).says == NO_RETURN
    assert verdict("gradient", own, gradient_x=None).mistake == "dead"


def test_an_exercises_words_for_a_pattern_are_said_where_all_answers_have_it():
    own = replace(BASE, mistakes=(Mistake("dead", "Nothing flows.", pattern="none"),))
    some = verdict("gradient", own, gradient_x=None, gradient_k=7 + GK)
    assert some.mistake == "none"
    assert "Nothing flows" not in some.says


def test_complex_numbers_are_told_as_such_without_a_warning():
    got = verdict("gradient", BASE, gradient_x=of(GX + 0j))
    assert got.says == "A tensor of complex numbers came back, which is not an answer here. " + (
        "Return a tensor of real numbers."
    )


def of_value(expected, *answers, probe="function"):
    """The verdict on a function whose value alone is asked, in as many cases as answers."""
    cases = [Case(str(i), {"x": X[:1]}, wants=("value",)) for i in range(len(answers))]
    right = {case.name: value for case, value in zip(cases, expected, strict=True)}
    truth_of = lambda case: right[case.name]  # noqa: E731
    hints = ("a", "b")
    exercise = Exercise("f", lambda rng: cases, truth_of, {"value": 1}, hints, probe=probe)
    seen = {
        (str(i), mode, k): of(_f32(v))
        for i, answer in enumerate(answers)
        for mode in ("eager", "outside")
        for k, v in answer.items()
    }
    return decide(terms(exercise), key(exercise, cases), cases, seen, "value")


def test_values_are_not_described_as_gradients():
    one = {"value": np.float32(3)}
    assert "came back is zero" in of_value([one], {"value": np.float32(0)}).says
    assert "a tape in it" in of_value([one], {"value": None}).says
    pair = {"value[0]": np.float32(3), "value[1]": np.float32(4)}
    got = of_value([pair], {**pair, "value[1]": None})
    assert got.says.startswith("Output [1] of your function is None")


def test_what_a_chapters_own_probe_asks_is_no_gradient_either():
    both = {"value": np.float32(3), "steps counted": 2}
    got = of_value([both], {"value": None, "steps counted": None}, probe="own")
    assert got.says.startswith("Your function returned None. Is a `return` missing?")
    assert of_value([both], {**both, "steps counted": None}, probe="own").says == got.says


def test_a_word_that_is_not_right_is_no_number_and_no_table():
    assert of_value([{"value": True}], {"value": False}).says.startswith("No known mistake fits. W")
    several = of_value([{"value": True}], {"value": np.array([True, False])}).says
    assert several.startswith("One True or False is asked, and an array of shape (2,) came back.")
    words = of_value([{"value": ["Sign"]}], {"value": np.array([1.0, 2.0])}).says
    assert words.startswith("No known mistake fits. What came out")


def test_a_zero_in_place_of_zeros_is_no_sum():
    zeros = {"value": np.zeros(3, np.float32)}
    assert of_value([zeros], {"value": np.float32(0)}).mistake == "shape"


def test_a_factor_is_told_where_several_numbers_agree_on_it():
    one, two = {"value": np.float32(3)}, {"value": np.float32(5)}
    said = of_value([one, two], *({"value": 1.7 * a["value"]} for a in (one, two)))
    assert said.mistake == "constant factor"
    assert "1.7 times" in said.says
    assert of_value([one], {"value": np.float32(5.1)}).mistake is None
    apart = of_value([one, two], {"value": np.float32(5.1)}, {"value": np.float32(6)})
    assert apart.mistake is None


def test_a_wrong_dtype_is_named():
    got = verdict(gradient_x=Outcome("array", GX))
    assert got.mistake == "dtype"


def test_a_wrong_dtype_is_no_sign_of_a_mistake_with_the_same_numbers():
    same = Mistake("same", "says", lambda case: {"gradient:x": truth(case)["gradient:x"]})
    got = verdict(exercise=replace(BASE, mistakes=(same,)), gradient_x=Outcome("array", GX))
    assert got.mistake == "dtype"


def test_only_the_part_asked_for_is_judged():
    assert verdict("value", gradient_x=None).passed
    assert not verdict("gradient", gradient_x=None).passed
    assert not verdict(None, gradient_x=None).passed


def test_the_exercises_own_mistakes_go_first_and_bring_their_words():
    own = replace(
        BASE,
        mistakes=(
            Mistake("halved", "You halved it.", answer=lambda c: {"gradient:x": GX / 2}),
            Mistake("dead", "Nothing flows.", pattern="none"),
            Mistake("no int", "An int came.", raises=r"AttributeError: 'int'"),
        ),
    )
    assert verdict(exercise=own, gradient_x=GX / 2).says == "You halved it."
    assert verdict(exercise=own, gradient_x=None).mistake == "dead"
    error = Outcome(
        "error", text="'int' object has no attribute", detail={"type": "AttributeError"}
    )
    got = verdict(exercise=own, error=error)
    assert (got.outcome, got.mistake) == ("fail", "no int")  # known, so no bare error
    other = Outcome("error", text="boom", detail={"type": "ValueError"})
    assert verdict(exercise=own, error=other).outcome == "error"


def test_an_exception_is_a_mistake_only_where_every_failing_call_raised_it():
    own = replace(BASE, mistakes=(Mistake("no int", "s", raises="AttributeError"),))
    cases, kinds = own.cases(None), {"eager": "AttributeError", "outside": "ValueError"}
    seen = {("c", mode, "error"): Outcome("error", detail={"type": kinds[mode]}) for mode in kinds}
    got = decide(terms(own), key(own, cases), cases, seen, None)
    assert (got.outcome, got.mistake) == ("error", None)


def test_a_mistake_kept_to_one_part_is_not_seen_in_another():
    own = replace(BASE, mistakes=(Mistake("dead", "s", pattern="none", part="value"),))
    assert verdict(exercise=own, gradient_x=None).mistake == "none"
    halved = Mistake("halved", "s", answer=lambda c: {"gradient:x": GX / 2}, part="value")
    assert verdict(exercise=replace(BASE, mistakes=(halved,)), gradient_x=GX / 2).mistake == (
        "constant factor"
    )


def test_what_is_nearly_right_or_nothing_is_no_factor():
    assert verdict(gradient_x=1.0001 * GX).mistake is None
    assert verdict(gradient_x=0 * GX, gradient_k=2 * GK).mistake is None


def test_a_pattern_is_named_where_every_wrong_answer_has_it():
    assert verdict(gradient_x=-GX, gradient_k=-GK).mistake == "sign"
    assert verdict(gradient_x=-GX, gradient_k=GK + np.eye(1, 3)).mistake is None


def test_a_shape_that_holds_no_more_is_not_one_that_was_not_reduced():
    assert verdict(gradient_k=GK[None]).mistake == "shape"


def test_a_contract_may_allow_more_rounding():
    assert verdict(exercise=replace(BASE, tolerance=100.0), gradient_x=1.0001 * GX).passed
    assert not verdict(exercise=replace(BASE, tolerance=100.0), gradient_x=1.01 * GX).passed


@pytest.mark.parametrize(("detail", "said"), [({}, ""), ({"line": 2, "code": "____"}, "line 2")])
def test_a_starter_as_it_was_is_not_attempted_whatever_else_came(detail, said):
    cases = BASE.cases(None)
    seen = {("c", mode, what): of(_f32(v)) for mode in CASE.modes for what, v in TRUE.items()}
    seen[UNTOUCHED] = Outcome("blank", detail=detail)
    got = decide(terms(BASE), key(BASE, cases), cases, seen, None)
    assert (got.outcome, got.fraction) == ("unattempted", 0)
    assert said in got.says


def test_a_gap_is_not_attempted_and_names_its_line():
    got = verdict(gradient_x=Outcome("blank", detail={"line": 3}))
    assert got.outcome == "unattempted"
    assert "line 3 of your answer: there" in got.says
    detail = {"line": 3, "name": "f", "code": "return ____", "more": "from a hostile child"}
    got = verdict(gradient_x=Outcome("blank", detail=detail))
    assert "line 3 of f, `return ____`: there" in got.says


def test_nothing_at_all_is_a_failure_not_a_pass():
    cases = BASE.cases(None)
    got = decide(terms(BASE), key(BASE, cases), cases, {}, None)
    assert got.outcome == "fail"
    assert got.fraction == 0


@given(
    st.dictionaries(
        st.tuples(
            st.just("c"),
            st.sampled_from(["eager", "outside"]),
            st.sampled_from([*TRUE, "error", "x"]),
        ),
        st.one_of(
            st.sampled_from([Outcome("none"), Outcome("blank"), Outcome("type", text="T")]),
            st.just(Outcome("error", text="e", detail={})),
            st.sampled_from([[], [np.nan] * 9, np.zeros((3, 3)), 1e300, "w", True]).map(of),
        ),
    )
)
def test_whatever_comes_back_there_is_a_verdict(observation):
    cases = BASE.cases(None)
    got = decide(terms(BASE), key(BASE, cases), cases, observation, None)
    assert got.outcome in ("fail", "error", "unattempted")
    assert got.headline


@pytest.mark.parametrize(
    ("given", "said"),
    [(3, "`check` was handed an int."), ({}, "`check` was handed a dict."),
     (np.ones(2), "`check` was handed an ndarray.")],
)  # fmt: skip
def test_what_is_no_function_is_named_with_its_article(given, said):
    seen = {(c.name, mode, "error"): handed(given) for c in BASE.cases(None) for mode in c.modes}
    cases = BASE.cases(None)
    assert said in decide(terms(BASE), key(BASE, cases), cases, seen, None).says


def test_a_part_that_asks_nothing_is_no_pass():
    with pytest.raises(ValueError, match="nothing is asked in part 'speed'"):
        verdict("speed")


def test_a_wrong_answer_is_worth_nothing_however_much_of_it_is_right():
    assert verdict(None, gradient_x=GX + np.eye(3)).fraction == 0


def test_a_gap_in_a_table_costs_its_own_entry_alone():
    entries = {"a": Entry("none", "why"), "b": Entry("zero", "why")}
    exercise = table("t", entries, ("none", "zero"), ("h", "i"))
    cases = exercise.cases(None)
    gap = Outcome("blank", detail={"line": 2})

    def told(**answers):
        seen = {(c.name, mode, f"entry:{name}"): answer for name, answer in answers.items()
                for c in cases for mode in c.modes}  # fmt: skip
        got = decide(terms(exercise), key(exercise, cases), cases, seen, None)
        return got.outcome, got.fraction

    assert told(a=of("none"), b=gap) == ("fail", 0.5)
    assert told(a=gap, b=gap) == ("unattempted", 0)


def test_a_robust_part_is_not_called_right_on_any_input():
    assert words.headline("fail", "sign", "robust") == "Not right on every input: sign."
