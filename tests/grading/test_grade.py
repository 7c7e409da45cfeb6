"""The small course, graded for real: every score is what the answers deserve."""

import os
import shutil
import subprocess
import sys

import pytest

from grader.build.cells import points
from grader.course import Course, CourseError
from grader.grading import grade, make_class, rows

from .deserve import deserved

SIZE = 9


@pytest.fixture(scope="module")
def graded(mini, tmp_path_factory):
    root = tmp_path_factory.mktemp("graded")
    shutil.copytree(mini.root, root, dirs_exist_ok=True)
    course = Course.find(root)
    chapter = course.chapters[0]
    made = make_class(course, chapter, SIZE)
    before = os.getcwd()
    os.chdir(root)
    outcomes = grade(course, chapter).outcomes
    os.chdir(before)
    return course, chapter, made, outcomes


def test_every_submission_was_graded(graded):
    _, _, made, outcomes = graded
    assert sorted(o.student for o in outcomes) == list(made)
    assert {o.state for o in outcomes} == {"graded"}


def test_every_score_is_what_the_answers_deserve(graded, monkeypatch, tf):
    course, chapter, made, _ = graded
    monkeypatch.chdir(course.root)
    worth, share = points(chapter.exercises()), deserved(chapter)
    for row in rows(course, chapter):
        for exercise, parts in row.cells.items():
            for part, cell in parts.items():
                what = made[row.student][exercise]
                where = (row.student, exercise, what, part)
                assert cell.most == worth[exercise, part], where
                assert cell.score == pytest.approx(share(exercise, what, part) * cell.most), where


def test_the_solved_get_100_the_untouched_and_the_raising_0(graded):
    course, chapter, _, _ = graded
    scores = {row.student: row.score for row in rows(course, chapter)}
    assert scores["demo-01"] == 100
    assert scores["demo-02"] == 0
    assert scores["demo-03"] == 0


def test_mistakes_are_named_in_the_table(graded):
    course, chapter, made, _ = graded
    seen = {}
    for row in rows(course, chapter):
        for exercise in made[row.student]:
            seen[made[row.student][exercise]] = row.mistakes(exercise)
    assert "upstream lost" in seen["upstream_lost"]
    assert "not attempted" in seen["not attempted"]
    assert "true derivative" in seen["true_derivative"]
    assert seen["the solution"] == []


def test_feedback_is_written_for_everyone(graded):
    course, chapter, made, _ = graded
    for student in made:
        assert (
            course.root / "feedback" / student / chapter.name / f"{chapter.name}.html"
        ).is_file()


def test_the_notebooks_handed_out_stay_as_they_were(graded, mini):
    _, chapter, _, _ = graded
    assert chapter.notebook.read_bytes() == mini.chapters[0].notebook.read_bytes()


def test_nbgrader_exports_the_scores(graded):
    course, _, made, _ = graded
    command = [sys.executable, "-m", "nbgrader", "export"]
    subprocess.run(command, cwd=course.root, check=True, capture_output=True)
    lines = (course.root / "grades.csv").read_text().splitlines()
    assert len(lines) == 1 + len(made)
    assert any("demo-01" in line and "100.0" in line for line in lines)


def test_grading_again_changes_no_score(graded, monkeypatch):
    course, chapter, _, _ = graded
    monkeypatch.chdir(course.root)
    before = {row.student: row.cells for row in rows(course, chapter)}
    again = grade(course, chapter, ["demo-01", "demo-05"], force=True)
    assert again.count("graded") == 2
    assert {row.student: row.cells for row in rows(course, chapter)} == before


def test_nothing_submitted_is_an_error_that_says_where_to_look(mini):
    with pytest.raises(CourseError, match="belong in submitted/<student>/01_mini/"):
        grade(mini, mini.chapters[0])


def test_what_is_graded_is_not_graded_twice(graded, monkeypatch):
    course, chapter, _, _ = graded
    monkeypatch.chdir(course.root)
    assert grade(course, chapter, ["demo-01"]).count("skipped") == 1
