import sys
from types import SimpleNamespace

import numpy as np
import pytest

from grader import checking, companions, judge, probe
from grader.display.report import report


@pytest.fixture
def verdict_on(mini, monkeypatch, tf):
    monkeypatch.chdir(mini.root)

    def made(answer, part="gradient", exercise="twice"):
        plan = judge.stored(mini.root, exercise, part)
        return plan, plan.decide(probe.run(answer, plan.request))

    return made


def test_a_dead_gradient_brings_the_op_to_blame(verdict_on, tf):
    def twice(x):
        return 2.0 * tf.round(x)

    plan, verdict = verdict_on(twice)
    assert "round" in companions.finding(plan, verdict, twice).lower()


DEAD = {
    "zeros": lambda x: 0.0 * x,
    "nan": lambda x: (x - x) ** 0.5,  # an infinite slope, times the nothing that reaches it
}


@pytest.mark.parametrize("status", DEAD)
def test_a_gradient_that_is_zero_or_no_number_has_its_op_too(verdict_on, status):
    plan, verdict = verdict_on(DEAD[status])
    assert verdict.first.status == status
    assert companions.finding(plan, verdict, DEAD[status])


def test_no_op_is_looked_for_where_none_can_be_to_blame(verdict_on, monkeypatch, tf):
    monkeypatch.setattr(companions, "_xray", lambda *_: "an op is to blame")
    rule = lambda op, up: None  # noqa: E731  (no function of the inputs)
    for part, exercise, answer, blamed in (
        ("gradient", "twice", tf.round, True),
        ("gradient", "twice", lambda x: None, False),  # is told that a return is missing
        ("gradient", "square_grad", rule, False),
        ("value", "twice", lambda x: x * float("nan"), False),
    ):
        plan, verdict = verdict_on(answer, part, exercise)
        assert verdict.first.status in companions.DEAD
        assert bool(companions.finding(plan, verdict, answer)) is blamed, (part, exercise)


def test_what_is_looked_at_once_more_writes_nothing_to_stderr(verdict_on, tf, capfd):
    """For that nbgrader gives a test cell no points."""

    def twice(x):
        print("loud", file=sys.stderr)
        return 2.0 * tf.round(x)

    plan, verdict = verdict_on(twice)
    capfd.readouterr()
    assert companions.finding(plan, verdict, twice)
    assert companions.with_card(report(verdict), plan, verdict, twice).picture
    assert capfd.readouterr().err == ""


def test_a_live_gradient_brings_no_finding(verdict_on):
    def twice(x):
        return 2.0 * x

    plan, verdict = verdict_on(twice)
    assert companions.finding(plan, verdict, twice) == ""
    assert companions.finding(plan, plan.decide({}), twice) == ""


def test_a_wrong_gradient_brings_a_card_and_a_wrong_value_does_not(verdict_on):
    def twice(x):
        return 2.0 * x

    plan, verdict = verdict_on(twice)
    made = companions.with_card(report(verdict), plan, verdict, twice)
    assert "<svg" in made.picture
    assert made.picture_says

    def off(x):
        return 2.1 * x

    plan, verdict = verdict_on(off, "value")
    assert not verdict.passed
    assert companions.with_card(report(verdict), plan, verdict, off).picture == ""


def test_the_card_holds_the_learners_curve_against_the_reference(verdict_on, monkeypatch):
    drawn = []
    monkeypatch.setattr("grader.plots.card_from_arrays", lambda *a, **k: drawn.append((a, k)))
    plan, verdict = verdict_on(lambda x: 2.0 * x)
    companions.with_card(report(verdict), plan, verdict, lambda x: 2.0 * x)
    (((_, value, gradient), more),) = drawn
    assert np.allclose(gradient, 2)
    assert np.allclose(more["expected"], 3)
    assert len(value) == len(more["expected"])


def test_what_went_wrong_where_it_was_traced_is_looked_at_as_traced(verdict_on, tf, monkeypatch):
    monkeypatch.setattr("grader.xray.explain", lambda f, *_: SimpleNamespace(finding=type(f)))
    (case, *_), f = verdict_on(lambda x: 2.0 * x)[0].cases, lambda x: x
    looked_at = {mode: companions._xray(f, case, mode) for mode in ("eager", "outside", "graph")}
    assert looked_at["eager"] == str(type(f))
    assert looked_at["outside"] == looked_at["graph"] == str(type(tf.function(f)))


def test_a_verdict_stands_without_its_companions(verdict_on, monkeypatch, capsys):
    def twice(x):
        return 2.0 * x

    monkeypatch.setattr(companions, "_card", lambda plan, answer: 1 / 0)
    with pytest.raises(checking.CheckFailed):
        checking.check("twice", twice, part="gradient")
    assert "true derivative" in capsys.readouterr().out


def test_the_cards_case_is_never_judged(verdict_on):
    plan, verdict = verdict_on(lambda x: 2.0 * x, None)
    assert "card" not in {f.case.name for f in verdict.findings}
    assert any(case.part == "card" for case in plan.cases)
