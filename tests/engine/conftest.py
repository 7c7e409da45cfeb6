"""A warm process without TensorFlow for most tests, and small helpers to run cells in it."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from grader.course import tools_on_path
from grader.engine import warm, work
from grader.engine.host import Zygote
from grader.engine.limits import Limits


@pytest.fixture(scope="session")
def secret_course(tmp_path_factory):
    """A course with everything in it that a submission must not see."""
    root = tmp_path_factory.mktemp("course")
    for name in ("solutions/ch", "submitted/eve/ch", "submitted/bob/ch", "data", "notebooks"):
        (root / name).mkdir(parents=True)
    (root / "solutions/ch/ch.ipynb").write_text("SECRET")
    (root / "submitted/bob/ch/ch.ipynb").write_text("SECRET")
    (root / "gradebook.db").write_text("SECRET")
    (root / ".course_key").write_text("SECRET")
    (root / "data/words.json").write_text("PUBLIC")
    return root


@pytest.fixture(scope="session")
def zygote(secret_course):
    public = {name: str(secret_course / name) for name in ("data", "notebooks")}
    warm = Zygote(public, tensorflow=False)
    warm.start()
    yield warm
    warm.close()


@pytest.fixture(scope="session")
def new_book(tmp_path_factory):
    """A gradebook as nbgrader makes it, which takes seconds."""
    tools_on_path()
    path = tmp_path_factory.mktemp("book") / "gradebook.db"
    Gradebook(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def empty_book(new_book, tmp_path):
    """The address of a gradebook with nothing in it."""
    shutil.copy(new_book, tmp_path)
    return f"sqlite:///{tmp_path}/gradebook.db"


def notebook(*sources):
    return new_notebook(cells=[new_code_cell(source) for source in sources])


def text_of(cell):
    """All text a cell put out, errors included."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts.append(str(output.get("data", {}).get("text/plain", "")))
    return "\n".join(parts)


def gone(pid):
    """Whether a process has ended, or does within seconds."""
    for _ in range(100):
        with suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.1)
                continue
        return True
    return False


@pytest.fixture
def run(zygote):
    """Run cells in a fresh child; keywords are limits. The result has `texts`, one per cell."""

    def run(*sources, job=None, **limits):
        task = work.Job(notebook(*sources), Limits(**limits), **(job or {}))
        task.traits.setdefault("interrupt_on_timeout", True)
        result = work.run(zygote, task)
        result.texts = [text_of(cell) for cell in result.notebook.cells]
        return result

    return run


def _test_cell(name, source, points):
    meta = {"grade": True, "grade_id": name, "locked": True, "solution": False, "points": points,
            "schema_version": 3, "task": False, "cell_type": "code"}  # fmt: skip
    return new_code_cell(source, metadata={"nbgrader": meta})


def _answer_cell(name, source):
    meta = {"grade": False, "grade_id": name, "locked": False, "solution": True,
            "schema_version": 3, "task": False, "cell_type": "code"}  # fmt: skip
    return new_code_cell(source, metadata={"nbgrader": meta})


HIDDEN = "\n### BEGIN HIDDEN TESTS\nassert add(20, 3) == 23  # hidden-marker\n### END HIDDEN TESTS"
ADD = "def add(a, b):\n    ### BEGIN SOLUTION\n    return a + b\n    ### END SOLUTION"
MUL = "def mul(a, b):\n    ### BEGIN SOLUTION\n    return a * b\n    ### END SOLUTION"
SQ = "def sq(a):\n    ### BEGIN SOLUTION\n    return a * a\n    ### END SOLUTION"
CONFIG = """
import grader.engine
c = get_config()
c.CourseDirectory.course_id = "tiny"
c.EngineExecute.tensorflow = False
c.Execute.timeout = 5
grader.engine.plug(c)
"""


class Tiny:
    """A plain nbgrader course without TensorFlow: p1 (add 2, mul 3) and p2 (sq 4)."""

    def __init__(self, root):
        self.root = root
        self.config_file().write_text(CONFIG)
        p1 = new_notebook(cells=[
            _answer_cell("add", ADD), _test_cell("test_add", "assert add(1, 2) == 3" + HIDDEN, 2),
            _answer_cell("mul", MUL), _test_cell("test_mul", "assert mul(2, 3) == 6", 3),
        ])  # fmt: skip
        p2 = new_notebook(
            cells=[_answer_cell("sq", SQ), _test_cell("test_sq", "assert sq(3) == 9", 4)]
        )
        (root / "source/ps").mkdir(parents=True)
        for name, nb in (("p1", p1), ("p2", p2)):
            nb.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3",
                                         "language": "python"}  # fmt: skip
            nbformat.write(nb, root / f"source/ps/{name}.ipynb")
        self.nbgrader("generate_assignment", "ps")

    def config_file(self):
        return self.root / "nbgrader_config.py"

    def nbgrader(self, *args, code=0):
        environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(self.root / "none")}
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *args], cwd=self.root, env=environment,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stderr

    def answered(self, name, **answers):
        """The released notebook with answers filled in; by default the right ones."""
        right = {"add": ADD, "mul": MUL, "sq": SQ}
        nb = nbformat.read(self.root / f"release/ps/{name}.ipynb", 4)
        for cell in nb.cells:
            grade_id = cell.metadata.nbgrader.grade_id
            if grade_id in right:
                cell.source = answers.get(grade_id, right[grade_id])
        return nb

    def submit(self, student, p1="right", p2="right", **answers):
        folder = self.root / "submitted" / student / "ps"
        folder.mkdir(parents=True, exist_ok=True)
        for name, nb in (("p1", p1), ("p2", p2)):
            if nb == "right":
                nb = self.answered(name, **answers)
            if nb is not None:
                nbformat.write(nb, folder / f"{name}.ipynb")
        return folder

    def grade(self, *students, **options):
        from grader.engine.batch import grade

        run = grade(self.root, "ps", students or None, **options)
        return {outcome.student: outcome for outcome in run.outcomes}

    def scores(self, student):
        """Score and max of the gradebook, and whether a look by hand is asked for."""
        with Gradebook(f"sqlite:///{self.root}/gradebook.db", "tiny") as book:
            submission = book.find_submission("ps", student)
            return submission.score, submission.needs_manual_grade

    def autograded(self, student, name="p1"):
        return nbformat.read(self.root / f"autograded/{student}/ps/{name}.ipynb", 4)


@pytest.fixture(scope="session")
def tiny_master(tmp_path_factory):
    return Tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny(tiny_master, tmp_path):
    """A fresh copy of the tiny course."""
    root = tmp_path / "tiny"
    shutil.copytree(tiny_master.root, root)
    copy = Tiny.__new__(Tiny)
    copy.root = root
    yield copy
    warm.close()
