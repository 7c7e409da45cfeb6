from __future__ import annotations

import json

import numpy as np
import pytest

from grader.plots.card import Card
from grader.plots.families import Slider
from grader.plots.frames import Frames, frames_spec
from grader.plots.trace import trace


def card(height: float) -> Card:
    curve = trace(lambda x: np.full_like(x, height), -1, 1)
    return Card(-1, 1, trace(np.sign, -1, 1), curve, curve, curve.integral(-1.0))


@pytest.fixture
def spec() -> dict:
    return frames_spec(
        Frames("Title", {"my_knob": Slider(1, 3, 2, 3)}, [card(h) for h in (1, 2, 3)], 1)
    )


def test_panels_hold_everything_that_can_come(spec: dict) -> None:
    above, below = spec["panels"]
    assert above["low"] < -1 < 5 < above["high"]  # the steepest integral ends at -1 + 2·3
    assert below["low"] < 0 < 3 < below["high"]
    assert above["label"] == "value"
    assert "forward" in above["alt"]


def test_every_frame_holds_both_lines(spec: dict) -> None:
    assert [frame[1]["y"] for frame in spec["frames"]] == [[1, 1], [2, 2], [3, 3]]
    assert [frame[0]["y"][-1] for frame in spec["frames"]] == [1, 3, 5]


def test_sliders_and_title(spec: dict) -> None:
    assert spec["title"] == "Title"
    assert spec["sliders"] == [{"name": "my knob", "values": [1, 2, 3], "start": 1}]
    json.dumps(spec, allow_nan=False)


def test_a_frame_without_gradient_is_empty() -> None:
    plain = Card(-1, 1, trace(np.sign, -1, 1))
    spec = frames_spec(Frames("T", {"k": Slider(0, 1, 0, 2)}, [plain, plain], 0))
    assert spec["frames"] == [[{"x": [], "y": []}] * 2] * 2
