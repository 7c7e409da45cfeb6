"""A chapter can be read: length, parts, tone; so can what its exercises say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..build.cells import notebook
from ..contract import Exercise
from ..course import Chapter
from . import Fault

MOST_CELLS = 70
SECTIONS = ("Recap", "Reach for", "References")
_CODE = re.compile(r"```.*?```|`[^`\n]*`|\$[^$]*\$|\]\([^)]*\)", re.DOTALL)
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2700-\u2712\u2728-\u27bf]")


def readable(chapter: Chapter) -> Iterator[Fault]:
    """Not too long, with its closing sections, without shouting."""
    cells = notebook(chapter, chapter.exercises()).cells
    if len(cells) > MOST_CELLS:
        yield Fault(chapter.name, "length", f"{len(cells)} cells, at most {MOST_CELLS}")
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    headings = "\n".join(prose)
    for section in SECTIONS:
        if not re.search(rf"^#+ {section}", headings, re.MULTILINE):
            yield Fault(chapter.name, "sections", f"there is no section {section!r}")
    if not any("predict(" in cell.source for cell in cells if cell.cell_type == "code"):
        yield Fault(chapter.name, "predictions", "nothing is predicted before it runs")
    for text in prose:
        bare = _CODE.sub("", text)
        if "!" in bare or _EMOJI.search(bare):
            at = next(line for line in bare.split("\n") if "!" in line or _EMOJI.search(line))
            yield Fault(chapter.name, "tone", f"an exclamation mark or emoji: {at.strip()[:80]}")


def worded(chapter: Chapter) -> Iterator[Fault]:
    """What an exercise says: no sentence twice, no mark of code left open, no shouting."""
    for name, exercise in chapter.exercises().items():
        for text in _said(exercise):
            bare = _CODE.sub("", text)
            if "`" in bare:
                yield Fault(chapter.name, name, f"a mark of code is left open: {text[:80]}")
            if "!" in bare or _EMOJI.search(bare):
                yield Fault(chapter.name, name, f"an exclamation mark or emoji: {text[:80]}")
            sentences = re.split(r"(?<=[.?]) ", text)
            for twice in sorted({each for each in sentences if sentences.count(each) > 1}):
                yield Fault(chapter.name, name, f"says twice: {twice[:80]}")


def _said(exercise: Exercise) -> list[str]:
    reasons = exercise.options.get("because", {}).values()
    mistakes = (mistake.says for mistake in exercise.mistakes)
    return [*exercise.hints, *mistakes, *reasons, exercise.also]
