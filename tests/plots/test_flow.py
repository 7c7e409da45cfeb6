from __future__ import annotations

import numpy as np
import pytest

from grader.plots import captions
from grader.plots.flow import ribbons
from grader.plots.theme import EXPECTED, LEARNER, TRUE, WRONG


def drawn(picture) -> list[tuple[str, bool]]:
    """Colour and solidity of every ribbon (lines with a bend have 24 points)."""
    lines = [line for line in picture._figure.axes[0].lines if line.get_xdata().size == 24]
    return sorted((line.get_color(), line.get_linestyle() == "-") for line in lines)


def test_ribbons_by_sign() -> None:
    picture = ribbons([[1.0, 0.0], [-2.0, 3.0]])
    assert drawn(picture) == sorted(
        [(TRUE.light, True), (TRUE.light, True), (LEARNER.light, False)]
    )
    assert "2 inputs, 2 outputs, 3 ribbons" in picture.alt


def test_wrong_and_missing_ribbons_are_dashed() -> None:
    picture = ribbons([[1.0, 0.0], [5.0, 3.0]], [[1.0, 2.0], [0.0, 3.0]])
    assert (WRONG.light, False) in drawn(picture)
    assert (EXPECTED.light, False) in drawn(picture)
    assert "2 of 4 entries are wrong" in picture.alt
    names = [text.get_text() for text in picture._figure.axes[0].get_legend().get_texts()]
    assert names == [captions.POSITIVE, captions.WRONG_RIBBON, captions.MISSING]


def test_width_grows_with_the_entry() -> None:
    lines = ribbons(np.diag([1.0, 4.0]))._figure.axes[0].lines
    widths = sorted(line.get_linewidth() for line in lines if line.get_xdata().size == 24)
    assert widths == [2.25, 6.0]


def test_many_inputs_and_nan(rng: np.random.Generator) -> None:
    many = rng.normal(size=(30, 40))
    many[0, 0] = np.nan
    assert ribbons(many).png


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="got 1 × 2, expected 2 × 1"):
        ribbons(np.zeros((1, 2)), np.zeros((2, 1)))
