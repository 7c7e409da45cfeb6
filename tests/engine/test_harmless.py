"""What a student's notebook puts on an instructor's page: seen, and unable to act."""

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import Config

from grader.engine import harmless, plug
from grader.engine.harmless import clean, clean_markdown
from grader.words import NOT_SHOWN

ACT = "window.owned=1"
FORMS = Path(handlers.template_path)


class Elements(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def acting(html):
    """What could act: by its element, by a handler of an event, by an address."""
    return [
        (tag, attributes)
        for tag, attributes in Elements(html).found
        if tag in {"script", "iframe", "object", "embed", "form", "input", "base", "link", "meta", "style"}
        or any(name.startswith("on") for name in attributes)
        or any("javascript:" in re.sub(r"\s", "", value or "").lower() for value in attributes.values())
        or (attributes.get("href") or "").endswith(".html")
    ]  # fmt: skip


HOSTILE = [
    f"<script>{ACT}</script>",
    f'<img src=x onerror="{ACT}">',
    f'<svg onload="{ACT}"><script>{ACT}</script></svg>',
    f"<svg><style><img src=x onerror={ACT}></style></svg>",
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={ACT}&gt;">',
    f'<iframe srcdoc="<script>{ACT}</script>"></iframe>',
    f'<a href="javascript:{ACT}">x</a><a href="jav\tascript:{ACT}">x</a>',
    f'<svg><a xlink:href="javascript:{ACT}"><text>x</text></a></svg>',
    '<a href="evil.html">x</a><a href="//evil">x</a><base href="https://evil/">',
    '<form action="/formgrader/api"><input type="submit"></form>',
    '<meta http-equiv="refresh" content="0;url=evil.html"><link rel="stylesheet" href="evil.css">',
    '<object data="evil.html"></object><embed src="evil.html">',
    "<style>.score { display: none }</style>",
    f'<svg><animate onbegin="{ACT}" attributeName="x" dur="1s"/><set attributeName="href" to="x"/></svg>',
]  # fmt: skip

# Python's parser takes these for text; a browser does not.
MISREAD = [
    f'<svg></p><title><a title="</title><img src=x onerror={ACT}>">',
    f"<noscript><p title='</noscript><img src=x onerror={ACT}>'>",
    f"<!--><img src=x onerror={ACT}>-->",
]


@pytest.mark.parametrize("html", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("cleaning", [clean, clean_markdown])
def test_nothing_that_acts_is_left(cleaning, html):
    assert acting(html)
    assert not acting(cleaning(html))
    assert not acting(cleaning(cleaning(html)))


@pytest.mark.browser
@pytest.mark.parametrize("html", MISREAD, ids=range(len(MISREAD)))
def test_what_a_browser_reads_otherwise_does_not_act_in_one(html, browser):
    page = browser.new_page()
    for text, acted in ((clean(html), None), (clean(clean(html)), None), (html, 1)):
        page.set_content(text)
        page.wait_for_timeout(100)
        assert page.evaluate("window.owned") == acted
    page.close()


@given(
    st.lists(
        st.sampled_from([*HOSTILE, *MISREAD, *"<>'\"/= ", "svg", "</title>", "<!--", "p"])
    ).map("".join)
)
def test_no_mixture_of_them_acts_either(html):
    assert not acting(clean(html))


@pytest.mark.parametrize(
    "html",
    [
        "<p>a &lt; b &amp; c</p>",
        '<table class="dataframe"><tbody><tr><td style="text-align:right">1</td></tr></tbody></table>',
        '<h2><a href="https://www.tensorflow.org">TensorFlow</a></h2>',
        '<img src="data:image/png;base64,aGk=" alt="hi"><img src="images/one.png">',
        "<ul><li><code>f</code> <em>x</em></li></ul>",
    ],
)  # fmt: skip
def test_text_tables_links_and_pictures_stay(html):
    rel = ' rel="noopener noreferrer"'
    assert clean(html).replace(rel, "") == html


def test_a_pictures_parts_find_one_another_under_names_of_their_own():
    svg = (
        '<svg viewBox="0 0 1 1"><defs><path id="a" d="M0"></path></defs><clipPath id="c"><rect width="3">'
        '</rect></clipPath><use xlink:href="#a" x="3"></use><g clip-path="url(#c)"></g></svg>'
    )
    assert clean(svg) == (
        svg.replace('id="', 'id="shown-').replace('"#a"', '"#shown-a"').replace("#c", "#shown-c")
    )


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ('<p id="test_add">x</p>', '<p id="shown-test_add">x</p>'),
        ('<p class="modal-backdrop gp-look">x</p>', '<p class="gp-look">x</p>'),
        ('<p style="position:fixed;top:0;color:red">x</p>', '<p style="color:red">x</p>'),
        ('<p style="fill:url(https://evil/x)">x</p>', "<p>x</p>"),
        (
            '<img src="/logout"><img src="a/../../logout"><img src="https://evil/x.png">',
            "<img>" * 3,
        ),
        ('<p data-link="x">x</p>', "<p>x</p>"),
    ],
)
def test_what_meddles_with_the_page_does_not_stay(html, left):
    assert clean(html) == left


