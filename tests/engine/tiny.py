"""A plain nbgrader course without TensorFlow, and what its students hand in."""

import os
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook


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
