from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from grader.plots.families import FAMILIES, Slider
from grader.plots.figure import Picture
from grader.plots.sliders import interactive


def arrays(picture: Picture) -> dict[str, Any]:
    """The description inside the page, as the browser reads it."""
    found = re.search(r"gpSliders\(\{\.\.\.(\{.*\}),id:", picture.html)
    assert found
    return json.loads(found[1])


def line_of(points: dict[str, list[float]], x: float) -> float:
    pairs = [(a, b) for a, b in zip(points["x"], points["y"], strict=True) if b is not None]
    return float(np.interp(x, *zip(*pairs, strict=True)))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_has_one_frame_for_each_position(name: str) -> None:
    spec = arrays(interactive(name))
    count = np.prod([len(slider["values"]) for slider in spec["sliders"]])
    assert len(spec["frames"]) == count > 1
    assert all(len(frame) == 2 for frame in spec["frames"])


def test_frames_follow_the_sliders_in_their_order() -> None:
    spec = arrays(interactive("clip range"))
    lows, highs = (slider["values"] for slider in spec["sliders"])
    for i, j in ((0, 0), (3, 7), (10, 2)):
        smooth, surrogate = spec["frames"][i * len(highs) + j]
        middle = (lows[i] + highs[j]) / 2
        if highs[j] - lows[i] > 0.1:
            assert line_of(surrogate, middle) == pytest.approx(1.0)
        assert line_of(smooth, 2.5) == pytest.approx(-1 + highs[j] - lows[i], abs=0.01)


def test_the_still_picture_stays_behind() -> None:
    picture = interactive("noise width")
    data, _ = picture._repr_mimebundle_()
    assert data["text/html"].count("<img ") == 1
    assert "width 1" in data["text/plain"]
    with Image.open(io.BytesIO(picture.png)) as image:
        assert image.format == "PNG"


def test_the_page_is_self_contained_and_ends_its_script_once() -> None:
    page = interactive("temperature", title="</script><b>").html
    assert page.count("</script>") == 1
    links = re.findall(r"https?://[^\"' ]+", page)
    assert set(links) <= {"http://www.w3.org/2000/svg"}


def test_a_learners_own_function(tf: Any) -> None:
    def soft_step(x: Any, sharpness: float) -> Any:
        return tf.sigmoid(sharpness * x)

    def step(x: Any) -> Any:
        return tf.cast(x > 0, tf.float32)

    spec = arrays(interactive(soft_step, forward=step, sharpness=Slider(1, 9, 3, 3)))
    assert spec["sliders"] == [{"name": "sharpness", "values": [1, 3, 5, 9], "start": 1}]
    for value, (_, surrogate) in zip((1, 3, 5, 9), spec["frames"], strict=True):
        assert line_of(surrogate, 0.0) == pytest.approx(value / 4, rel=0.01)
    arrow = [shape for shape in spec["panels"][1]["fixed"] if shape["kind"] == "arrow"]
    assert [(a["x"], a["y"], a["text"]) for a in arrow] == [(0, 1, "+1")]


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(ValueError, match="no family 'nose'; there are noise width"):
        interactive("nose")
    with pytest.raises(ValueError, match="at least one slider"):
        interactive(abs)
    with pytest.raises(ValueError, match="has the sliders width"):
        interactive("noise width", sharpness=(1, 2))
    with pytest.raises(ValueError, match="cannot start at 5"):
        interactive("noise width", width=(1, 2, 5))
    with pytest.raises(ValueError, match="200 are the most"):
        interactive("clip range", lower=Slider(-1, 0, 0, 40))


@pytest.fixture
def opened(page: Any, tmp_path: Path) -> Any:
    """The page of a card with two sliders, in a dark theme."""
    body = '<!doctype html><meta charset="utf-8"><body data-jp-theme-light="false">'
    (tmp_path / "card.html").write_text(body + interactive("clip range").html, encoding="utf-8")
    page.goto((tmp_path / "card.html").as_uri())
    return page


@pytest.mark.browser
def test_moving_a_slider_changes_both_curves(opened: Any) -> None:
    curves = opened.locator(".gp-moving-line")
    before = [curve.get_attribute("d") for curve in curves.all()]
    assert len(before) == 2
    assert all(before)
    opened.get_by_label("upper").fill("10")  # position 10: the value 2
    assert opened.locator("output").all_inner_texts() == ["−1", "2"]
    after = [curve.get_attribute("d") for curve in curves.all()]
    assert all(a != b for a, b in zip(before, after, strict=True))


@pytest.mark.browser
def test_sliders_answer_to_the_keyboard(opened: Any) -> None:
    slider = opened.get_by_label("lower")
    slider.focus()
    opened.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "−0.8"
    opened.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "−2"
    # On the slider itself, or JupyterLab takes the keys for moving between cells.
    assert slider.get_attribute("data-lm-suppress-shortcuts") == "true"


@pytest.mark.browser
def test_the_drawing_replaces_the_still_and_follows_the_theme(opened: Any) -> None:
    assert not opened.locator("img.gp-still").is_visible()
    colour = "node => getComputedStyle(node).backgroundColor"
    assert opened.locator(".gp-picture").evaluate(colour) == "rgb(17, 17, 17)"
    opened.evaluate("document.body.dataset.jpThemeLight = 'true'")
    assert opened.locator(".gp-picture").evaluate(colour) == "rgb(255, 255, 255)"
    label = opened.locator("svg[role=img]").first.get_attribute("aria-label")
    assert "forward" in label


@pytest.mark.browser
def test_without_scripts_the_still_picture_shows(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "card.html").write_text(interactive("noise width").html, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "card.html").as_uri())
    assert page.locator("img.gp-still").is_visible()
    context.close()
