from __future__ import annotations

import re

import numpy as np
import pytest

from grader.plots import captions, words
from grader.plots.curve import Jump
from grader.plots.families import FAMILIES

SENTENCES = [text for m in (words, captions) for text in vars(m).values() if isinstance(text, str)]


def test_sentences_are_calm_and_short() -> None:
    for text in SENTENCES + [family.look_for for family in FAMILIES.values()]:
        assert "!" not in text
        assert not re.search("[\U0001f300-\U0001faff]", text)
        assert all(len(sentence.split()) <= 30 for sentence in text.split(". "))


@pytest.mark.parametrize(
    ("value", "said"), [(-0.5, "−0.5"), (1 / 3, "0.333"), (-0.0, "0"), (12345.0, "1.23e+04")]
)
def test_numbers(value: float, said: str) -> None:
    assert words.number(value) == said


def test_the_mass_of_a_jump_has_its_sign() -> None:
    assert words.mass(Jump(0, -1, 0, 1)) == "+2"
    assert words.mass(Jump(0, 1, 0, -0.5)) == "−1.5"


def test_where_a_gradient_is_not_finite() -> None:
    x, y = np.arange(6.0), np.array([1.0, np.nan, np.nan, 1, np.nan, 1])
    assert words.not_finite(x, y) == "The tape returns NaN: 1 ≤ x ≤ 2, at x = 4."
    assert words.not_finite(x[:2], np.array([np.inf, 1])) == "The tape returns infinite: at x = 0."
    assert words.not_finite(x, y * np.nan) == "The tape returns NaN everywhere."
    assert words.not_finite(x, x) == ""


def test_many_jumps_are_counted() -> None:
    from grader.plots.card import card_from_arrays

    x = np.linspace(0, 10, 1001)
    assert "has 10 jumps" in words.card_alt(card_from_arrays(x, np.floor(x), None))
