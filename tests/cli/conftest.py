"""A course of one chapter without TensorFlow, its class, and `grader` as a program."""

import shutil
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

    def run(self, *command, **more):
        """Exit code and standard error of any command; `stdout`, `env` as subprocess has them."""
        more.setdefault("stdout", subprocess.DEVNULL)
        done = subprocess.run([*GRADER, *command], cwd=self.root, text=True,
                              stderr=subprocess.PIPE, **more)  # fmt: skip
        return done.returncode, done.stderr

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
