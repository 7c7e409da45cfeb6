from __future__ import annotations

import numpy as np
import pytest

from grader.plots import words
from grader.plots.card import card_from_arrays, limits
from grader.plots.curve import Curve

X = np.linspace(-2, 2, 201)


def test_arrays_become_curves_with_their_integral() -> None:
    card = card_from_arrays(X[::-1], np.sign(X[::-1]), np.abs(X) <= 1, expected_value=X[::-1])
    assert (card.low, card.high) == (-2, 2)
    assert [(jump.x, jump.mass) for jump in card.forward.jumps] == [(0, 2)]
    # The samples cannot tell where between two of them the gradient ends.
    assert card.smooth.at([-2, 0, 2]) == pytest.approx([-1, 0, 1], abs=0.02)
    assert card.averaged.at([1.5]) == pytest.approx(1.5)


def test_none_is_none() -> None:
    card = card_from_arrays(X, X, None)
    assert (card.surrogate, card.smooth, card.note) == (None, None, words.NO_GRADIENT)


def test_limits_hold_the_bulk_and_all_that_must_be_seen() -> None:
    pole = Curve(X, 1 / (X + 1e-6))
    low, high = limits([pole], [7.0])
    assert -1e3 < low < -2
    assert 7 < high < 1e3
    assert limits([Curve(X, np.full_like(X, np.nan))]) == (-1.0, 1.0)


def test_arrays_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="201"):
        card_from_arrays(X, X, X[:-1])
