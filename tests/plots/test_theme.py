from __future__ import annotations

import itertools

import matplotlib as mpl
import pytest

from grader.plots import theme

TEXT_ROLES = ("ink", "soft", "true", "learner", "wrong")  # in which words are written
PAIRS = list(itertools.product(TEXT_ROLES, ("light", "dark")))


@pytest.mark.parametrize(("role", "side"), PAIRS)
def test_words_are_readable_in_both_themes(role: str, side: str) -> None:
    # WCAG 2.2, 1.4.3.
    ink = getattr(theme.ROLES[role], side)
    assert theme.contrast(ink, getattr(theme.PAPER, side)) >= 4.5


@pytest.mark.parametrize("side", ["light", "dark"])
def test_every_line_stands_out_from_the_paper(side: str) -> None:
    # WCAG 2.2, 1.4.11: 3:1 for what has to be seen but not read.
    paper = getattr(theme.PAPER, side)
    for role in ("true", "learner", "expected", "wrong", "soft"):
        assert theme.contrast(getattr(theme.ROLES[role], side), paper) >= 3.0, role


def test_contrast_is_the_one_of_wcag() -> None:
    assert theme.contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert theme.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert theme.contrast("#123456", "#123456") == 1.0


def test_no_two_roles_share_a_light_colour() -> None:
    # Each is replaced by its own variable, so each must be told apart.
    lights = [colour.light for colour in theme.ROLES.values()]
    assert len(set(lights)) == len(lights)
    assert not {theme.readable_on(c) for c in ("#000000", "#ffffff")} & set(lights)


@pytest.mark.parametrize("background", ["#000000", "#777777", "#e8a15c", "#0a4a8c", "#ffffff"])
def test_numbers_in_cells_are_readable(background: str) -> None:
    assert theme.contrast(theme.readable_on(background), background) >= 4.5


def test_blue_and_orange_differ_for_the_colour_blind() -> None:
    # Protanopes and deuteranopes keep the blue channel: there the two lie far apart.
    for side in ("light", "dark"):
        blue, orange = (getattr(c, side) for c in (theme.TRUE, theme.LEARNER))
        assert int(blue[5:], 16) - int(orange[5:], 16) > 100


def test_house_style_leaves_no_trace() -> None:
    with mpl.rc_context({"text.color": "red", "font.size": 30}):
        before = dict(mpl.rcParams)
        with theme.house_style():
            assert mpl.rcParams["text.color"] == theme.INK.light
            assert mpl.rcParams["font.size"] == 9
        assert dict(mpl.rcParams) == before
