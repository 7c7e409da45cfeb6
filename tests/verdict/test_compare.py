from dataclasses import replace

import numpy as np
import pytest

from grader.contract import Case, Either
from grader.key import Terms
from grader.probe.outcome import Outcome, of
from grader.verdict.compare import asked, compare

F32 = np.array([1.0, -2.0, 0.0], np.float32)


def status(outcome, expected, dtype="float32"):
    return compare(outcome, expected, dtype, 2e-5)[0]


@pytest.mark.parametrize(
    ("value", "expected", "said"),
    [
        (F32, F32.astype(float), "right"),
        (F32.astype(float), F32.astype(float), "dtype"),
        (F32 * 1.1, F32.astype(float), "value"),
        (F32 * 0, F32.astype(float), "zeros"),
        (F32 * np.nan, F32.astype(float), "nan"),
        (F32[:2], F32.astype(float), "shape"),
        (None, F32.astype(float), "none"),
        (None, None, "right"),
        (F32 * 0, None, "not none"),
        ("zero", "zero", "right"),
        ("zero", "none", "word"),
        (F32, "none", "word"),
        (True, True, "right"),
        (np.bool_(True), True, "right"),
        (np.ones(2, bool), True, "word"),
        (1.0, True, "right"),
        ("True", True, "word"),
        (np.array([1, 0]), np.array([True, False]), "right"),
        (0.5, 0.5, "right"),
        (np.arange(3, dtype=np.int32), np.arange(3), "right"),
        (object(), F32, "type"),
    ],
)
def test_every_status(value, expected, said):
    assert status(of(value), expected) == said


def test_either_answer_is_right():
    truth = Either(None, np.zeros(2))
    assert status(Outcome("none"), truth) == "right"
    assert status(of(np.zeros(2, np.float32)), truth) == "right"
    assert status(of(np.ones(2, np.float32)), truth) == "not none"


def test_a_missing_answer_is_missing_even_where_none_would_be_wrong():
    assert status(Outcome("missing"), F32) == "missing"


def test_the_worst_element_is_the_one_most_tolerances_off():
    got = np.array([[1.0, 2.0], [3.3, 4.0]], np.float32)
    _, worst = compare(of(got), np.array([[1.0, 2.0], [3.0, 4.001]]), "float32", 2e-5)
    assert worst.index == (1, 0)
    assert worst.ratio == pytest.approx(1.1)


def test_the_worst_of_a_scalar_has_no_index_and_of_a_zero_no_ratio():
    _, worst = compare(of(np.float32(3)), np.array(0.0), "float32", 2e-5)
    assert worst.index == ()
    assert worst.ratio is None


def test_a_nan_is_worse_than_any_number():
    got = np.array([1e6, np.nan], np.float32)
    _, worst = compare(of(got), np.ones(2), "float32", 2e-5)
    assert worst.index == (1,)


def test_a_truth_about_one_mode_is_asked_there_alone_and_goes_before_the_general_one():
    truth = {("c", "value"): 1.0, ("c", "eager/value"): 2.0, ("c", "graph/gradient:x"): 3.0}
    case, said = Case("c", {}, modes=("eager", "graph")), Terms("f", {"value": 1}, ())
    assert asked(said, truth, case, "eager", None) == {"value": "eager/value"}
    assert asked(said, truth, case, "graph", None) == {
        "value": "value", "gradient:x": "graph/gradient:x",
    }  # fmt: skip


def test_a_case_is_asked_for_what_it_wants_and_a_probe_of_the_chapters_own_for_all_it_names():
    keys = ("value[0]", "gradient:x", "gradient returns", "second:x", "labels")
    truth = {("c", each): 1.0 for each in keys}
    said = Terms("f", {"value": 1, "gradient": 1}, ())
    for wants in (("value",), ("gradient",), ("value", "gradient", "second")):
        told = asked(said, truth, Case("c", {}, wants=wants), "eager", None)
        assert list(told) == [each for each in keys if each.startswith(wants)]
    own = replace(said, probe="own")
    assert list(asked(own, truth, Case("c", {}, wants=("value",)), "eager", None)) == [*keys]
