"""What AutoGraph may be spared, and what it may not."""

import functools
import re

import numpy as np
import pytest

from grader import probe
from grader.contract import INSIDE, OUTSIDE, Case
from grader.probe import autograph, failure
from grader.probe.modes import MODES
from grader.probe.plain import plain
from grader.probe.request import Request

PLAIN = "twice gradient calls_helper custom unpacks maps chooses compares calls_itself".split()
NOT = """
loop while_loop conditional logic negation between asserts filtered prints length branch
calls_branch calls_a_local calls_an_argument calls_an_instance calls_a_method makes_an_instance
hides_the_instance renames takes_from_a_list takes_from_a_dictionary has_a_default
has_an_inner_default asks_a_number renames_a_module calls_a_module calls_both of_branch decorates decorated picks tries nested_branch once
""".split()
HARMLESS = {"FunctionScope", "ConversionOptions", "STD", "UndefinedReturnValue", "ld",
            "converted_call", "autograph_artifact"}  # fmt: skip


@pytest.fixture(scope="module")
def learners():
    """The module with the functions: it imports TensorFlow, which collecting tests need not."""
    from tests.probe import learners

    return learners


def case_in(mode):
    return Case("two", {"x": np.array([-0.5, 2.5], "float32")}, modes=(mode,))


@pytest.mark.parametrize("name", PLAIN)
def test_where_it_is_plain_autograph_finds_nothing_to_change(learners, tf, name):
    f = getattr(learners, name)
    arguments = (learners.shared, learners.weight, 2, None, [np.ones(3)], {"a": "b"})
    assert plain(f, arguments)
    text = tf.autograph.to_code(f)
    assert set(re.findall(r"ag__\.(\w+)", text)) <= HARMLESS, text


@pytest.mark.parametrize("name", NOT)
def test_wherever_that_is_not_certain_it_is_not(learners, name):
    assert not plain(getattr(learners, name))


def test_what_is_no_function_with_a_text_of_its_own_is_not(learners, tf):
    space = {}
    exec("def made(x):\n    return x", space)
    for f in (lambda x: x, tf.identity, learners.scale, learners.scale.by, tf.function(learners.twice),
              functools.partial(learners.twice), tf.custom_gradient(learners.twice), None,
              eval("lambda x: x"), space["made"], len):  # fmt: skip
        assert not plain(f)


def test_an_argument_may_bring_code_along(learners):
    for argument in (learners.branch, learners.scale, object(), [learners.scale],
                     {"a": learners.twice}, iter([])):  # fmt: skip
        assert not plain(learners.twice, (learners.shared, argument))


def test_a_variable_around_it_counts_as_it_is_now(learners):
    def around(x):
        return inner(x)

    assert not plain(around)  # not assigned yet
    inner = learners.helper
    assert plain(around)
    inner = learners.branch
    assert not plain(around)


@pytest.mark.parametrize("mode", [OUTSIDE, INSIDE])
@pytest.mark.parametrize("name", PLAIN)
def test_the_same_comes_out_to_the_last_bit(learners, name, mode, monkeypatch):
    def answers():
        found = MODES[mode](getattr(learners, name), case_in(mode))
        return {key: np.asarray(value).tobytes() for key, value in found.items()}

    as_it_is = answers()
    monkeypatch.setattr(autograph, "plain", lambda *_: False)
    assert answers() == as_it_is


@pytest.mark.parametrize(
    "name", "branch loop while_loop conditional calls_branch nested_branch".split()
)
def test_the_others_are_rewritten(learners, name):
    found = MODES[OUTSIDE](getattr(learners, name), case_in(OUTSIDE))
    assert found["value"].shape == (2,)  # without AutoGraph a tensor is no condition


def test_an_error_in_a_plain_function_names_its_line(learners, monkeypatch):
    monkeypatch.setattr(failure, "is_learners", lambda file: file == learners.__file__)
    answer = Request("wrong", "function", {}, (case_in(OUTSIDE),))
    (found,) = probe.run(learners.wrong_shape, answer).values()
    assert found.kind == "error"
    assert found.detail["code"] == "return tf.reshape(y, [7])"
