"""The HTML: escaped, described, themed; the text twin says the same."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
import tensorflow as tf

from grader.xray import explain

X = tf.constant([1.5, -2.25])


def html(f, *inputs) -> str:
    return explain(f, *inputs)._repr_mimebundle_()["text/html"]


def svg(page: str) -> ET.Element:
    return ET.fromstring(re.search(r"<svg role.*?</svg>", page, re.S).group())


def test_the_graph_is_drawn_and_described():
    page = html(lambda x: tf.round(x) * 2.0, X)
    graph = svg(page)
    texts = ["".join(t.itertext()) for t in graph.iter() if t.tag.endswith("text")]
    assert {"x", "round", "*", "result", "None"} <= set(texts)
    alt = graph.attrib["aria-label"]
    assert "x to round: None" in alt
    assert "round to *: alive" in alt


def test_a_way_without_a_gradient_is_no_cut_where_all_inputs_have_one():
    def safe(a, b):
        fine = b != 0
        return tf.where(fine, a / tf.where(fine, b, tf.ones_like(b)), tf.zeros_like(a))

    alt = svg(html(safe, X, tf.constant([0.0, 3.0]))).attrib["aria-label"]
    assert "b to ones_like: no gradient arrives" in alt
    assert "None" not in alt
    alt = svg(html(lambda x: tf.ones_like(x) * 2.0, X)).attrib["aria-label"]
    assert "x to ones_like: None" in alt


def test_names_are_escaped():
    page = html(lambda d: d["<b>&"] * 2.0, {"<b>&": X})
    assert "<b>&'" not in page
    assert "&lt;b&gt;&amp;" in page


def test_follows_the_theme():
    page = html(tf.round, X)
    assert '[data-jp-theme-light="false"]' in page
    assert "var(--jp-ui-font-color1" in page


def test_the_same_function_gives_the_same_page():
    assert html(tf.round, X) == html(tf.round, X)


def test_two_pictures_do_not_share_ids():
    a, b = html(tf.round, X), html(tf.floor, X)
    ids = [set(re.findall(r'<marker id="([^"]+)"', page)) for page in (a, b)]
    assert ids[0].isdisjoint(ids[1])


@pytest.mark.parametrize(
    ("f", "shape"),
    [
        (tf.stop_gradient, "gx-k-stop"),
        (lambda x: tf.constant(x.numpy()), "gx-k-way_out"),
        (tf.grad_pass_through(tf.round), "gx-k-custom"),
    ],
)
def test_kinds_have_shapes(f, shape):
    assert f"gx-shape {shape}" in html(f, X)


def test_state_is_never_colour_alone():
    page = html(lambda x: tf.where(x > 0.0, tf.math.log(x), 0.0), tf.constant([0.0, 1.0]))
    assert "NaN</text>" in page
    dashes = re.findall(r"\.gx-(?:none|zero|nan)\{[^}]*stroke-dasharray:([^;}]+)", page)
    assert len(set(dashes)) == 3


def test_colours_have_contrast():
    """At least 4.5 to 1 on white and on JupyterLab's dark page (WCAG 2)."""
    page = html(tf.round, X)
    light, dark = re.findall(r"((?:--gx-\w+:#[0-9a-f]{6};?)+)", page)[:2]
    for colours, ground in ((light, "#ffffff"), (dark, "#111111")):
        for colour in re.findall(r"#[0-9a-f]{6}", colours):
            assert contrast(colour, ground) >= 4.5, colour


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_text_twin_says_the_same():
    text = str(explain(lambda x: tf.round(x) * 2.0, X))
    assert "x -None-> round ----> * ----> result" in text
    assert "x  None" in text


def test_many_inputs_are_counted():
    shown = explain(lambda *xs: tf.add_n(list(xs)), *[X + float(i) for i in range(30)])
    assert "and 18 more" in str(shown)
    assert "and 18 more" in shown._repr_mimebundle_()["text/html"]
    assert len(shown.status) == 30
