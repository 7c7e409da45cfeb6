import pytest

from grader.build.starter import StarterError, starter

ANSWER = """def f(x):
    '''Kept.'''
    ### BEGIN SOLUTION
    y = secret(x)
    return y
    ### STARTER
    # y = ____
    #
    # return y  # hm
    ### END SOLUTION
"""


def test_the_commented_lines_after_the_mark_are_opened():
    assert starter(ANSWER) == "def f(x):\n    '''Kept.'''\n    y = ____\n\n    return y  # hm\n"


def test_without_a_mark_there_is_a_gap():
    inner = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
    assert starter(inner) == "def f():\n    return ____"
    assert starter("### BEGIN SOLUTION\nx = 1\n### END SOLUTION") == "____"


def test_two_regions_are_both_replaced():
    two = "### BEGIN SOLUTION\na\n### END SOLUTION\nb\n### BEGIN SOLUTION\nc\n### END SOLUTION"
    assert starter(two) == "____\nb\n____"


@pytest.mark.parametrize(
    "source",
    [
        "### BEGIN SOLUTION\nx",
        "x\n### END SOLUTION",
        "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION",
        "### BEGIN SOLUTION\n### STARTER\nnot a comment\n### END SOLUTION",
    ],
)
def test_marks_that_do_not_pair_are_errors(source):
    with pytest.raises(StarterError):
        starter(source)
