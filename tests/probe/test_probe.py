import sys

import numpy as np
import pytest

from grader import judge, probe
from grader.probe import UNTOUCHED
from grader.probe.outcome import Outcome


def observe(course, exercise, answer, part=None):
    plan = judge.stored(course.root, exercise, part)
    return plan, probe.run(answer, plan.request)


def test_the_starter_is_not_run(mini, tf):
    ran = []
    space = {"____": ran}  # 2.0 * a list would raise
    plan = judge.stored(mini.root, "twice", None)
    exec(plan.terms.starter, space)
    assert probe.run(space["twice"], plan.request) == {UNTOUCHED: Outcome("blank")}


def test_a_part_asks_only_for_what_it_judges(mini, tf):
    _, got = observe(mini, "twice", lambda x: 2.0 * x, "value")
    assert {key for _, _, key in got} == {"value"}
    _, got = observe(mini, "twice", lambda x: 2.0 * x, "robust")
    assert {case for case, _, _ in got} == {"float64"}


@pytest.mark.parametrize("error", [ValueError, SystemExit, RecursionError, MemoryError])
def test_whatever_the_answer_raises_is_an_outcome(mini, tf, error):
    def twice(x):
        raise error("no")

    _, got = observe(mini, "twice", twice)
    assert {outcome.kind for outcome in got.values()} == {"error"}
    first = next(iter(got.values()))
    assert first.detail["type"] == error.__name__
    assert "no" in first.text
    assert first.detail["code"] == 'raise error("no")'


def test_an_interrupt_is_not_swallowed(mini, tf):
    def twice(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        observe(mini, "twice", twice)


def test_nothing_reaches_stderr(mini, tf, capfd):
    import warnings

    def twice(x):
        print("loud", file=sys.stderr)
        warnings.warn("louder", stacklevel=1)
        tf.get_logger().error("loudest")
        return 2.0 * x

    observe(mini, "twice", twice)
    assert capfd.readouterr().err == ""


def test_the_chapters_own_probe(mini, tf):
    plan, got = observe(mini, "counter", lambda n: range(n))
    n = plan.cases[0].options["n"]
    assert got["n", "eager", "last"].array == n - 1
    assert got["n", "eager", "length"].array == n


def test_the_probe_for_gradient_functions_reports_what_was_returned(mini, tf):
    _, got = observe(mini, "square_grad", lambda op, grad: (grad * op.inputs[0] * 2.0,))
    assert got["a matrix", "graph", "gradient returns"].word == "tensor"
    _, got = observe(mini, "square_grad", lambda op, grad: None)
    assert got["a matrix", "graph", "gradient returns"].word == "none"
    assert got["a matrix", "graph", "gradient:x"].kind == "none"


def test_autographs_report_is_reduced_to_the_message(mini, tf):
    _, got = observe(mini, "twice", lambda x: x.nope)
    traced = got["a matrix", "outside", "error"]
    assert "in user code" not in traced.text
    assert "nope" in traced.text
    assert np.all([o.kind == "error" for o in got.values()])


def test_the_runtimes_report_is_reduced_to_the_message(mini, tf):
    _, got = observe(
        mini, "twice", tf.function(lambda x: tf.debugging.check_numerics(x / 0.0, "here"))
    )
    traced = got["a matrix", "eager", "error"]
    assert traced.text == "here : Tensor had Inf values"
    assert traced.detail["type"] == "InvalidArgumentError"


def test_a_traced_mode_traces_whatever_a_cell_has_switched(mini, tf):
    def modes():
        seen = []
        observe(mini, "twice", lambda x: (seen.append(tf.inside_function()), 2.0 * x)[1])
        return set(seen)

    usual = modes()
    tf.config.run_functions_eagerly(True)
    try:
        assert modes() == usual == {False, True}
        assert tf.config.functions_run_eagerly()
    finally:
        tf.config.run_functions_eagerly(False)
