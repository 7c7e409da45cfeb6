from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.plots.surface import heights, loss_surface


def bowl(w: Any) -> Any:
    return w[0] ** 2 + 4 * w[1] ** 2


def test_heights_are_the_functions_values() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([-1.0, 3.0])
    np.testing.assert_allclose(heights(bowl, x, y), x**2 + 4 * y[:, None] ** 2)


def test_heights_of_a_tensorflow_function_and_of_one_that_leaves_it(tf: Any) -> None:
    x, y = np.array([0.0, 1.0]), np.array([2.0, 3.0, 4.0])
    expected = x**2 + 4 * y[:, None] ** 2
    np.testing.assert_allclose(heights(lambda w: tf.reduce_sum(w * w * [1.0, 4.0]), x, y), expected)
    np.testing.assert_allclose(
        heights(lambda w: w.numpy() @ np.diag([1, 4]) @ w.numpy(), x, y), expected
    )


def test_the_floor_of_a_curved_valley_is_no_row_of_islands() -> None:
    def valley(w: Any) -> Any:
        return (1.0 - w[0]) ** 2 + 20.0 * (w[1] - w[0] ** 2) ** 2

    figure = loss_surface(valley, low=(-1.7, -1.4), high=(1.7, 2.0))._figure
    lines = figure.axes[0].collections[-1]
    closed = [sum(code == 79 for code in path.codes) for path in lines.get_paths()]
    assert closed[0] <= 1
    assert lines.levels.size == 14


def test_paths_are_drawn_with_their_names_and_ends() -> None:
    paths = {"gradient": [[1, 1], [0.5, 0.2], [0.25, 0]], "Newton": [[1, 1], [0, 0]]}
    picture = loss_surface(bowl, paths)
    axis = picture._figure.axes[0]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["gradient", "Newton"]
    assert "gradient, steps: 2, last loss 0.0625." in picture.alt
    assert "Newton, steps: 1, last loss 0." in picture.alt
    low, high = axis.get_xlim()
    assert low < 0
    assert high > 1
    styles = {line.get_linestyle() for line in axis.lines if line.get_xdata().size > 1}
    assert len(styles) == 2


def test_bounds_can_be_given_and_are_checked() -> None:
    axis = loss_surface(bowl, low=-1, high=(2, 3))._figure.axes[0]
    assert axis.get_xlim() == (-1, 2)
    assert axis.get_ylim() == (-1, 3)
    with pytest.raises(ValueError, match="empty"):
        loss_surface(bowl, low=1, high=0)


def test_a_path_of_another_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"'gradient' has shape \(3,\)"):
        loss_surface(bowl, {"gradient": [1, 2, 3]})


def test_a_flat_loss() -> None:
    assert loss_surface(lambda w: 0 * w[0]).png
