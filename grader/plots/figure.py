"""A finished picture: inline SVG that follows the theme, a PNG that needs nothing, words."""

from __future__ import annotations

import hashlib
import io
import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.plots.theme import ROLES, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PNG_DPI = 144
_PIXELS_PER_INCH = 96  # what CSS calls an inch


class Picture:
    """What a plot returns; Jupyter shows it as the last value of a cell.

    The bundle holds ``text/html`` (inline SVG in CSS variables; beside it the PNG, which shows
    only where a page strips SVG and style, as an untrusted notebook does), ``image/png`` (solid
    background) and ``text/plain`` (the alt text). Nothing is rendered before it is asked for.
    """

    def __init__(self, figure: Figure, title: str, alt: str) -> None:
        self.title = title
        self.alt = alt
        self._figure = figure

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in CSS pixels."""
        width, height = self._figure.get_size_inches()
        return round(width * _PIXELS_PER_INCH), round(height * _PIXELS_PER_INCH)

    @cached_property
    def svg(self) -> str:
        """The picture as an ``<svg>`` element whose colours are CSS variables."""
        out = io.StringIO()
        with house_style():
            self._figure.savefig(out, format="svg", dpi=PNG_DPI, metadata=_NO_METADATA)
        return _themed(out.getvalue(), self.alt, self.size)

    @cached_property
    def png(self) -> bytes:
        """The picture in its light colours on a solid background."""
        out = io.BytesIO()
        with house_style():
            self._figure.savefig(out, format="png", dpi=PNG_DPI, metadata={"Software": None})
        return _fewer_colours(out)

    @property
    def html(self) -> str:
        """The themed SVG with its style: what to embed in a larger display."""
        return f'<div class="gp-picture">{style_tag()}{self.svg}</div>'

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        width, height = self.size
        png = b64encode(self.png).decode("ascii")
        data = {"text/html": self._page(), "image/png": png, "text/plain": self.alt}
        return data, {"image/png": {"width": width, "height": height}}

    def _page(self) -> str:
        return self.html.removesuffix("</div>") + self._still() + "</div>"

    def _still(self) -> str:
        png = b64encode(self.png).decode("ascii")
        return (
            f'<img class="gp-still" alt="{escape(self.alt)}" width="{self.size[0]}" '
            f'src="data:image/png;base64,{png}">'
        )

    def save(self, path: str | Path) -> None:
        """Write the PNG to ``path``, or the themed HTML when the name ends in ``.html``."""
        path = Path(path)
        if path.suffix == ".html":
            path.write_text(self._page(), encoding="utf-8")
        else:
            path.write_bytes(self.png)

    def __repr__(self) -> str:
        return self.alt


@dataclass(frozen=True)
class Margins:
    """Room around and between the axes, in inches."""

    left: float = 0.65
    right: float = 0.15
    top: float = 0.65
    bottom: float = 0.5
    between: float = 0.7


def panels(
    width: float, height: float, rows: int = 1, columns: int = 1, margins: Margins | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure outside pyplot, sizes in inches, and its axes in reading order.

    Call it inside :func:`~grader.plots.theme.house_style`. The layout is fixed by the margins:
    matplotlib's own layout engines draw everything twice.
    """
    from matplotlib.figure import Figure

    m = margins or Margins()
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(rows, columns, squeeze=False)
    wide = (width - m.left - m.right - (columns - 1) * m.between) / columns
    tall = (height - m.top - m.bottom - (rows - 1) * m.between) / rows
    figure.subplots_adjust(
        left=m.left / width,
        right=1 - m.right / width,
        top=1 - m.top / height,
        bottom=m.bottom / height,
        wspace=m.between / wide,
        hspace=m.between / tall,
    )
    return figure, list(axes.flat)


def head(figure: Figure, title: str, note: str = "", left: float = 0.15) -> None:
    """The title above a figure, and a note below it; ``left`` in inches."""
    width, height = figure.get_size_inches()
    figure.text(left / width, 1 - 0.1 / height, title, va="top", fontsize=11)
    figure.text(left / width, 0.07 / height, note, va="bottom", fontsize=8.5)


def browser_file(name: str) -> str:
    """The text of a file that is sent to the browser."""
    return files("grader.plots").joinpath("browser", name).read_text(encoding="utf-8")


def style_tag() -> str:
    """The ``<style>`` that gives the roles their colours in both themes."""
    light = "".join(f"--gp-{name}:{colour.light};" for name, colour in ROLES.items())
    dark = "".join(f"--gp-{name}:{colour.dark};" for name, colour in ROLES.items())
    themes = f".gp-picture{{{light}}}{_DARK_PAGES}{{{dark}}}"
    return f"<style>{themes}{browser_file('plots.css')}</style>"


_DARK_PAGES = '[data-jp-theme-light="false"] .gp-picture,.vscode-dark .gp-picture'
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def _themed(svg: str, alt: str, size: tuple[int, int]) -> str:
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.S)
    body = re.sub(r"\s*\n\s*", " ", body).strip()
    # Six decimals of a point would be half the size of the file.
    body = re.sub(r' (?:d|x|y)="[^"]*"', _shorter, body)
    body = re.sub(r'<g id="[^"]*"', "<g", body).replace("DejaVuSans-", "")
    for name, colour in ROLES.items():
        body = body.replace(colour.light, f"var(--gp-{name})")
    # Two pictures on one page must not share ids: the first one's clip paths would cut both.
    mark = hashlib.sha256(body.encode()).hexdigest()[:6]
    body = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>gp{mark}-", body)
    box = re.search(r'viewBox="([^"]*)"', body)
    head = (
        f'<svg role="img" aria-label="{escape(alt)}" viewBox="{box[1] if box else ""}" '
        f'width="{size[0]}" height="{size[1]}" xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    return head + body[body.index(">") + 1 :]


def _shorter(attribute: re.Match[str]) -> str:
    return re.sub(r"(\.\d\d)\d+", r"\1", attribute[0])


def _fewer_colours(png: io.BytesIO) -> bytes:
    from PIL import Image

    # A palette makes the file a third as large: every notebook that keeps outputs carries it.
    with Image.open(png) as image:
        small = image.convert("RGB").quantize(
            128, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
        )
        # The palette holds averages: the paper came out as 254.
        shades = small.getpalette() or []
        triples = [shades[i : i + 3] for i in range(0, len(shades), 3)]
        white = [[255] * 3 if min(triple) > 250 else triple for triple in triples]
        small.putpalette([share for triple in white for share in triple])
        out = io.BytesIO()
        small.save(out, "png")
    return out.getvalue()
