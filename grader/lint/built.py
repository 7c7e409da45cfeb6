"""Built files are what a fresh build makes, and hold no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator

import nbformat

from .. import build
from ..build.cells import read
from ..build.starter import BEGIN, END, STARTER
from ..course import Chapter
from . import Fault

SHORTEST = 30  # a shorter line ("return x") may occur anywhere


def fresh(chapter: Chapter) -> Iterator[Fault]:
    """No built file is stale."""
    for path, _ in build.stale_of(build.made(chapter)):
        yield Fault(chapter.name, str(path.relative_to(chapter.root)), "is stale: run grader build")


def secret(chapter: Chapter) -> Iterator[Fault]:
    """No line of an answer, of the reference or of a hidden check occurs in what learners get."""
    if not (chapter.notebook.is_file() and chapter.words.is_file()):
        return
    released = nbformat.read(chapter.notebook, as_version=4)
    notebook = "\n".join(cell.source for cell in released.cells)
    words = json.dumps(json.loads(chapter.words.read_text("utf-8")), ensure_ascii=False)
    for place, text in (("notebooks/", notebook), ("data/", words)):
        for line in _answer_lines(chapter):
            if line in text:
                yield Fault(chapter.name, place, f"holds a line of an answer: {line}")
        for mark in (BEGIN, END, STARTER, "BEGIN HIDDEN TESTS", "fresh=True"):
            if mark in text:
                yield Fault(chapter.name, place, f"holds the mark {mark!r}")


def _answer_lines(chapter: Chapter) -> set[str]:
    """The telling lines of the solutions, without those that starters show anyway."""
    from ..build.starter import starter

    lines: set[str] = set()
    shown: set[str] = set()
    for cell in read(chapter).cells:
        if cell.cell_type != "code":
            continue
        if "answer" not in cell.metadata:
            shown |= {line.strip() for line in cell.source.split("\n")}
            continue
        inside = False
        shown |= {line.strip() for line in starter(cell.source).split("\n")}
        for line in map(str.strip, cell.source.split("\n")):
            inside = (inside or line == BEGIN) and line not in (STARTER, END)
            if inside and len(line) >= SHORTEST:
                lines.add(line)
    return lines - shown
