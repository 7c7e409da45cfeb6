"""What the engine itself costs on the real chapters: everything but the notebooks' own work.

    python tests/bench/bench_chapters.py [chapter …] [--students 4]

Grades the solutions as submissions, one at a time. Per submission, in seconds of CPU: `cells` is
what the cells took, `probes` what the student's code took to answer the judge, and `engine` all else
of all processes: starting the child and its sandbox, messages, nbgrader's stages, verdicts.
"""

import argparse
import resource
import shutil
import tempfile
import time
from pathlib import Path

from processes import Clock, cpu, reaped
from rich.console import Console
from rich.table import Table

REAPED = 2.5  # seconds after which the zygote has looked for children that ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--students", type=int, default=4)
    asked = parser.parse_args()
    from grader.course import Course

    course = Course.find()
    cells, probes = Clock("run_cell"), Clock("ask")
    table = Table("chapter", "cells", "probes", "engine", "of it the writer")
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
    """Means over the submissions of one run; for the writer, which warms up with the first one,
    over the others."""
    from grader.build.release import register
    from grader.course import Course
    from grader.engine.batch import grade, warm_process

    with tempfile.TemporaryDirectory() as release:
        register(Course.find(root), chapter, Path(release))
    names = [f"s{number}" for number in range(students + 1)]
    for name in names:
        folder = root / "submitted" / name / chapter.name
        folder.mkdir(parents=True)
        shutil.copy(chapter.solution, folder)
    zygote = warm_process(root)
    zygote.start()
    before, marks = (cells.seconds, probes.seconds, reaped(zygote.process.pid)), []

    def mark(outcome):
        if outcome.state != "started":
            assert outcome.state == "graded", outcome
            marks.append(cpu(resource.RUSAGE_SELF))

    run = grade(root, chapter.name, names, jobs=1, watch=mark)
    assert len(run.outcomes) == len(names)
    time.sleep(REAPED)
    after = cells.seconds, probes.seconds, reaped(zygote.process.pid)
    ran, asked, child = ((b - a) / len(names) for a, b in zip(before, after, strict=True))
    own = (marks[-1] - marks[0]) / students
    return ran, asked, own + child - ran - asked, own


if __name__ == "__main__":
    main()
