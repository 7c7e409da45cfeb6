from __future__ import annotations

import numpy as np
import pytest

from grader.plots import words
from grader.plots.card import Card, card_from_arrays
from grader.plots.curve import curve_from_samples
from grader.plots.drawing import draw_card
from grader.plots.trace import trace

X = np.linspace(-2, 2, 201)


def said(picture) -> list[str]:
    return [text.get_text() for text in picture._figure.findobj(lambda a: hasattr(a, "get_text"))]


@pytest.mark.parametrize("small", [True, False])
def test_a_card_has_title_labels_and_names(small: bool) -> None:
    card = card_from_arrays(
        X, np.sign(X), np.abs(X) <= 1, expected=np.ones_like(X), title="My card"
    )
    picture = draw_card(card, small=small)
    assert {"My card", "x", "value", "derivative"} <= set(said(picture))
    assert {words.FORWARD, words.SMOOTH, words.SURROGATE, words.EXPECTED} <= set(said(picture))
    assert "My card" in picture.alt
    assert "jumps at 0 by 2" in picture.alt


def test_none_is_said_and_not_drawn() -> None:
    card = card_from_arrays(X, np.floor(X), None, expected=np.ones_like(X))
    picture = draw_card(card)
    assert words.NO_GRADIENT in said(picture)
    assert words.NO_GRADIENT in picture.alt
    assert words.SURROGATE not in said(picture)
    assert card.smooth is None


def test_a_note_is_said_beside_a_surrogate() -> None:
    assert "Look here." in said(draw_card(card_from_arrays(X, X, X, note="Look here.")))


def test_jumps_by_the_dozen_keep_their_masses() -> None:
    x = np.linspace(-30, 30, 6001)
    curve = trace(np.floor, -30, 30)
    picture = draw_card(Card(-30, 30, curve, slope=curve_from_samples(x, 0 * x)))
    lines = picture._figure.axes[1].collections[0].get_segments()
    assert len(lines) == len(curve.jumps) == 59
    assert {segment[1][1] for segment in lines} == {1.0}


def test_few_samples_are_shown_one_by_one(rng: np.random.Generator) -> None:
    x = rng.uniform(-1, 1, 7)
    axis = draw_card(card_from_arrays(x, x, x))._figure.axes[1]
    assert any(line.get_marker() == "s" and line.get_xdata().size == 7 for line in axis.lines)


def test_a_card_without_any_finite_value_is_still_drawn() -> None:
    nan = np.full_like(X, np.nan)
    assert draw_card(card_from_arrays(X, nan, nan)).png
