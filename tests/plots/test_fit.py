from __future__ import annotations

import pytest

from grader.plots.fit import wide, wrapped

LONG = "The Jacobian of a dense layer to its kernel, all of its zeros included"


@pytest.mark.parametrize("inches", [1.5, 3.0])
def test_no_line_is_wider_than_asked_and_no_word_is_lost(inches: float) -> None:
    lines = wrapped(LONG, inches).split("\n")
    assert len(lines) > 1
    assert max(map(wide, lines)) <= inches
    assert " ".join(lines) == LONG


def test_a_short_text_stays_as_it_is() -> None:
    assert wrapped("Jacobian", 3.0) == "Jacobian"
    assert wrapped("", 3.0) == ""


def test_a_word_is_never_broken() -> None:
    assert wrapped("gradient_override_map", 0.2) == "gradient_override_map"


def test_width_grows_with_size() -> None:
    assert wide(LONG, 12.0) == pytest.approx(1.5 * wide(LONG, 8.0), rel=1e-3)
