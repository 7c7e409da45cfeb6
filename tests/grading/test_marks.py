"""What was marked by hand, as the gradebook has it."""

from nbgrader.api import Gradebook

from grader.course import Course
from grader.grading.marks import by_hand


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
