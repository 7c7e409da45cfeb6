from __future__ import annotations

import numpy as np
import pytest

from grader.plots.chart import LOOKS, Panel, lines
from grader.plots.theme import SOFT, WRONG

FALL = np.array([4.0, 2.0, 1.0])


def by_name(axis):
    return {line.get_label(): line for line in axis.get_lines()}


def test_values_pairs_and_levels() -> None:
    panel = Panel({"a": FALL, "b": ([1, 2, 4], FALL), "chance": 0.1}, x="step", y="loss", log="xy")
    picture = lines("Losses", panel)
    (axis,) = picture._figure.axes
    drawn = by_name(axis)
    np.testing.assert_array_equal(drawn["a"].get_xdata(), [0, 1, 2])
    np.testing.assert_array_equal(drawn["b"].get_xdata(), [1, 2, 4])
    assert list(drawn["chance"].get_ydata()) == [0.1, 0.1]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("step", "loss")
    assert axis.get_xscale() == axis.get_yscale() == "log"
    assert picture.alt == ("Losses. loss over step: a from 4 to 1; b from 4 to 1; chance at 0.1.")


def test_values_are_counted_from_first() -> None:
    (axis,) = lines("Losses", Panel({"a": FALL}, x="epoch", first=1))._figure.axes
    np.testing.assert_array_equal(by_name(axis)["a"].get_xdata(), [1, 2, 3])


@pytest.mark.parametrize(
    ("value", "whole"),
    [([1.0, 2, 3, 4], True), (([1.0, 2, 3, 4], [1, 2, 3, 4]), True), (([0.5, 4], [1, 2]), False)],
)
def test_where_x_is_a_count_no_tick_stands_between(value: object, whole: bool) -> None:
    (axis,) = lines("T", Panel({"loss": value}, first=1), size=(5.6, 2.8))._figure.axes
    low, high = axis.get_xlim()
    ticks = [tick for tick in axis.get_xticks() if low <= tick <= high]
    assert len(ticks) > 2
    assert all(float(tick).is_integer() for tick in ticks) == whole


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_in_a_narrow_notebook_the_ticks_can_be_read(count: int) -> None:
    page = 600  # pixels that JupyterLab leaves a picture in a window of 800
    width, _ = lines("T", *[Panel({"a": [1.0, 2.0]})] * count).size
    ticks = 8.0 * 96 / 72  # 8 points in pixels
    assert ticks * min(1, page / width) > 8.5


def test_looks_differ_in_more_than_colour() -> None:
    (axis,) = lines("Losses", Panel({"a": FALL, "b": FALL, "c": FALL, "d": FALL}))._figure.axes
    styles = {str(line._unscaled_dash_pattern) for line in axis.get_lines()}
    assert len(styles) == len({line.get_color() for line in axis.get_lines()}) == 4
    assert len({str(style) for _, style, _ in LOOKS.values()}) == len(LOOKS)


def test_earlier_lines_are_wider() -> None:
    (axis,) = lines("Losses", Panel({"a": FALL, "b": FALL, "c": FALL}))._figure.axes
    widths = [line.get_linewidth() for line in axis.get_lines()]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 3


def test_a_name_looks_the_same_in_every_panel_and_one_legend_serves() -> None:
    first, second = lines(
        "Costs", Panel({"full": FALL, "blocks": FALL}), Panel({"blocks": FALL, "full": FALL})
    )._figure.axes
    for name in ("full", "blocks"):
        assert by_name(first)[name].get_color() == by_name(second)[name].get_color()
    assert first.get_legend() is not None
    assert second.get_legend() is None


def test_panels_of_other_names_have_legends_of_their_own() -> None:
    first, second = lines(
        "Both", Panel({"a": FALL, "b": FALL}), Panel({"c": FALL, "d": FALL})
    )._figure.axes
    names = [
        [text.get_text() for text in axis.get_legend().get_texts()] for axis in (first, second)
    ]
    assert names == [["a", "b"], ["c", "d"]]


def test_roles_are_given_or_taken_in_turn() -> None:
    panel = Panel({"bad": FALL, "good": FALL, "exact": 1.0})
    (axis,) = lines("Norm", panel, looks={"bad": "wrong"})._figure.axes
    assert by_name(axis)["bad"].get_color() == WRONG.light
    assert by_name(axis)["good"].get_color() == LOOKS["true"][0].light
    assert by_name(axis)["exact"].get_color() == SOFT.light


def test_points_marks_and_a_shaded_span() -> None:
    panel = Panel(
        {"formula": FALL, "measured": FALL, "both": FALL},
        shaded=(0.5, 1.5),
        points=["measured"],
        marks=["both"],
    )
    (axis,) = lines("Steps", panel)._figure.axes
    drawn = by_name(axis)
    assert (drawn["measured"].get_linestyle(), drawn["measured"].get_marker()) == ("None", "s")
    assert (drawn["formula"].get_marker(), drawn["both"].get_marker()) == ("", "^")
    assert len(axis.patches) == 1


@pytest.mark.parametrize("titles", [("", ""), ("left", "right")])
def test_legend_titles_and_head_do_not_meet(titles: tuple[str, str]) -> None:
    shown = [Panel({"a": FALL, "b": FALL}, x="x", y="y", title=title) for title in titles]
    figure = lines("A title", *shown, note="a note")._figure
    figure.draw_without_rendering()
    legend = figure.axes[0].get_legend().get_window_extent()
    heads = [text.get_window_extent() for text in figure.texts if text.get_text()]
    names = [axis.title.get_window_extent() for axis in figure.axes if axis.get_title("left")]
    names += [
        axis._left_title.get_window_extent() for axis in figure.axes if axis.get_title("left")
    ]
    assert not any(legend.overlaps(box) for box in heads + names)
    assert all(box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 for box in [*heads, *names])


def test_one_line_needs_no_legend() -> None:
    (axis,) = lines("Loss", Panel({"loss": FALL}))._figure.axes
    assert axis.get_legend() is None
