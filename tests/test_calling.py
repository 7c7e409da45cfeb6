import pytest

from grader import check, hint, predict
from grader.calling import WrongCall


def binarize(x):
    return x


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda: check("binarize"), 'check("binarize", binarize)'),
        (lambda: check(binarize), 'check("binarize", binarize)'),
        (lambda: check(binarize, "binarize"), 'check("binarize", binarize)'),
        (lambda: check("binarize", binarize, prt="value"), 'check("binarize", binarize)'),
        (lambda: check(lambda x: x), 'check("name", name)'),
        (lambda: check(), 'check("name", name)'),
        (lambda: hint(), 'hint("name")'),
        (lambda: hint(binarize), 'hint("binarize")'),
        (lambda: predict(lambda: 0.0, "zero"), 'predict("zero", run, "none")'),
    ],
)
def test_a_wrong_call_is_told_the_right_one_in_one_line(call, right):
    with pytest.raises(WrongCall) as caught:
        call()
    (line,) = caught.value._render_traceback_()
    assert line.startswith("WrongCall: Give ")
    assert right in line
    assert "\n" not in line