def test_more_tags_than_can_be_looked_through_are_not_shown():
    assert clean("<i>" * harmless.MOST_TAGS) != NOT_SHOWN
    assert clean("<i>" * (harmless.MOST_TAGS + 1)) == NOT_SHOWN


@pytest.mark.parametrize("mark", ["grader-report", "grader-map", "grader-xray", "gp-picture"])
def test_the_courses_own_cards_have_their_style_and_nobody_elses(mark):
    html = clean(f'<style>p {{ color: red }}</style><div class="{mark} other">x</div>')
    style, rest = html.split("</style>")
    assert f".{mark}" in style
    assert "color: red" not in html
    assert "{{" not in style
    assert rest == f'<div class="{mark}">x</div>'


def course_config():
    c = Config()
    plug(c)
    return c


def payloads():
    """A notebook with something that acts in every place where a string may stand."""
    odd = f'1 onerror={ACT} x="'
    png = {"image/png": f'"><script>{ACT}</script>'}
    outputs = [
        new_output("display_data", {kind: f"<script>{ACT}</script><img src=x onerror={ACT}>"})
        for kind in ("text/html", "text/markdown", "text/latex", "text/plain", "image/svg+xml",
                     "application/javascript", "application/vnd.jupyter.widget-view+json",
                     "application/x-none")
    ]  # fmt: skip
    for sizes in (
        {"width": odd, "height": odd},
        {"image/png": {"width": odd, "alt": '"><script>'}},
    ):
        outputs.append(new_output("display_data", png, metadata=sizes))
    outputs.append(new_output("stream", name="stdout", text="<script>\x1b[31;1m<script>"))
    outputs.append(new_output("error", ename="<script>", evalue="<script>", traceback=["<script>"]))
    tags = {"tags": ['"><script>', "modal-backdrop x", "fine"], "magics_language": '"><script>'}
    code = new_code_cell("'<script>'", outputs=outputs, metadata=tags)
    attached = {"x": {"image/png": '"><script>'}}
    text = new_markdown_cell(
        "\n\n".join(HOSTILE + MISREAD) + f"\n\n![](attachment:x) [x](javascript:{ACT}) <javascript:{ACT}>",
        attachments=attached, metadata=tags,
    )  # fmt: skip
    language = {"name": '"><script>', "pygments_lexer": '"><script>'}
    return new_notebook(
        cells=[code, text], metadata={"language_info": language, "widgets": {"x": 1}}
    )


@pytest.mark.filterwarnings("ignore:No lexer found", "ignore:Your element with mimetype")
@pytest.mark.parametrize("template", ["formgrade", "feedback"])
def test_no_place_in_a_notebook_puts_something_that_acts_on_a_page(template):
    c = course_config()
    c.HTMLExporter.template_name = template
    c.HTMLExporter.extra_template_basedirs = [str(FORMS)]
    c.HTMLExporter.extra_template_paths = [str(FORMS / "../static/node_modules/bootstrap/dist/css")]
    exporter = HTMLExporter(config=c)
    resources = {"nbgrader": {"score": 0, "max_score": 0, "late_penalty": 0, "notebook": "n"},
                 "index": 0, "total": 1, "student": "<script>", "last_name": None,
                 "notebook_path": '"><script>'}  # fmt: skip
    plain = {name: value for name, value in resources.items() if "<" not in str(value)}
    empty, _ = exporter.from_notebook_node(new_notebook(), plain)
    page, _ = exporter.from_notebook_node(payloads(), dict(resources))
    own = Elements(empty).found
    assert [each for each in acting(page) if each not in own] == []
    assert "fine" in page
    assert "modal-backdrop x" not in page
    assert nbformat.validate(payloads()) is None
