from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.plots.descent import descend, marble


@pytest.fixture(scope="module")
def staircase(tf: Any) -> Any:
    """A parabola of the rounded x, whose gradient passes the rounding straight through."""

    def loss(x: Any) -> Any:
        rounded = x + tf.stop_gradient(tf.round(x) - x)
        return (rounded - 1.0) ** 2

    return loss


def test_a_descent_on_a_parabola_is_geometric() -> None:
    path = descend(lambda x: 2 * x, np.square, 1.0, 0.25, 5, (-2, 2))
    np.testing.assert_allclose(path.x, 0.5 ** np.arange(6))
    np.testing.assert_allclose(path.y, path.x**2)
    np.testing.assert_allclose(path.slope, 2 * path.x)


def test_a_descent_stays_inside_and_none_stands_still() -> None:
    assert descend(lambda x: -9 + 0 * x, np.square, 1.0, 1.0, 3, (-2, 2)).x.tolist() == [1, 2, 2, 2]
    still = descend(lambda x: None, np.square, 1.0, 1.0, 2, (-2, 2))
    assert still.x.tolist() == [1, 1, 1]
    assert np.isnan(still.slope).all()


def test_the_true_derivative_moves_nothing_and_the_surrogate_does(staircase: Any) -> None:
    true, learner = marble(staircase, start=-1.8, rate=0.1).spec["paths"]
    assert set(true["x"]) == {-1.8}
    assert learner["y"][-1] == 0
    assert learner["slope"][0] == pytest.approx(-6)


def test_none_is_said(tf: Any) -> None:
    picture = marble(lambda x: tf.round(x) ** 2, steps=3)
    assert "returns None" in picture.alt
    assert picture.spec["paths"][1]["slope"] == [None] * 4


def test_another_functions_gradient_can_pull(tf: Any) -> None:
    picture = marble(lambda x: tf.round(x) ** 2, lambda x: x**2, start=2.0, rate=0.5, steps=2)
    assert picture.spec["paths"][1]["x"] == [2, 0, 0]


def test_a_start_outside_is_refused() -> None:
    with pytest.raises(ValueError, match="start is 7"):
        marble(abs, start=7.0)


@pytest.mark.browser
def test_play_step_and_reset(staircase: Any, page: Any, tmp_path: Path) -> None:
    html = marble(staircase, start=-1.8, steps=6).html
    (tmp_path / "marble.html").write_text('<meta charset="utf-8">' + html, encoding="utf-8")
    page.goto((tmp_path / "marble.html").as_uri())
    left, right = page.locator(".gp-says").all()
    ball = page.locator(".gp-marble").last
    start = ball.get_attribute("cx")
    page.get_by_role("button", name="Step").click()
    assert right.inner_text().startswith("step 1")
    assert left.inner_text() == "step 1: x = −1.8, gradient 0"
    assert ball.get_attribute("cx") != start
    page.get_by_role("button", name="Reset").click()
    assert ball.get_attribute("cx") == start
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    right.get_by_text("step 6").wait_for()
    page.get_by_role("button", name="Play").wait_for()
