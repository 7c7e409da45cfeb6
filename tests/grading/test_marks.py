"""What was marked by hand, as the gradebook has it."""

import pytest
from nbgrader.api import Gradebook

from grader.course import Course
from grader.grading.marks import by_hand

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


def test_everyone_is_there_and_what_was_given_by_hand(taught):
    course = Course(taught.root)
    assert by_hand(course, taught.chapter) == {"ann": [], "bob": [], "cat": []}
    with Gradebook(f"sqlite:///{taught.root}/gradebook.db", "gradients") as book:
        grade = book.find_grade("test", "01_sum", "01_sum", "cat")
        grade.manual_score, grade.extra_credit = 1.0, 0.5
        comment = book.find_comment("add", "01_sum", "01_sum", "cat")
        comment.manual_comment = "see me"
        book.db.commit()
        ids = grade.cell_id, comment.cell_id
    marks = by_hand(course, taught.chapter)
    assert marks["ann"] == marks["bob"] == []
    assert sorted(marks["cat"]) == sorted([[ids[0], 1.0, 0.5], [ids[1], "see me", "see me"]])


def test_marks_of_another_chapter_are_not_this_ones(taught):
    course = Course(taught.root)
    with Gradebook(f"sqlite:///{taught.root}/gradebook.db", "gradients") as book:
        book.add_assignment("02_other")
        book.add_notebook("02_other", "02_other")
        book.add_grade_cell("more", "02_other", "02_other", max_score=2, cell_type="code")
        book.update_or_create_student("dan")
        for name in ("ann", "dan"):
            book.add_submission("02_other", name)
            book.find_grade("more", "02_other", "02_other", name).manual_score = 2.0
        book.db.commit()
    assert by_hand(course, taught.chapter) == {"ann": [], "bob": [], "cat": []}
