import os
import sys
from pathlib import Path

import pytest

from grader.course import Course, CourseError, tools_on_path


@pytest.fixture
def course(tmp_path):
    (tmp_path / "nbgrader_config.py").touch()
    for name in ("01_tape", "10_capstone", "02_other"):
        folder = tmp_path / "solutions" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.md").write_text("---\n---\n\n# The title\n")
    return Course.find(tmp_path / "solutions" / "01_tape")


def test_the_root_is_the_nearest_config_upwards(course, tmp_path):
    assert course.root == tmp_path.resolve()
    inner = tmp_path / "solutions" / "nbgrader_config.py"
    inner.touch()
    assert Course.find(inner.parent).root == inner.parent.resolve()


def test_outside_a_course_the_error_says_what_to_do(tmp_path):
    with pytest.raises(CourseError, match="change to the course's folder"):
        Course.find(Path("/"))


def test_chapters_come_in_order_and_have_a_title(course):
    assert [c.name for c in course.chapters] == ["01_tape", "02_other", "10_capstone"]
    assert course.chapters[0].title == "The title"


@pytest.mark.parametrize(
    ("asked", "got"),
    [("1", "01_tape"), ("01", "01_tape"), ("10", "10_capstone"), ("02_o", "02_other")],
)
def test_a_chapter_is_found_by_number_or_start_of_its_name(course, asked, got):
    assert course.chapter(asked).name == got


@pytest.mark.parametrize("asked", ["3", "0", "x", ""])
def test_an_unknown_or_ambiguous_chapter_lists_what_there_is(course, asked):
    with pytest.raises(CourseError, match="there are: 01_tape, 02_other, 10_capstone"):
        course.chapter(asked)


def test_a_missing_reference_is_named(course):
    with pytest.raises(CourseError, match=r"solutions/01_tape/reference.py is missing"):
        course.chapters[0].exercises()


def test_two_exercises_of_one_name_are_refused(course):
    text = "class E:\n    id = 'a'\nEXERCISES = [E, E]\n"
    (course.chapters[0].folder / "reference.py").write_text(text)
    with pytest.raises(CourseError, match="two exercises are called a"):
        course.chapters[0].exercises()


def test_own_commands_come_first_on_the_path(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    tools_on_path()
    tools_on_path()
    own = str(Path(sys.executable).parent)
    assert os.environ["PATH"].split(os.pathsep) == [own, "/nowhere"]


def test_a_hidden_folder_is_no_student(course):
    for name in ("ann", ".ipynb_checkpoints", "b.c"):
        (course.root / "submitted" / name / "01_tape").mkdir(parents=True)
    assert course.chapters[0].students == ["ann", "b.c"]
