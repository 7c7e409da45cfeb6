"""Makes everything that is built: both notebooks and the data of each chapter."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import nbformat

from ..course import Chapter, Course, CourseError
from .apart import refuse_doubles
from .cells import notebook
from .data import data, same_arrays
from .release import release

__all__ = ["CourseError", "build", "made", "stale"]


def made(chapter: Chapter) -> dict[Path, bytes]:
    """Every built file of a chapter, freshly made, by its path; nothing is written."""
    book = nbformat.writes(notebook(chapter, chapter.exercises())) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "solutions", chapter.name)
        source.mkdir(parents=True)
        (source / f"{chapter.name}.ipynb").write_text(book, encoding="utf-8")
        learners = release(chapter, source.parent, Path(folder, "notebooks"))
    arrays, words = data(chapter)
    return {
        chapter.solution: book.encode(),
        chapter.notebook: learners,
        chapter.arrays: arrays,
        chapter.words: words,
    }


def build(course: Course, chapters: list[Chapter]) -> list[Path]:
    """Writes what is stale; returns the paths written. CourseError where sources are not sound."""
    refuse_doubles(course, chapters)
    written = []
    for chapter in chapters:
        for path in stale_of(made(chapter)):
            path[0].parent.mkdir(parents=True, exist_ok=True)
            path[0].write_bytes(path[1])
            written.append(path[0])
    return written


def stale(course: Course, chapters: list[Chapter]) -> list[Path]:
    """The built files that are missing or not what a fresh build makes."""
    refuse_doubles(course, chapters)
    return [path for chapter in chapters for path, _ in stale_of(made(chapter))]


def stale_of(files: Mapping[Path, bytes]) -> list[tuple[Path, bytes]]:
    """The files among these that differ from what lies on disk."""
    return [(path, fresh) for path, fresh in files.items() if not _is(path, fresh)]


def _is(path: Path, fresh: bytes) -> bool:
    if not path.is_file():
        return False
    old = path.read_bytes()
    return old == fresh or (path.suffix == ".npz" and same_arrays(old, fresh))
