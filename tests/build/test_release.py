"""What nbgrader's generate_assignment says when it fails, or is stopped."""

import pytest
from nbgrader.converters import GenerateAssignment

from grader.build.release import api, register, release
from grader.course import Course, CourseError
from tests.cli.conftest import Class


@pytest.fixture
def course(tmp_path):
    return Course(Class(tmp_path / "course").root)


@pytest.mark.parametrize("call", [register, release])
def test_ctrl_c_is_ctrl_c_and_no_fault_of_the_chapter(course, tmp_path, monkeypatch, call):
    def stopped(self, *_):
        raise KeyboardInterrupt

    monkeypatch.setattr(GenerateAssignment, "init_assignment", stopped)
    with pytest.raises(KeyboardInterrupt):
        _call(call, course, tmp_path)


@pytest.mark.parametrize("call", [register, release])
def test_what_nbgrader_refuses_is_said_in_a_line(course, tmp_path, call):
    (course.root / "solutions/01_sum/01_sum.ipynb").write_text('{"cells": 5}')
    with pytest.raises(CourseError, match=r"nbgrader generate_assignment 01_sum: .*[Ee]rror"):
        _call(call, course, tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("submitted_directory", "handins", "'handins'; grader knows 'submitted' alone"),
        ("source_directory", "source", "'source'; grader knows 'solutions' alone"),
        ("directory_structure", "{nbgrader_step}/{assignment_id}/{student_id}", "set it to that"),
        ("source_directory", 5, "TraitError"),
    ],
)
def test_what_has_its_place_in_a_course_stays_there(course, name, value, says):
    with open(course.root / "nbgrader_config.py", "a") as file:
        file.write(f"c.CourseDirectory.{name} = {value!r}\n")
    with pytest.raises(CourseError, match=says):
        api(course)


def test_a_place_may_be_given_in_full_and_others_may_be_moved(course):
    with open(course.root / "nbgrader_config.py", "a") as file:
        file.write(f"c.CourseDirectory.submitted_directory = {str(course.root / 'submitted')!r}\n")
        file.write("c.CourseDirectory.feedback_directory = 'returned'\n")
    assert api(course).coursedir.feedback_directory == "returned"


def _call(call, course, out):
    (chapter,) = course.chapters
    if call is register:
        register(course, chapter, out / "scratch")
    else:
        release(chapter, course.root / "solutions", out / "release")
