import pytest

from grader.engine import checks

CELL = """check("binarize", binarize, part="gradient")
### BEGIN HIDDEN TESTS
check("binarize", binarize, part="gradient", fresh=True)
### END HIDDEN TESTS"""

TABLE = """check("where", where)
### BEGIN HIDDEN TESTS
from grader import partial_credit
partial_credit("where", where, points=12)
### END HIDDEN TESTS"""


def test_the_hidden_region_is_cut():
    assert checks.visible(CELL) == 'check("binarize", binarize, part="gradient")'
    assert checks.visible("a\n### BEGIN HIDDEN TESTS\nb") == "a"


def test_one_check_seen_twice_is_one_question():
    assert checks.calls(CELL) == (checks.Call("binarize", "binarize", "gradient"),)


def test_partial_credit_rules_the_cell():
    assert checks.calls(TABLE) == (checks.Call("where", "where", None, 12.0),)


def test_expressions_and_positions():
    (call,) = checks.calls('grader.check("f", make(2)[0], "value")')
    assert call == checks.Call("f", "make(2)[0]", "value")


@pytest.mark.parametrize("source", ["assert f(1) == 2", "%time f()", "check(x)", "check(name, f)"])
def test_ordinary_tests_hold_no_checks(source):
    assert checks.calls(source) == ()


def test_a_master_cell_that_cannot_be_read_is_the_instructors_error():
    with pytest.raises(ValueError, match="points"):
        checks.calls('partial_credit("f", f, points=n)')


def test_tracebacks_do_not_show_hidden_lines():
    source = "assert f(1) == 2\n### BEGIN HIDDEN TESTS\nassert f(17) == 34\n### END HIDDEN TESTS"
    shown = checks.without_hidden_lines("----> 3 \x1b[1massert f(17) == 34\x1b[0m\nother", source)
    assert "17" not in shown
    assert "other" in shown


def test_a_bracket_of_a_hidden_test_hides_no_line_that_has_one():
    source = "f(1)\n### BEGIN HIDDEN TESTS\nassert f(\n    17\n)\n### END HIDDEN TESTS"
    assert checks.without_hidden_lines("f(x)\nassert f(", source) == "f(x)\n(a hidden test)"


@pytest.mark.parametrize(
    "source", ["check(3, f)", 'check("f", f, part=3)', 'check("f", f, part=PART)']
)
def test_names_that_are_no_texts_are_the_instructors_error(source):
    with pytest.raises(ValueError, match="plain strings"):
        checks.calls(source)


@pytest.mark.parametrize("source", ['check(id="f", object=f)', 'check("f", object=f)'])
def test_a_check_that_would_not_be_seen_is_the_instructors_error(source):
    with pytest.raises(ValueError, match="in their places, without names"):
        checks.calls(source)
