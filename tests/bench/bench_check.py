"""How long `check` takes in a notebook: every part of every exercise, on its solution.

    python tests/bench/bench_check.py [chapter …] [--limit 150]

One process per chapter, as a learner has it. Each part is checked twice: `first` is what a learner
waits for at the first check of that exercise, `again` what every further check takes (the median
of three). Prints the medians, and the parts whose `again` is above the limit in ms.
"""

import argparse
import contextlib
import io
import json
import statistics
import subprocess
import sys
import time


def measure(name: str) -> dict[str, list[float]]:
    """Milliseconds of the first and of later checks of each part of a chapter."""
    from grader import check
    from grader.build.cells import read
    from grader.course import Course
    from grader.lint.space import answer, setup

    chapter = Course.find().chapter(name)
    space = setup(chapter)
    texts = {c.metadata.answer: c.source for c in read(chapter).cells if "answer" in c.metadata}
    found = {}
    for id, exercise in chapter.exercises().items():
        solution = answer(texts[id], "the solution", id, space)
        for part in exercise.parts:
            times = []
            for _ in range(4):
                started = time.perf_counter()
                with contextlib.redirect_stdout(io.StringIO()):
                    check(id, solution, part=part)
                times.append(1000 * (time.perf_counter() - started))
            found[f"{name}: {id}, {part}"] = [times[0], statistics.median(times[1:])]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--limit", type=float, default=150.0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(asked.one)))
        return
    from grader.course import Course

    found: dict[str, list[float]] = {}
    for chapter in Course.find().chapters:
        if not asked.chapters or chapter.name[:2] in asked.chapters:
            command = [sys.executable, __file__, "--one", chapter.name[:2]]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            found |= json.loads(done.stdout.splitlines()[-1])
    for label, which in (("first", 0), ("again", 1)):
        values = [times[which] for times in found.values()]
        print(f"{label}: median {statistics.median(values):.0f} ms, "
              f"{sum(value <= asked.limit for value in values)} of {len(values)} "
              f"within {asked.limit:.0f} ms")  # fmt: skip
    for name, (first, again) in sorted(found.items(), key=lambda pair: -pair[1][1]):
        if again > asked.limit:
            print(f"  {again:7.0f} ms (first {first:5.0f})  {name}")


if __name__ == "__main__":
    main()
