"""The README's table of chapters, and a thumbnail of each chapter's best picture.

The picture is the one shown by the first cell tagged `thumbnail` (else the first picture at all)
of the chapter, run with its solutions.
"""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

from ..course import Chapter, Course, CourseError
from ..lint.curriculum import plan
from ..lint.run import executed

WIDTH = 320
FOLDER = Path("docs", "pictures")
BEGIN, END = "<!-- chapters -->", "<!-- /chapters -->"
HEAD = "| | chapter | the question it answers | exercises | minutes |\n|---|---|---|---|---|"


def thumbnail(chapter: Chapter) -> Path:
    """Runs the chapter, writes docs/pictures/<chapter>.png and returns its path."""
    png = _best(executed(chapter))
    if png is None:
        raise CourseError(f"{chapter.name} shows no picture")
    path = chapter.root / FOLDER / f"{chapter.name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_small(png))
    return path


def _best(book: Any) -> bytes | None:
    tagged = [c for c in book.cells if "thumbnail" in c.metadata.get("tags", ())]
    for cell in (*tagged, *book.cells):
        for output in cell.get("outputs", ()):
            png = output.get("data", {}).get("image/png")
            if png:
                return base64.b64decode(png)
    return None


def _small(png: bytes) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        size = (WIDTH, round(image.height * WIDTH / image.width))
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.quantize(128).save(out, format="PNG", optimize=True)
    return out.getvalue()


def table(course: Course) -> str:
    """The table of chapters in Markdown."""
    return "\n".join([HEAD, *(_row(course, chapter) for chapter in course.chapters)])


def _row(course: Course, chapter: Chapter) -> str:
    said = plan(chapter)
    picture = FOLDER / f"{chapter.name}.png"
    shown = f"![{said['alt']}]({picture.as_posix()})" if (course.root / picture).is_file() else ""
    exercises = len(chapter.exercises())
    link = f"[{chapter.name[:2]} {chapter.title}](notebooks/{chapter.name}/{chapter.name}.ipynb)"
    return f"| {shown} | {link} | {said['question']} | {exercises} | {said['minutes']} |"


def with_table(readme: str, course: Course) -> str:
    """The README with its table of chapters made anew. CourseError where it has no place for it."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise CourseError(f"README.md needs the lines {BEGIN} and {END} around its table")
    return f"{before}{BEGIN}\n{table(course)}\n{END}{after}"
