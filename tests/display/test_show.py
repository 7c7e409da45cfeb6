import re

from grader.display.report import Report
from grader.display.show import VERDICT, bundle, text

FULL = Report(
    "f · value",
    "fail",
    "The value is not right.",
    ("Because <b>.",),
    (("yours", "1"), ("worst element", "2")),
    verdict={"exercise": "f"},
    picture="<svg></svg>",
    picture_says="a curve",
)


def test_html_is_escaped_follows_the_theme_and_marks_by_more_than_colour():
    html = bundle(FULL)["text/html"]
    assert "Because &lt;b&gt;." in html
    assert "<svg></svg>" in html
    assert "var(--jp-ui-font-color1" in html
    assert 'data-jp-theme-light="false"' in html
    assert "✗" in html
    assert 'role="status"' in html


def test_the_text_twin_says_the_same():
    said = text(FULL)
    for piece in (FULL.title, FULL.headline, "Because <b>.", "worst element  2", "[a curve]"):
        assert piece in said


def test_programs_get_the_verdict():
    assert bundle(FULL)[VERDICT] == {"exercise": "f"}
    assert VERDICT not in bundle(Report("t", "pass", "Right."))


def luminance(colour):
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(2 * d for d in digits)
    linear = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in linear]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_colours_have_contrast_on_both_themes():
    html = bundle(FULL)["text/html"]
    light, dark = (
        re.findall(r"--(ok|no|dim): (#\w+)", part) for part in html.split("[data-jp-theme-light", 1)
    )
    for colours, back in ((light, "#ffffff"), (dark, "#111111")):
        assert len(colours) == 3
        for name, colour in colours:
            pair = sorted((luminance(colour), luminance(back)))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (name, colour, back)
