"""Stock nbgrader, without anything of ours in its pipeline but the checks in the cells."""

import shutil
import subprocess
import sys

import pytest

from grader.build.release import register
from grader.course import Course
from grader.grading import make_class, rows

STOCK = """c = get_config()
c.CourseDirectory.source_directory = 'solutions'
c.CourseDirectory.release_directory = 'notebooks'
c.CourseDirectory.course_id = 'gradients'
"""


@pytest.fixture(scope="module")
def course(mini, tmp_path_factory):
    root = tmp_path_factory.mktemp("stock")
    shutil.copytree(mini.root, root, dirs_exist_ok=True)
    course = Course.find(root)
    register(course, course.chapters[0], tmp_path_factory.mktemp("scratch"))
    (root / "nbgrader_config.py").write_text(STOCK)
    make_class(course, course.chapters[0], 2)
    return course


def test_a_solved_notebook_gets_100_and_an_untouched_one_0(course):
    command = [sys.executable, "-m", "nbgrader", "autograde", "01_mini"]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    scores = {row.student: row.score for row in rows(course, course.chapters[0])}
    assert scores == {"demo-01": 100, "demo-02": 0}
