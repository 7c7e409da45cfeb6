"""Compares the outputs of the course's chapters: a real kernel's and the engine's.

    python tests/fidelity/run.py [chapter ...]

Runs the solutions of each chapter, without their hidden tests, twice by nbclient and ipykernel and
once by the engine in its sandbox. Cells about which the two stock runs disagree (measured times)
are counted and left out; in all others every output must be the same, but for what `allowed.py`
allows everywhere. Takes about a minute a chapter. Exit code 1 where something differs.
"""

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import nbformat  # noqa: E402
from nbformat import NotebookNode  # noqa: E402

from grader.course import MARK, Chapter, Course  # noqa: E402
from grader.engine import warm  # noqa: E402
from grader.engine.host import FIXED, Zygote  # noqa: E402
from tests.fidelity import compare, runs  # noqa: E402
from tests.fidelity.allowed import EVERYWHERE  # noqa: E402

HIDDEN = re.compile(r"\n?### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", re.DOTALL)

# As the engine sets it, whose children share the cores: with two threads sums are added up in
# another order, and the last bits of a long training move its picture.
ONE_THREAD = {"TF_NUM_INTRAOP_THREADS": FIXED["TF_NUM_INTRAOP_THREADS"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", help="numbers or names; all of them by default")
    asked = parser.parse_args().chapters
    course = Course.find(ROOT)
    chapters = [course.chapter(name) for name in asked] or course.chapters
    zygote = Zygote(warm.public_folders(ROOT))
    zygote.start()
    try:
        found = [compared(chapter, zygote) for chapter in chapters]
    finally:
        zygote.close()
    total, unsettled, allowed, differ = (sum(counts) for counts in zip(*found, strict=True))
    print(f"all: {total} code cells, {total - unsettled - allowed - differ} equal, {allowed} "
          f"allowed, {unsettled} left out since two stock runs differ, {differ} differ")  # fmt: skip
    return 1 if differ else 0


def compared(chapter: Chapter, zygote: Zygote) -> tuple[int, int, int, int]:
    """Numbers of a chapter's code cells: all, those left out, those allowed, those that differ."""
    started = time.monotonic()
    notebook = solution(chapter)
    engine = compare.plain(runs.engine(notebook, zygote, warm.public_folders(ROOT)), runs.HOME)
    first, second = (stock(notebook) for _ in range(2))
    unsettled = {difference.cell for difference in compare.differences(first, second)}
    allowed, differ = [], []
    for difference in compare.differences(first, engine):
        if difference.cell not in unsettled:
            (allowed if may(difference) else differ).append(difference)
    for difference in differ:
        print(difference, end="\n\n")
    counts = sum(cell.cell_type == "code" for cell in notebook.cells), len(unsettled), len(allowed)
    print(f"{chapter.name}: {counts[0]} code cells, left out {sorted(unsettled)}, allowed "
          f"{[found.cell for found in allowed]}, differ {[found.cell for found in differ]}, "
          f"{time.monotonic() - started:.0f} s", flush=True)  # fmt: skip
    return *counts, len(differ)


def may(difference: compare.Difference) -> bool:
    """Whether the difference is of a kind that is allowed in every chapter."""
    metadata = difference.cell == compare.METADATA
    return not metadata and any(
        entry.kind(difference.stock, difference.engine) for entry in EVERYWHERE
    )


def solution(chapter: Chapter) -> NotebookNode:
    """The chapter with its answers in, as a learner has it who found them all."""
    notebook = nbformat.read(chapter.solution, as_version=4)
    for cell in notebook.cells:
        cell.source = HIDDEN.sub("", cell.source)
    return notebook


def stock(notebook: NotebookNode) -> dict[str, object]:
    """A stock run in a fresh home that is a course of the learner's files, as in the engine."""
    with tempfile.TemporaryDirectory(prefix="fidelity-") as folder:
        home = runs.fresh(Path(folder) / "learner")
        (home / MARK).write_text("")
        for name, path in warm.public_folders(ROOT).items():
            (home / name).symlink_to(path)
        return compare.plain(runs.stock(notebook, home, **ONE_THREAD), str(home))


if __name__ == "__main__":
    sys.exit(main())
