import re
from dataclasses import replace

from grader.display import map
from grader.display.report import Report
from grader.display.show import VERDICT, bundle, text
from grader.record import Map, Mark, Stretch

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
    assert not set("✓✗○↺…") & set(html)  # a font may lack them: then all look the same
    assert 'role="img" aria-label="not right"' in html
    assert html != bundle(replace(FULL, outcome="pass"))["text/html"]
    assert 'role="status"' in html


def test_what_stands_between_backticks_is_code():
    said = replace(FULL, says=("Ask `a < b` first.",), also="With `f(x)`.")
    html = bundle(said)["text/html"]
    assert "<p>Ask <code>a &lt; b</code> first.</p>" in html
    assert "With <code>f(x)</code>." in html
    assert "`" not in html


def test_every_outcome_has_a_drawing_of_its_own():
    outcomes = ("pass", "fail", "error", "unattempted")
    shown = [bundle(Report("t", outcome, "h"))["text/html"] for outcome in outcomes]
    drawn = [re.search(r'<path d="([^"]+)"', html)[1] for html in shown]
    assert len(set(drawn)) == len(outcomes)


def test_the_map_draws_its_signs(monkeypatch):
    sent = []
    monkeypatch.setattr(map, "send", sent.append)
    marks = tuple(Mark(status, status, 0) for status in ("done", "regressed", "attempted", "open"))
    map.show(Map((Stretch("01_a", "A", marks),)))
    html = sent[0]["text/html"]
    assert html.count('class="sign"') == 8  # four exercises and the legend
    assert not set("✓✗○↺…") & set(html)
    assert len(set(re.findall(r'<path d="([^"]+)"', html))) == 4


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
