"""Demo classes of real chapters: every score is what the answers deserve."""

import pytest

from grader.build.cells import points
from grader.course import Course
from grader.grading import grade, make_class, rows

from .deserve import deserved

SIZE = 12


@pytest.mark.parametrize("name", ["02_register_gradient", "03_gradient_override_map"])
def test_a_class_of_twelve_gets_what_it_deserves(name, course_copy, monkeypatch, tf):
    monkeypatch.chdir(course_copy)
    course = Course.find()
    chapter = course.chapter(name)
    made = make_class(course, chapter, SIZE)
    run = grade(course, chapter)
    assert run.count("graded") == SIZE, run.outcomes
    worth, share = points(chapter.exercises()), deserved(chapter)
    for row in rows(course, chapter):
        for exercise, parts in row.cells.items():
            what = made[row.student][exercise]
            for part, cell in parts.items():
                where = (row.student, exercise, what, part)
                assert cell.most == worth[exercise, part], where
                assert cell.score == pytest.approx(share(exercise, what, part) * cell.most), where
