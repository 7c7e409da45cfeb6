"""What a student's notebook shows on an instructor's page, without what could act there.

formgrader and nbgrader's feedback show a student's HTML as it is, and formgrader's pages may set
scores and start programs: a script in an output could do both for its author. With nbconvert's
`sanitize_html` and the filters here all HTML that comes from a notebook goes through nh3 (Ammonia).
Text, tables and pictures stay; scripts, forms, frames, foreign styles and what covers other parts
of the page do not. The course's own cards get their style from here, not from the notebook.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import nh3
from nbconvert.filters import strip_files_prefix
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from pygments.token import STANDARD_TYPES
from traitlets import Bool

from grader.words import NOT_SHOWN

WIDGET = "application/vnd.jupyter.widget-view+json"
NAMES = {"student", "first_name", "last_name", "notebook_path"}

# One within the other, these take a second, and twice as many take four.
MOST_TAGS = 20_000
# The page's own scripts find its fields by id.
PREFIX = "shown-"
DRAWN = """
svg g defs path use rect circle ellipse line polyline polygon text tspan image clipPath marker
pattern
""".split()
GEOMETRY = """
class id style title role href d x y x1 x2 y1 y2 cx cy r rx ry dx dy width height points viewBox
transform preserveAspectRatio fill fill-opacity fill-rule stroke stroke-width stroke-opacity
stroke-dasharray stroke-linecap stroke-linejoin opacity text-anchor clip-path clip-rule marker-end
marker-start markerWidth markerHeight markerUnits orient refX refY patternUnits patternTransform
""".split()
PROPERTIES = """
color background-color font-family font-size font-style font-weight text-align text-decoration
vertical-align white-space line-height padding padding-left border border-collapse border-left
border-bottom width height max-width fill fill-opacity stroke stroke-width stroke-opacity
stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin opacity overflow-x --gx-tone
""".split()
# Of the page's own classes some cover it.
CLASSES = re.compile(r"(gp|gx|grader)-[\w-]+")
WORDS = {
    *"anchor-link attempted chapter dataframe dim done head highlight mark marks name".split(),
    *"next open picture regressed title".split(),
    *filter(None, STANDARD_TYPES.values()),
}
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[\w+/=\s]*")
FILE = re.compile(r"(?!.*\.\./)[\w][\w ./-]*")  # of the submission
LINK = re.compile(r"https?://|mailto:|#")


def clean(html: str | bytes) -> str:
    """HTML of a notebook, of which nothing acts; the filter in place of nbconvert's."""
    text = html.decode(errors="replace") if isinstance(html, bytes) else str(html)
    if text.count("<") > MOST_TAGS:
        return NOT_SHOWN
    cleaned = _cleaner().clean(text)
    return _own_styles(cleaned) + cleaned


def clean_markdown(html: str) -> str:
    """The same for what nbconvert made of Markdown."""
    return clean(strip_files_prefix(html))


@cache
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=nh3.ALLOWED_TAGS | set(DRAWN),
        attributes={**nh3.ALLOWED_ATTRIBUTES, "*": set(GEOMETRY), "img": {"src", "alt"}},
        generic_attribute_prefixes={"aria-"},
        attribute_filter=_attribute,
        filter_style_properties=set(PROPERTIES),
        url_schemes={"http", "https", "mailto", "data"},
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    """What stays of an attribute; None for nothing."""
    if name == "id":
        return PREFIX + value
    if name == "class":
        return " ".join(filter(_allowed, value.split())) or None
    if name in ("href", "src"):
        return _address(tag, value.strip())
    if re.search(r"url\(\s*[^#\s]", value, re.IGNORECASE):
        return None
    return value.replace("url(#", f"url(#{PREFIX}")


def _allowed(word: str) -> bool:
    return word in WORDS or bool(CLASSES.fullmatch(word))


def _address(tag: str, value: str) -> str | None:
    """Links lead out of the page or within it, not to files that a student handed in: those would
    open as pages of the server. Pictures come with the notebook, and are not asked of others."""
    if value.startswith("#") and tag in ("a", "use"):
        return f"#{PREFIX}{value[1:]}"
    if tag == "a":
        return value if LINK.match(value) else None
    if tag in ("img", "image"):
        return value if PICTURE.fullmatch(value) or FILE.fullmatch(value) else None
    return None


def _own_styles(html: str) -> str:
    return "".join(style for mark, style in _styles().items() if f'class="{mark}' in html)


@cache
def _styles() -> dict[str, str]:
    """By the class that needs it: the `<style>` of each kind of card."""
    from grader.plots.figure import style_tag

    cards = {"grader-report": "display/report.html", "grader-map": "display/map.html",
             "grader-xray": "xray/page.jinja"}  # fmt: skip
    found = {"gp-picture": style_tag()}
    for mark, name in cards.items():
        text = files("grader").joinpath(name).read_text(encoding="utf-8")
        found[mark] = text[text.index("<style>") : text.index("</style>") + len("</style>")]
    return found


class PlainMetadata(Preprocessor):
    """Keeps what a page puts into its tags unquoted, or among its classes, to numbers and words;
    takes out widgets, of which a page without scripts shows nothing."""

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """One notebook, and the names that formgrader writes above it."""
        nb.metadata.pop("widgets", None)
        for name in NAMES & resources.keys():
            resources[name] = escape(resources[name] or "")
        return super().preprocess(nb, resources)

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, index: int
    ) -> tuple[NotebookNode, Any]:
        """One cell: its tags, and the sizes of its pictures."""
        if "tags" in cell.metadata:
            words = cell.metadata.tags if isinstance(cell.metadata.tags, list) else []
            cell.metadata.tags = [word for word in words if re.fullmatch(r"[\w-]+", str(word))]
        if "outputs" in cell:
            cell.outputs = [each for each in cell.outputs if WIDGET not in each.get("data", {})]
            for output in cell.outputs:
                _plain_sizes(output.get("metadata", {}))
        return cell, resources


def _plain_sizes(given: Any) -> None:
    """Takes sizes that are none out of an output's metadata: its own, and those by kind."""
    for sizes in (given, *(one for one in given.values() if isinstance(one, dict))):
        for name in {"width", "height"} & sizes.keys():
            if not re.fullmatch(r"[\d.]+(px|%)?", str(sizes[name])):
                del sizes[name]
