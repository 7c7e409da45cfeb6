from __future__ import annotations

import numpy as np
import pytest

from grader.plots.jacobian import as_matrix, jacobian_map, ratio, wrong_entries

EXPECTED = np.arange(12.0).reshape(3, 4) - 5


def texts(picture) -> set[str]:
    return {a.get_text() for a in picture._figure.findobj(lambda a: hasattr(a, "get_text"))}


def test_wrong_entries_are_counted_framed_and_said() -> None:
    got = EXPECTED.copy()
    got[1, 2] *= 2
    got[2, 0] = np.nan
    picture = jacobian_map(got, EXPECTED, title="J")
    assert "2 of 12 entries are wrong: (output, input) (1, 2), (2, 0)." in picture.alt
    assert {"J", "got", "expected", "got / expected", "input", "output"} <= texts(picture)
    # Two patches for each frame: a halo and the dashes.
    assert [len(axis.patches) for axis in picture._figure.axes] == [4, 0, 4]


def test_all_right_is_said() -> None:
    assert "No entry is wrong." in jacobian_map(EXPECTED, EXPECTED).alt


def test_transposed_is_not_broadcast() -> None:
    picture = jacobian_map(EXPECTED.T, EXPECTED)
    assert "Shapes differ: got 4 × 3, expected 3 × 4" in picture.alt
    assert len(picture._figure.axes) == 2


def test_one_matrix_alone_is_not_called_got() -> None:
    picture = jacobian_map(EXPECTED, title="J")
    assert [axis.get_title("left") for axis in picture._figure.axes] == [""]
    assert "got" not in picture.alt
    assert {"J", "input", "output"} <= texts(picture)


@pytest.mark.parametrize("expected", [None, EXPECTED.T])
def test_a_long_title_is_not_clipped(expected: np.ndarray | None) -> None:
    title = "The Jacobian of eight outputs to twelve inputs, and the zeros between its blocks, " * 2
    figure = jacobian_map(EXPECTED, expected, title=title.strip())._figure
    figure.draw_without_rendering()
    right, top = figure.bbox.x1, figure.bbox.y1
    boxes = [text.get_window_extent() for text in figure.texts if text.get_text()]
    assert all(box.x0 >= 0 and box.x1 <= right and box.y0 >= 0 and box.y1 <= top for box in boxes)
    head, note = sorted(boxes, key=lambda box: -box.y0)
    axes = [axis.get_tightbbox() for axis in figure.axes]
    assert all(note.y1 <= axis.y0 and axis.y1 <= head.y0 for axis in axes)


def test_a_large_map_stays_small_on_the_page(rng: np.random.Generator) -> None:
    picture = jacobian_map(rng.normal(size=(60, 50)), np.zeros((60, 50)))
    assert len(picture.svg) < 150_000
    assert "3000 of 3000 entries are wrong" in picture.alt


@pytest.mark.parametrize(
    ("shape", "matrix"),
    [((3,), (1, 3)), ((2, 3), (2, 3)), ((2, 3, 4, 5), (6, 20)), ((2, 3, 4), (6, 4)), ((), (1, 1))],
)
def test_layout_of_higher_ranks(shape: tuple[int, ...], matrix: tuple[int, int]) -> None:
    assert as_matrix(np.zeros(shape)).shape == matrix


def test_ratio_where_nothing_is_expected() -> None:
    got = ratio(np.array([[0.0, 2.0, 6.0]]), np.array([[0.0, 0.0, 3.0]]))
    np.testing.assert_array_equal(got, [[np.nan, np.nan, 2.0]])


@pytest.mark.parametrize(("expected", "said"), [(np.eye(3), 1), (np.ones((3, 3)), 0)])
def test_zero_over_zero_is_no_ratio_and_the_note_says_so(expected, said) -> None:
    figure = jacobian_map(expected, expected)._figure
    written = [text.get_text() for text in figure.axes[2].texts]
    assert written.count("–") == 6 * said
    assert written.count("1") == 9 - 6 * said
    note = " ".join(figure.texts[-1].get_text().split())
    assert ("white is 1, grey: 0 is expected." in note) == bool(said)


def test_wrong_is_measured_on_the_largest_entry() -> None:
    expected = np.array([[1000.0, 0.0]])
    assert not wrong_entries(expected + 0.05, expected, 1e-4).any()
    assert wrong_entries(expected + 0.2, expected, 1e-4).all()
