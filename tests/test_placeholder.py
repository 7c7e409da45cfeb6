import copy

import numpy as np

from grader import ____
from grader.placeholder import Blank


def half_filled(x):
    y = x + 1
    return (____ * y).shape[0] ** 2 - -____ @ y


def test_a_gap_absorbs_any_use_and_remembers_its_line():
    result = half_filled(np.ones(2))
    assert isinstance(result, Blank)
    assert result.line == 3
    assert result.code == "return (____ * y).shape[0] ** 2 - -____ @ y"
    ____.forget()
    assert result.line is result.code is None


def test_it_can_be_called_indexed_iterated_and_tested():
    a, b = ____
    assert all(isinstance(v, Blank) for v in (a, b, ____(1, k=2), ____["x"], ____.real.imag))
    assert not ____
    assert repr(____) == "____"
    assert len({____, ____}) == 1


def test_protocols_do_not_find_what_is_not_there():
    assert not hasattr(____, "__array__")
    assert not hasattr(____, "_repr_html_")
    assert isinstance(copy.copy(____), Blank)
