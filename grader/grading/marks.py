"""What people have marked by hand: no notebook changes by it, and what feedback says does."""

from __future__ import annotations

from typing import Any

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import or_

from ..build.release import api
from ..course import Chapter, Course

Marks = dict[str, list[list[Any]]]


def by_hand(course: Course, chapter: Chapter) -> Marks:
    """Of everyone in the gradebook who submitted the chapter: the scores, extra credit and
    comments given by hand, as (id of the cell, score or comment, extra credit), in order."""
    with api(course).gradebook as book:
        submitted = book.db.query(SubmittedAssignment.student_id)
        submitted = submitted.join(SubmittedAssignment.assignment)
        found: Marks = {each: [] for (each,) in submitted.filter(Assignment.name == chapter.name)}
        for table, first, second in (
            (Grade, Grade.manual_score, Grade.extra_credit),
            (Comment, Comment.manual_comment, Comment.manual_comment),
        ):
            query = book.db.query(SubmittedAssignment.student_id, table.cell_id, first, second)
            query = query.join(SubmittedAssignment.assignment).join(SubmittedAssignment.notebooks)
            query = query.join(table, table.notebook_id == SubmittedNotebook.id)
            given = or_(first.isnot(None), second.isnot(None))
            for student, *mark in query.filter(Assignment.name == chapter.name, given):
                found[student].append(list(mark))
    return {student: sorted(marks, key=str) for student, marks in found.items()}
