"""`grader grade` as a program: exit codes, Ctrl-C, two at once, a gradebook out of reach.

The course has no TensorFlow in it, so that a run starts at once.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

CONFIG = """
import grader.engine
c = get_config()
c.CourseDirectory.course_id = "gradients"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.EngineExecute.tensorflow = False
c.Execute.timeout = 3000
grader.engine.plug(c)
"""
ANSWER = "def add(a, b):\n    ### BEGIN SOLUTION\n    return a + b\n    ### END SOLUTION"
SLEEPS = "import time; time.sleep(3000)\ndef add(a, b): return a + b"
GRADER = [sys.executable, "-c", "from grader.cli import app; app()"]


def _cell(name, source, **more):
    meta = {"grade": False, "locked": False, "solution": False, "task": False, "grade_id": name,
            "schema_version": 3, "cell_type": "code", **more}  # fmt: skip
    return new_code_cell(source, metadata={"nbgrader": meta})


class Class:
    """A course of one chapter, one exercise worth 3 points, and whoever submits it."""

    def __init__(self, root):
        self.root = root
        folder = root / "solutions/01_sum"
        folder.mkdir(parents=True)
        (root / "nbgrader_config.py").write_text(CONFIG)
        (folder / "01_sum.md").write_text("# Sum\n")
        (folder / "reference.py").write_text("EXERCISES = []\n")
        test = _cell("test", "assert add(1, 2) == 3", grade=True, locked=True, points=3)
        nb = new_notebook(cells=[_cell("add", ANSWER, solution=True), test])
        nb.metadata["kernelspec"] = {"name": "python3", "display_name": "", "language": "python"}
        nbformat.write(nb, folder / "01_sum.ipynb")

    def submit(self, **answers):
        for student, answer in answers.items():
            nb = nbformat.read(self.root / "solutions/01_sum/01_sum.ipynb", 4)
            nb.cells[0].source = answer
            folder = self.root / "submitted" / student / "01_sum"
            folder.mkdir(parents=True, exist_ok=True)
            nbformat.write(nb, folder / "01_sum.ipynb")

    def start(self, *options):
        return subprocess.Popen(
            [*GRADER, "grade", "--jobs", "2", *options], cwd=self.root, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def grade(self, *options):
        """Exit code, standard output, standard error."""
        run = self.start(*options)
        out, err = run.communicate()
        return run.returncode, out, err

    def scores(self):
        with Gradebook(f"sqlite:///{self.root}/gradebook.db", "gradients") as book:
            return {s.student.id: s.score for s in book.assignment_submissions("01_sum")}


@pytest.fixture(scope="module")
def registered(tmp_path_factory):
    made = Class(tmp_path_factory.mktemp("registered"))
    made.submit(ann=ANSWER)
    assert made.grade()[0] == 0
    for name in ("submitted", "autograded", "feedback", ".grader"):
        shutil.rmtree(made.root / name)
    with Gradebook(f"sqlite:///{made.root}/gradebook.db", "gradients") as book:
        book.remove_submission("01_sum", "ann")
    return made.root


@pytest.fixture
def pupils(registered, tmp_path):
    shutil.copytree(registered, tmp_path / "course")
    made = Class.__new__(Class)
    made.root = tmp_path / "course"
    return made


def test_exit_codes_tell_all_graded_from_a_fault(pupils):
    pupils.submit(ann=ANSWER, bob="def add(a, b): return 0")
    code, out, err = pupils.grade()
    assert (code, pupils.scores()) == (0, {"ann": 3, "bob": 0}), err
    assert "2 graded, 0 with a fault" in out
    pupils.submit(cat="import os; os._exit(1)")
    code, out, err = pupils.grade("--json")
    assert code == 1, err
    last = [json.loads(line) for line in out.splitlines()]
    states = {row["student"]: row["state"] for row in last if row.get("state") != "started"
              and "student" in row}  # fmt: skip
    assert states == {"ann": "skipped", "bob": "skipped", "cat": "fault"}


def test_two_at_once_and_ctrl_c(pupils):
    """The second says that the first is at work; the first keeps what is done when stopped."""
    pupils.submit(ann=ANSWER, bob=SLEEPS, cat=SLEEPS)
    with pupils.start("--json") as first:
        while '"graded"' not in (line := first.stdout.readline()):
            assert line, first.stderr.read()
        code, _, err = pupils.grade("--force")
        assert code == 2
        assert f"another run is grading this course (process {first.pid})" in " ".join(err.split())
        assert pupils.scores()["ann"] == 3
        os.killpg(first.pid, signal.SIGINT)
        _, err = first.communicate(timeout=300)  # the cells would sleep ten times as long
    assert first.returncode == 1, err
    assert "stopped; what is done is kept" in err
    assert "Traceback" not in err
    pupils.submit(bob=ANSWER, cat=ANSWER)
    code, out, err = pupils.grade()
    assert code == 0, err
    assert "2 graded, 0 with a fault, 1 already done" in out
    assert pupils.scores() == {"ann": 3, "bob": 3, "cat": 3}


def test_the_gradebook_is_where_the_course_says(pupils):
    """As with PostgreSQL: c.CourseDirectory.db_url, for reading the scores as well."""
    with open(pupils.root / "nbgrader_config.py", "a") as file:
        file.write(f'c.CourseDirectory.db_url = "sqlite:///{pupils.root}/elsewhere.db"\n')
    (pupils.root / "gradebook.db").unlink()
    pupils.submit(ann=ANSWER)
    code, out, err = pupils.grade()
    assert code == 0, err
    table = out[out.index("students × exercises") :]
    assert "ann" in table
    assert not (pupils.root / "gradebook.db").exists()


def test_a_locked_gradebook_is_said_plainly(pupils):
    pupils.submit(ann=ANSWER)
    other = sqlite3.connect(pupils.root / "gradebook.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    code, _, err = pupils.grade()
    other.rollback()
    other.close()
    assert code == 2
    last = err.splitlines()[-1]  # after nbgrader's own log
    assert last.startswith("error: the gradebook is locked by another program")
    assert pupils.grade()[0] == 0
    assert pupils.scores() == {"ann": 3}


@pytest.mark.filterwarnings("ignore")  # distributed's own
def test_a_cluster_grades_and_is_let_go_of(pupils):
    distributed = pytest.importorskip("distributed")
    pupils.submit(ann=ANSWER, bob="def add(a, b): return 0")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as one:
        code, out, err = pupils.grade("--scheduler", one.scheduler_address)
    assert code == 0, err
    assert "2 graded, 0 with a fault" in out
    assert "never retrieved" not in err
    assert pupils.scores() == {"ann": 3, "bob": 0}


def test_where_no_scheduler_answers_is_said(pupils):
    pupils.submit(ann=ANSWER)
    code, _, err = pupils.grade("--scheduler", "nonsense://127.0.0.1:1")
    assert code == 2
    assert "no Dask scheduler answers at nonsense://127.0.0.1:1" in " ".join(err.split())
