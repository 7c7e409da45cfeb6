from __future__ import annotations

import json

import numpy as np
import pytest

from grader.plots.card import card_from_arrays
from grader.plots.curve import Jump
from grader.plots.drawing import draw_card
from grader.plots.moving import Moving, arrows, dots, line, points, short
from grader.plots.trace import trace

NAN = float("nan")


def test_numbers_are_short_and_never_nan() -> None:
    got = short([1 / 3, np.float64(-12345.678), NAN, np.inf, 0.0])
    assert got == [0.3333, -12350.0, None, None, 0.0]
    assert json.loads(json.dumps(got, allow_nan=False)) == got


def test_points_break_at_a_jump() -> None:
    got = points(trace(np.sign, -1, 1), 0.01)
    assert got == {"x": [-1, 0, 0, 0, 1], "y": [-1, -1, None, 1, 1]}
    shape = line(trace(np.sign, -1, 1), "true", "sign", 0.01, width=3)
    assert (shape["kind"], shape["name"], shape["width"], shape["x"]) == (
        "line",
        "sign",
        3,
        got["x"],
    )


def test_dots_and_arrows_of_jumps() -> None:
    jumps = [Jump(1.0, 0.0, NAN, 2.0), Jump(2.0, 2.0, 2.0, 2.0)]
    assert [(d["x"], d["y"], d["filled"]) for d in dots(jumps, "true")][:2] == [
        (1, 0, False),
        (1, 2, False),
    ]
    assert len(dots(jumps, "true")) == 5
    assert [(a["y"], a["text"]) for a in arrows(jumps, "true")] == [(2, "+2")]


def test_a_moving_picture_refuses_what_the_browser_cannot_read() -> None:
    still = draw_card(card_from_arrays([0, 1, 2], [0, 1, 2], [1, 1, 1]))
    with pytest.raises(ValueError, match="JSON"):
        _ = Moving(still, {"x": NAN}, "sliders").html


def test_the_same_arrays_give_the_same_page() -> None:
    still = draw_card(card_from_arrays([0, 1, 2], [0, 1, 2], [1, 1, 1]))
    one, other = (Moving(still, {"title": t}, "marble").html for t in "aa")
    assert one == other
    assert one != Moving(still, {"title": "b"}, "marble").html
