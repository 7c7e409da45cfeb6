from dataclasses import replace

import numpy as np
import pytest

from grader import judge
from grader.contract import Case
from grader.display.report import report, short
from grader.probe.failure import of_exception
from grader.probe.outcome import of
from grader.verdict import Finding, Verdict
from grader.verdict.compare import compare


def verdict(mini, what, value, part="value"):
    plan = judge.stored(mini.root, "twice", part)
    cases = plan.request.cases
    raised = isinstance(value, Exception)
    what, seen = ("error", of_exception(value)) if raised else (what, of(value))
    return plan.decide({(c.name, m, what): seen for c in cases for m in c.modes})


def test_a_failure_shows_the_worst_element(mini):
    right = judge.stored(mini.root, "twice", "value").key.truth["a matrix", "value"]
    wrong = right.astype(np.float32)
    wrong[1, 2] += 1
    made = report(verdict(mini, "value", wrong))
    rows = dict(made.rows)
    assert rows["worst element"] == "the value[1, 2]"
    assert float(rows["yours"]) == np.float32(f"{wrong[1, 2]:.6g}")
    assert rows["where"] == "a matrix, called directly"
    assert "float32" in rows["tolerance"]


def test_a_wrong_shape_shows_both_shapes(mini):
    rows = dict(report(verdict(mini, "value", np.ones(5, np.float32))).rows)
    assert rows["yours"] == "float32(5,)"
    assert rows["right"] == "shape (2, 3)"


def test_hidden_inputs_and_values_stay_hidden(mini):
    made = report(verdict(mini, "value", np.ones((2, 3), np.float32)), reveal=False)
    assert made.rows == ()
    assert made.headline
    assert made.title == "twice · value, for the score"


@pytest.mark.parametrize("given", [np.array([[1, -7, 3], [2, 5, 4]], np.float32), ValueError("x")])
def test_of_hidden_inputs_nothing_is_said_to_stand_below(mini, given):
    found = verdict(mini, "value", given)
    for reveal in (True, False):
        made = report(found, reveal=reveal)
        assert ("below" in made.says[0]) == bool(made.rows) == reveal
        assert ("not shown" in made.says[0]) != reveal


def test_a_finding_of_the_xray_is_a_line_of_its_own(mini):
    made = report(verdict(mini, "value", np.ones((2, 3), np.float32)), finding="round cuts it")
    assert made.says[-1] == "round cuts it"


def test_values_are_shortened_to_a_line():
    assert short(np.arange(20)) == "int64(20,) [0, 1, 2, 3, 4, 5, 6, 7, …]"
    assert short(np.array(1.5, np.float32)) == "float32() [1.5]"
    assert short(3) == "3"


def test_a_long_text_in_place_of_numbers_is_cut(mini):
    rows = dict(report(verdict(mini, "value", "no number\n" * 20)).rows)
    assert rows["yours"].startswith("no number no number")
    assert len(rows["yours"]) < 70


def found(expected, got):
    case = Case("a case", {})
    status, worst = compare(of(got), expected, "float32", 2e-5)
    return Finding(case, "eager", "value", status, expected, of(got), 2e-5, worst)


def judged(outcome, finding):
    return report(Verdict("a", None, outcome, None, "", "", (finding,)))


@pytest.mark.parametrize("truth", ["a word", True, ["a", "list"], np.array([True, False])])
def test_a_tolerance_is_told_only_where_numbers_were_compared_with_one(truth):
    assert "magnitude" not in judged("pass", found(truth, truth)).checked
    numbers = np.ones(2, np.float32)
    assert "to 0.00002 of the magnitude" in judged("pass", found(numbers, numbers)).checked


def test_a_mask_is_shown_as_true_and_false():
    rows = dict(judged("fail", found(np.array([True, False]), np.array([True, True]))).rows)
    assert (rows["yours"], rows["right"]) == ("True", "False")
    assert "tolerance" not in rows


def test_a_lone_yes_or_no_says_of_what():
    finding = replace(found(True, False), key="forms the Hessian")
    rows = dict(judged("fail", finding).rows)
    assert (rows["asked"], rows["yours"], rows["right"]) == ("forms the Hessian", "False", "True")
