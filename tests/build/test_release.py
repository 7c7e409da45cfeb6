"""What nbgrader's generate_assignment says when it fails, or is stopped."""

import pytest
from nbgrader.converters import GenerateAssignment

from grader.build.release import register, release
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


def _call(call, course, out):
    (chapter,) = course.chapters
    if call is register:
        register(course, chapter, out / "scratch")
    else:
        release(chapter, course.root / "solutions", out / "release")
