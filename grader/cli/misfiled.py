"""What lies in submitted/ where no chapter finds it: nobody is to be left out in silence."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ..course import Chapter, Course
from ..engine.printable import printable

ALIKE = 0.8  # of a name and the name that is meant; 1 is the same
MOST = 20  # of which each is named


def misfiled(
    course: Course, chapters: Collection[Chapter], students: Collection[str] | None = None
) -> list[str]:
    """A sentence per folder, or notebook outside one, that seems to be meant for one of `chapters`
    and is none of the course's; of all students or of these. Other assignments are no slip."""
    known = {chapter.name for chapter in course.chapters}
    asked = {chapter.name for chapter in chapters}
    found = []
    for path in _strays(course.root / "submitted", known):
        near = _near(path, known)
        if near in asked and (students is None or path.parent.name in students):
            where = printable(path.relative_to(course.root))
            found.append(f"not graded: {where} belongs in submitted/<student>/{near}/, it seems")
    more = [f"not graded: and {len(found) - MOST} more"] if len(found) > MOST else []
    return found[:MOST] + more


def _strays(submitted: Path, known: Collection[str]) -> Iterator[Path]:
    yield from sorted(submitted.glob("[!.]*.ipynb"))
    for student in sorted(submitted.glob("[!.]*/")):
        held = list[Path]()
        with suppress(OSError):  # a folder that cannot be read is for the run to tell
            held = sorted(student.iterdir())
        for path in held:
            plain = path.is_dir() or path.suffix == ".ipynb"
            if plain and path.name not in known and not path.name.startswith("."):
                yield path


def _near(path: Path, known: Collection[str]) -> str | None:
    """The chapter that is meant, by the notebook in the folder or by the folder's own name."""
    held = {notebook.stem for notebook in path.glob("*.ipynb")} & set(known)
    close = difflib.get_close_matches(path.stem.lower(), sorted(known), n=1, cutoff=ALIKE)
    return next(iter(sorted(held) + close), None)
