import pytest

from grader import ____
from grader.attempt import gap_line, untouched

STARTER = """def helper(x):
    return x

def f(x, k=2):
    # fill this in
    return helper(x) * 0.3
"""


def define(source):
    space = {}
    exec(source, space)
    return space["f"]


@pytest.mark.parametrize(
    "source",
    [STARTER, STARTER.replace("# fill this in", "# hm"), "import math\n\n" + STARTER],
    ids=["as it was", "another comment", "moved down"],
)
def test_the_starter_is_untouched(source):
    assert untouched(define(source), "f", STARTER)


@pytest.mark.parametrize(
    ("old", "new"),
    [("0.3", "0.4"), ("helper(x) *", "helper(k) *"), ("return x", "return -x"), (") * 0", ") / 0")],
)
def test_any_change_of_the_code_is_an_attempt(old, new):
    changed = STARTER.replace(old, new)
    assert changed != STARTER
    assert not untouched(define(changed), "f", STARTER)


def test_tables_are_untouched_while_every_entry_is_a_gap():
    assert untouched({"a": ____, "b": ____}, "t", "")
    assert not untouched({"a": ____, "b": "none"}, "t", "")
    assert untouched([____], "t", "")
    assert not untouched({}, "t", "")


def test_other_objects_are_attempts():
    assert not untouched(3, "f", STARTER)
    assert not untouched(lambda x: x, "g", STARTER)
    assert not untouched(lambda x: x, "f", "def f(:")
    assert untouched(____, "f", STARTER)


def half_filled(x):
    """____ in a text is no gap."""
    # nor is ____ in a comment
    return x * ____


def filled(x):
    return "____"


def test_the_line_of_the_first_gap_is_counted_from_the_functions_first_line():
    assert gap_line(half_filled) == (4, "return x * ____")
    assert gap_line(lambda x: ____)[0] == 1
    assert gap_line(filled) is None
    assert gap_line(define(STARTER)) is None  # no source to be found
    assert gap_line({"a": ____}) is None
    assert gap_line(3) is None
