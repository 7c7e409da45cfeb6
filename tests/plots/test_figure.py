from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

from grader.plots.card import Card, card_from_arrays
from grader.plots.drawing import draw_card
from grader.plots.figure import Picture
from grader.plots.theme import ROLES


@pytest.fixture
def card() -> Card:
    x = np.linspace(-2, 2, 201)
    return card_from_arrays(x, np.sign(x), np.abs(x) < 1.5, expected=np.abs(x) <= 1)


@pytest.fixture
def picture(card: Card) -> Picture:
    return draw_card(card, small=True)


def test_the_bundle_has_html_png_and_words(picture: Picture) -> None:
    data, metadata = picture._repr_mimebundle_()
    assert set(data) == {"text/html", "image/png", "text/plain"}
    assert data["text/plain"] == picture.alt == repr(picture)
    assert metadata["image/png"]["width"] == picture.size[0]


def test_the_png_is_a_png_on_solid_white(picture: Picture) -> None:
    assert picture.png.startswith(b"\x89PNG\r\n\x1a\n")
    with Image.open(io.BytesIO(picture.png)) as image:
        assert image.convert("RGBA").getpixel((2, 2)) == (255, 255, 255, 255)
        assert image.size == tuple(pytest.approx(1.5 * n, abs=2) for n in picture.size)


def test_every_ink_of_the_svg_follows_the_theme(picture: Picture) -> None:
    assert not re.findall(
        r"(?<!&)#[0-9a-fA-F]{6}\b(?!-)", re.sub(r'href="#[^"]*"', "", picture.svg)
    )
    assert {f"--gp-{name}" for name in ("paper", "ink", "learner", "true")} <= set(
        re.findall(r"--gp-\w+", picture.svg)
    )


def test_the_style_gives_each_role_both_colours(picture: Picture) -> None:
    for name, colour in ROLES.items():
        assert f"--gp-{name}:{colour.light}" in picture.html
        assert f"--gp-{name}:{colour.dark}" in picture.html


def test_the_same_card_gives_the_same_bytes(card: Card) -> None:
    one, other = draw_card(card), draw_card(card)
    assert one.svg == other.svg
    assert one.png == other.png


def test_ids_of_two_pictures_never_meet(card: Card, picture: Picture) -> None:
    ids = [set(re.findall(r'\bid="([^"]+)"', p.svg)) for p in (picture, draw_card(card))]
    assert all(ids)
    assert not ids[0] & ids[1]
    used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', picture.svg))
    assert {a or b for a, b in used} <= ids[0]


def test_the_alt_text_is_in_the_page_and_escaped() -> None:
    x = np.linspace(0, 1, 20)
    picture = draw_card(card_from_arrays(x, x, x, title='<b> & "quotes"'))
    assert '<b> & "quotes"' in picture.alt
    page = picture._repr_mimebundle_()[0]["text/html"]
    assert "<b>" not in page
    assert "&lt;b&gt; &amp; &quot;quotes&quot;" in page


def test_saving(tmp_path: Path, picture: Picture) -> None:
    picture.save(tmp_path / "card.png")
    picture.save(str(tmp_path / "card.html"))
    assert (tmp_path / "card.png").read_bytes() == picture.png
    assert "<svg" in (tmp_path / "card.html").read_text(encoding="utf-8")


def test_no_figure_stays_open_and_nothing_is_left_behind(card: Card) -> None:
    before = dict(mpl.rcParams)
    draw_card(card)._repr_mimebundle_()
    assert dict(mpl.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []
