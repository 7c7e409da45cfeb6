"""The engine against stock `nbgrader autograde`, on the same submissions in one run.

    python tests/bench/bench_engine.py [--submissions 40] [--stock 3] [--jobs 0] [--long 0]

A tiny TensorFlow notebook (one answer, one check, one figure), sandbox and judge on. Prints
submissions per minute of both, their ratio in steady state and, from the start of both commands,
with start-up counted; the time from `grader grade` to the first result, the CPU seconds per
submission, of it what the notebook's own cells took, the share of the cores' time that was used, the
memory of the warm process, and with `--long` the memory of a child and how the warm process grows
over so many further submissions. `bound` is the ratio that an engine without any cost of its own
would reach: stock's time over what the cells and the check take when all cores do nothing else.
Stock grades the same notebook with the check as the learner's `check` runs it.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from processes import Clock, Sampler, cpu, pss, reaped

CHAPTER = """---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

```{code-cell} ipython3
from grader import check, ____
import matplotlib.pyplot as plt
import tensorflow as tf
```

```{code-cell} ipython3
:answer: twice

def twice(x):
    ### BEGIN SOLUTION
    return 2.0 * x
    ### STARTER
    # return ____ * x
    ### END SOLUTION
```

```{code-cell} ipython3
:check: twice
```

```{code-cell} ipython3
plt.plot(twice(tf.linspace(-1.0, 1.0, 50)));
```
"""
REFERENCE = """
from grader.contract import Case, Exercise
from grader.draw import like, normal

def cases(rng):
    x = normal(rng, (2, 3), "float32")
    return [Case("a matrix", {"x": x}, like(rng, x))]

EXERCISES = [Exercise(
    id="twice", cases=cases,
    truth=lambda c: {"value": 2 * c.arrays["x"], "gradient:x": 2.0 * c.upstream},
    parts={"value": 1}, hints=("Multiply.", "By two."), reread="twice",
)]
"""
CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "bench"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.ignore = ["*.md", "reference.py", "__pycache__", "*.pyc"]
c.CourseDirectory.db_url = "sqlite:///gradebook.db"
"""


def make_course(root: Path) -> None:
    from grader.build import build
    from grader.course import Course

    folder = root / "solutions" / "01_bench"
    folder.mkdir(parents=True)
    (folder / "01_bench.md").write_text(CHAPTER)
    (folder / "reference.py").write_text(REFERENCE)
    (root / "nbgrader_config.py").write_text(CONFIG)
    course = Course.find(root)
    build(course, course.chapters)
    nbgrader(root, "generate_assignment", "01_bench", "--force")


def nbgrader(root: Path, *args: str) -> None:
    own = str(Path(sys.executable).parent)
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(root / "none"),
                   "PATH": own + os.pathsep + os.environ.get("PATH", "")}  # fmt: skip
    subprocess.run([sys.executable, "-m", "nbgrader", *args], cwd=root, env=environment,
                   check=True, capture_output=True)  # fmt: skip


def submit(root: Path, names: list[str]) -> None:
    """The right answer, with a figure: the instructor's notebook without the hidden tests."""
    import nbformat

    from grader.engine import checks

    solved = nbformat.read(root / "solutions/01_bench/01_bench.ipynb", 4)
    for cell in solved.cells:
        cell.source = checks.visible(cell.source)
    for name in names:
        folder = root / "submitted" / name / "01_bench"
        folder.mkdir(parents=True)
        nbformat.write(solved, folder / "01_bench.ipynb")


def measure_stock(root: Path, names: list[str]) -> dict:
    """Seconds of one command over all, and of the command over none (already graded)."""
    submit(root, names)
    started, used = time.monotonic(), cpu(resource.RUSAGE_CHILDREN)
    nbgrader(root, "autograde", "01_bench")
    seconds, spent = time.monotonic() - started, cpu(resource.RUSAGE_CHILDREN) - used
    started = time.monotonic()
    nbgrader(root, "autograde", "01_bench")
    boot = time.monotonic() - started
    return {"whole": seconds, "boot": boot, "each": (seconds - boot) / len(names),
            "cpu_each": spent / len(names)}  # fmt: skip


def measure_engine(root: Path, names: list[str], jobs: int, work: list[Clock]) -> dict:
    from grader.engine import warm
    from grader.engine.batch import grade

    submit(root, names)
    held = warm._current.get("zygote")
    before = reaped(held[1].process.pid) if held else 0.0
    worked = sum(clock.seconds for clock in work)
    ends: list[float] = []
    children: list[float] = []
    started, used = time.monotonic(), cpu(resource.RUSAGE_SELF)

    def watch(outcome):
        if outcome.state == "graded":
            assert outcome.score == outcome.most, outcome
            ends.append(time.monotonic() - started)
            children.append(outcome.seconds)
        elif outcome.state == "fault":
            raise SystemExit(f"a submission failed: {outcome}")

    run = grade(root, "01_bench", names, jobs=jobs, watch=watch)
    assert not run.unseen, run.unseen
    assert len(run.outcomes) == len(names)
    half = len(ends) // 4
    steady = (ends[-1] - ends[half]) / (len(ends) - 1 - half)
    process = warm._current["zygote"][1].process.pid
    own = (cpu(resource.RUSAGE_SELF) - used) / len(names)
    child = (reaped(process) - before) / len(names)
    cores = jobs or len(os.sched_getaffinity(0))
    cells = (sum(clock.seconds for clock in work) - worked) / len(names)
    return {"whole": ends[-1], "each": steady, "first": ends[0],
            "child": statistics.median(children), "own_cpu_each": own, "child_cpu_each": child,
            "cells_cpu_each": cells, "floor": cells / cores,
            "cores_used": (own + child) / steady / cores, "zygote_pss_mib": pss(process)}  # fmt: skip


def measure_command(root: Path, names: list[str], jobs: int) -> dict:
    """`grader grade` as it is typed: seconds to the first result, to the last, and to the end,
    with the feedback that stock makes by another command."""
    submit(root, names)
    command = [sys.executable, "-m", "grader", "grade", "01_bench", "--json", "--jobs", str(jobs)]
    started, ends = time.monotonic(), []
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            if json.loads(line).get("state") == "graded":
                ends.append(time.monotonic() - started)
    assert run.returncode == 0, run.returncode
    assert len(ends) == len(names)
    return {"first": ends[0], "last": ends[-1], "whole": time.monotonic() - started}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=120)
    parser.add_argument("--stock", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--long", type=int, default=0, help="further submissions, for memory")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as folder:
        first = Path(folder) / "engine"
        make_course(first)
        second = Path(folder) / "stock"
        shutil.copytree(first, second)
        third = Path(folder) / "command"
        shutil.copytree(first, third)
        load = os.getloadavg()[0]
        stock = measure_stock(second, [f"s{i:04}" for i in range(asked.stock)])
        names = [f"s{i:04}" for i in range(asked.submissions)]
        command = measure_command(third, names, asked.jobs)
        work = [Clock("run_cell"), Clock("ask")]
        engine = measure_engine(first, names, asked.jobs, work)
        told = {"load": load, "stock": stock, "command": command, "engine": engine,
                "steady ratio": stock["each"] / engine["each"],
                "bound": stock["each"] / engine["floor"],
                f"ratio for {asked.submissions}": (stock["boot"] + stock["each"] * len(names))
                / command["last"]}  # fmt: skip
        if asked.long:
            with Sampler() as sampler:
                names = [f"t{i:04}" for i in range(asked.long)]
                told["after more"] = measure_engine(first, names, asked.jobs, work)
            told["most MiB of a child"] = sampler.most
        print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
