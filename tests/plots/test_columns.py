from __future__ import annotations

import numpy as np

from grader.plots.columns import bars, bars_against

VALUES = {"m": [1.0, 0.5, 0.25], "motion": [-1.0, -0.5, -0.125]}


def heights(container) -> list[float]:
    return [bar.get_height() for bar in container]


def test_each_name_has_a_row_and_hollow_bars_are_hatched() -> None:
    words = ("flows", "is zero")
    picture = bars("Left", VALUES, hollow=[False, True, True], words=words, x="step", first=1)
    axes = picture._figure.axes
    assert [axis.get_ylabel() for axis in axes] == ["m", "motion"]
    filled, hatched = axes[0].containers
    assert heights(filled) == [1.0]
    assert heights(hatched) == [0.5, 0.25]
    assert [bar.get_hatch() for bar in (*filled, *hatched)] == [None, "////", "////"]
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == list(words)
    assert [tick.get_text() for tick in axes[-1].get_xticklabels()] == ["1", "2", "3"]
    assert "where is zero: m adds up to 0.75, motion adds up to −0.625" in picture.alt


def test_without_hollow_places_all_bars_are_filled() -> None:
    axis, _ = bars("Left", VALUES)._figure.axes
    assert heights(axis.containers[0]) == VALUES["m"]
    assert axis.get_legend() is None


def test_against_what_should_have_come_on_one_scale() -> None:
    expected = np.array([1.0, 2.0, 4.0])
    shown = {"right": expected, "twice": 2 * expected}
    picture = bars_against("J", shown, expected, x="weight", y="gradient")
    left, right = picture._figure.axes
    assert heights(left.containers[0]) == heights(right.containers[0]) == [1.0, 2.0, 4.0]
    assert heights(right.containers[1]) == [2.0, 4.0, 8.0]
    assert left.get_ylim() == right.get_ylim()
    assert right.get_ylim()[1] > 8.0
    assert (left.get_ylabel(), right.get_ylabel()) == ("gradient", "")
    assert "right is off by 0 at most; twice is off by 4 at most" in picture.alt


def test_an_empty_scale_still_draws() -> None:
    assert "off by 0" in bars_against("J", {"none": [0.0]}, [0.0]).alt
