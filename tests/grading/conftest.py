"""A graded class of three, of the course without TensorFlow."""

import shutil

import pytest

from grader.course import Course
from grader.grading import grade
from tests.cli.conftest import ANSWER, Class


class Graded(Class):
    """A `Class` graded in this process."""

    @property
    def chapter(self):
        return Course(self.root).chapters[0]

    def grade_here(self, *students, **options):
        return grade(Course(self.root), self.chapter, students or None, jobs=1, **options)

    def page(self, student):
        return self.root / "feedback" / student / "01_sum" / "01_sum.html"

    def told(self, **options):
        """How many pages a run writes."""
        heard = [0]
        run = self.grade_here(tell=lambda done, of: heard.append(of), **options)
        assert run.exit_code == 0, run
        return heard[-1]


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory):
    made = Graded(tmp_path_factory.mktemp("taught"))
    made.submit(ann=ANSWER, bob="def add(a, b): return 0", cat=ANSWER)
    assert made.grade_here().exit_code == 0
    return made.root


@pytest.fixture
def taught(graded_once, tmp_path):
    shutil.copytree(graded_once, tmp_path / "course")
    made = Graded.__new__(Graded)
    made.root = tmp_path / "course"
    return made
