"""What seems to be meant for a chapter; the run of the command is tested in test_running."""

from pathlib import Path

import pytest

from grader.cli.misfiled import misfiled
from grader.course import Course


@pytest.fixture
def told(tmp_path):
    """Which of these paths in submitted/ are told, each with the chapter that is meant."""
    for name in ("01_sum", "02_two"):
        (tmp_path / "solutions" / name).mkdir(parents=True)
        (tmp_path / "solutions" / name / f"{name}.md").touch()

    def told(*paths, asked=("01_sum", "02_two"), students=None):
        for path in paths:
            place = tmp_path / "submitted" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch() if place.suffix else place.mkdir(exist_ok=True)
        course = Course(tmp_path)
        return misfiled(course, [course.chapter(name) for name in asked], students)

    return told


def _says(path, chapter):
    return f"not graded: submitted/{path} belongs in submitted/<student>/{chapter}/, it seems"


@pytest.mark.parametrize(
    ("path", "chapter"),
    [
        ("ann/01_sums", "01_sum"), ("ann/01_SUM", "01_sum"), ("ann/02_two.ipynb", "02_two"),
        ("ann/01_sum", None), ("ann/01_sums.txt", None), ("ann/.01_sums", None),
        ("01_sum.ipynb", "01_sum"), ("ann.ipynb", None), (".ipynb_checkpoints/02_two.ipynb", None),
        ("ann/essay", None), ("ann/essay.ipynb", None), ("ann/01_summary", None),
    ],
)  # fmt: skip
def test_what_is_named_almost_like_a_chapter_is_told_and_nothing_else(told, path, chapter):
    assert told(path) == ([_says(path, chapter)] if chapter else [])


def test_the_notebook_in_a_folder_says_more_than_the_folders_name(told):
    assert told("ann/homework/02_two.ipynb") == [_says("ann/homework", "02_two")]
    assert told("ann/01_sums/02_two.ipynb")[0] == _says("ann/01_sums", "02_two")


def test_only_what_was_asked_for_is_told(told):
    paths = "ann/01_sums", "ann/02_tow", "bob/01_sums"
    assert told(*paths, asked=["02_two"]) == [_says("ann/02_tow", "02_two")]
    assert told(*paths, students=["bob"]) == [_says("bob/01_sums", "01_sum")]


def test_of_very_many_twenty_are_named(told):
    assert len(told(*(f"s{n:02}/01_sums" for n in range(20)))) == 20
    said = told(*(f"s{n:02}/01_sums" for n in range(20, 25)))
    assert len(said) == 21
    assert said[-1] == "not graded: and 5 more"


def test_no_name_of_a_student_gets_at_the_terminal(told):
    assert told("a\x1b[2J/01_sums") == [_says("a\\x1b[2J/01_sums", "01_sum")]


def test_a_folder_that_cannot_be_read_stops_nobody(tmp_path, monkeypatch):
    for place in ("solutions/01_sum", "submitted/ann/01_sums", "submitted/bob/01_sums"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "solutions/01_sum/01_sum.md").touch()
    listed = Path.iterdir

    def refusing(path):
        if path.name == "ann":
            raise PermissionError
        return listed(path)

    monkeypatch.setattr(Path, "iterdir", refusing)
    course = Course(tmp_path)
    (told,) = misfiled(course, course.chapters)
    assert "submitted/bob/01_sums" in told
