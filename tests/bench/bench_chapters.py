"""What the engine itself costs on the real chapters: everything but the notebooks' own work.

    python tests/bench/bench_chapters.py [chapter …] [--students 3]

Grades the solutions as submissions, one at a time. Per submission: `cells` is the time the cells
ran, `probes` the time the student's code took to answer the judge, and `engine` is the CPU of all
processes less these two: starting the child and its sandbox, messages, nbgrader's stages, verdicts.
Needs a quiet machine, where a cell's wall time is its CPU time.
"""

import argparse
import resource
import shutil
import statistics
import tempfile
from pathlib import Path

from processes import cpu, reaped
from rich.console import Console
from rich.table import Table


class Clock:
    """Adds up the seconds that a method of ForkClient takes."""

    def __init__(self, name: str) -> None:
        import time

        from grader.engine.client import ForkClient

        self.seconds = 0.0
        original = getattr(ForkClient, name)

        def timed(client, *given):
            started = time.monotonic()
            try:
                return original(client, *given)
            finally:
                self.seconds += time.monotonic() - started

        setattr(ForkClient, name, timed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--students", type=int, default=3)
    asked = parser.parse_args()
    from grader.course import Course

    course = Course.find()
    cells, probes = Clock("run_cell"), Clock("ask")
    table = Table("chapter", "cells s", "probes s", "engine s of CPU", "of it the writer")
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as folder:
        root = Path(folder) / "course"
        for name in ("solutions", "notebooks", "data"):
            shutil.copytree(course.root / name, root / name)
        shutil.copy(course.root / "nbgrader_config.py", root)
        for chapter in Course.find(root).chapters:
            if not asked.chapters or chapter.name[:2] in asked.chapters:
                row = measure(root, chapter, asked.students, cells, probes)
                table.add_row(chapter.name, *(f"{value:.2f}" for value in row))
    Console().print(table)


def measure(root, chapter, students, cells, probes):
    """Medians over the submissions of one chapter; the first one, which warms up, left out."""
    from grader.build.release import register
    from grader.course import Course
    from grader.engine import warm
    from grader.engine.batch import grade

    with tempfile.TemporaryDirectory() as release:
        register(Course.find(root), chapter, Path(release))
    rows = []
    for number in range(students + 1):
        name = f"s{number}"
        folder = root / "submitted" / name / chapter.name
        folder.mkdir(parents=True)
        shutil.copy(chapter.solution, folder)
        zygote = warm.zygote(root)
        zygote.start()
        before = (cpu(resource.RUSAGE_SELF), reaped(zygote.process.pid))
        cells.seconds = probes.seconds = 0.0
        run = grade(root, chapter.name, [name], jobs=1)
        assert [outcome.state for outcome in run.outcomes] == ["graded"], run.outcomes
        own = cpu(resource.RUSAGE_SELF) - before[0]
        child = reaped(warm.zygote(root).process.pid) - before[1]
        rows.append((cells.seconds, probes.seconds,
                     own + child - cells.seconds - probes.seconds, own))  # fmt: skip
    return [statistics.median(column) for column in zip(*rows[1:], strict=True)]


if __name__ == "__main__":
    main()
