"""nbgrader's Gradebook on a ledger's one session, asking once for a notebook's cells and grades.

nbgrader asks for each cell by its name, with a join over six tables: a chapter of 60 cells takes
100 queries. Here the first question about a notebook brings the answers to all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)

if TYPE_CHECKING:
    from grader.engine.ledger import Ledger


class SharedGradebook(Gradebook):  # type: ignore[misc]
    """Used by one thread. What it keeps is forgotten when the ledger commits or rolls back."""

    ledger: ClassVar[Ledger]

    def __init__(self, db_url: str, course_id: str = "default_course",
                 authenticator: Any = None) -> None:  # fmt: skip
        self.engine, self.db, self.course_id = self.ledger.engine, self.ledger.db, course_id
        self.authenticator, self.held = authenticator, self.ledger.held
        if course_id not in self.ledger.courses:
            self.check_course(course_id=course_id)
            self.ledger.courses.add(course_id)

    def close(self) -> None:
        """The ledger closes it."""

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> Any:
        """As nbgrader's; MissingEntry where there is none."""
        found = self._rows(SourceCell, (notebook, assignment), self._cells)
        return found.get(name) or super().find_source_cell(name, notebook, assignment)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> Any:
        """As nbgrader's; MissingEntry where there is none."""
        found = self._rows(GradeCell, (notebook, assignment), self._cells)
        return found.get(name) or super().find_graded_cell(name, notebook, assignment)

    def find_grade(self, grade_cell: str, notebook: str, assignment: str, student: str) -> Any:
        """As nbgrader's; MissingEntry where there is none."""
        found = self._rows(Grade, (notebook, assignment, student), self._submitted)
        return found.get(grade_cell) or super().find_grade(
            grade_cell, notebook, assignment, student
        )

    def find_comment(self, solution_cell: str, notebook: str, assignment: str, student: str) -> Any:
        """As nbgrader's; MissingEntry where there is none."""
        found = self._rows(Comment, (notebook, assignment, student), self._submitted)
        return found.get(solution_cell) or super().find_comment(
            solution_cell, notebook, assignment, student
        )

    def _rows(self, kind: Any, key: tuple[str, ...], load: Callable[..., Any]) -> dict[str, Any]:
        rows = self.ledger.rows
        if (kind, key) not in rows:
            rows[kind, key] = dict(load(kind, *key))
        return rows[kind, key]

    def _cells(self, kind: Any, notebook: str, assignment: str) -> Iterable[tuple[str, Any]]:
        """Names and cells of one kind in a notebook."""
        query = (
            self.db.query(kind)
            .join(Notebook, Notebook.id == kind.notebook_id)
            .join(Assignment, Assignment.id == Notebook.assignment_id)
            .filter(Notebook.name == notebook, Assignment.name == assignment)
        )
        return ((cell.name, cell) for cell in query)

    def _submitted(self, kind: Any, notebook: str, assignment: str,
                   student: str) -> Iterable[tuple[str, Any]]:  # fmt: skip
        """Names of cells, and a student's grades or comments on them."""
        query = (
            self.db.query(BaseCell.name, kind)
            .join(kind, kind.cell_id == BaseCell.id)
            .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Student, Student.id == SubmittedAssignment.student_id)
            .filter(Notebook.name == notebook, Assignment.name == assignment, Student.id == student)
        )
        return ((name, row) for name, row in query)
