"""One connection to the gradebook for a whole run, and one transaction per submission.

nbgrader's classes open the gradebook 13 times a submission and commit after every cell. While a
`Ledger` is installed they share one session whose commits wait, so that a submission's scores reach
the disk together or not at all.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from nbgrader.api import Grade, Gradebook, MissingEntry
from sqlalchemy import create_engine
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from grader.course import CourseError
from grader.engine import patience
from grader.engine.gradebook import SharedGradebook

USERS = """
nbgrader.converters.autograde nbgrader.preprocessors.overwritecells
nbgrader.preprocessors.overwritekernelspec nbgrader.preprocessors.saveautogrades
nbgrader.preprocessors.latesubmissions grader.engine.masters grader.engine.ledger
""".split()
BUSY_SECONDS = 30
SAME = 1e-6  # points: a database need not keep every digit


class _Held(Session):
    """A session that waits for `Ledger.commit`."""

    def commit(self) -> None:
        """Flush only: new rows at once, since nbgrader wants to hear of a row that cannot be.
        Changed ones go together, at the next query or at the end."""
        if self.new or self.deleted:
            self.flush()


class Ledger:
    """The run's gradebook. Used by one thread."""

    def __init__(self, db_url: str, course_id: str) -> None:
        patience.install()
        Gradebook(db_url, course_id).close()  # creates tables where there are none
        waits = {"timeout": BUSY_SECONDS} if db_url.startswith("sqlite") else {}
        self.engine = create_engine(db_url, future=True, connect_args=waits)
        self.db = scoped_session(sessionmaker(class_=_Held, bind=self.engine, future=True))
        self.db_url, self.course_id = db_url, course_id
        self.courses: set[str] = set()
        self.held: dict[Any, Any] = {}  # what the gradebook says and does not change in a run
        self.rows: dict[Any, dict[str, Any]] = {}  # rows of this transaction

    def commit(self) -> None:
        """Make everything since the last commit permanent."""
        Session.commit(self.db())
        self._forget()

    def rollback(self) -> None:
        """Forget everything since the last commit."""
        self.db.rollback()
        self._forget()

    def _forget(self) -> None:
        self.rows.clear()
        self.db().expunge_all()

    def close(self) -> None:
        """Close the connection; what was not committed is forgotten."""
        self.db.remove()
        self.engine.dispose()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """nbgrader's converters and preprocessors use this ledger until the end of the block."""
        shared = type("Shared", (SharedGradebook,), {"ledger": self})
        modules = [importlib.import_module(name) for name in USERS]
        before = [(module, vars(module)["Gradebook"]) for module in modules]
        for module in modules:
            vars(module)["Gradebook"] = shared
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # of nbgrader's own making
                yield
        finally:
            for module, original in before:
                vars(module)["Gradebook"] = original

    def check_assignment(self, assignment: str) -> None:
        """Raises CourseError where the gradebook does not know it: no student's fault."""
        if "*" not in assignment and not self.notebooks(assignment):
            raise CourseError(
                f"no assignment {assignment} in the gradebook: nbgrader generate_assignment "
                f"{assignment} writes it there"
            )

    def notebooks(self, assignment: str) -> list[str] | None:
        """The names of its notebooks; None for an assignment that the gradebook does not know."""
        key = ("names of notebooks", assignment)
        if key not in self.held:
            with Gradebook(self.db_url, self.course_id) as gradebook:
                try:
                    notebooks = gradebook.find_assignment(assignment).notebooks
                except MissingEntry:
                    return None
                self.held[key] = sorted(notebook.name for notebook in notebooks)
        return list(self.held[key])

    def scored(self, assignment: str, student: str, told: float | None = None) -> bool:
        """Whether the scores of a submission are known: in an emptied gradebook none is, and in one
        from a backup they need not add up to the points that the run `told`."""
        with Gradebook(self.db_url, self.course_id) as gradebook:
            try:
                submission = gradebook.find_submission(assignment, student)
            except MissingEntry:
                return False
            grades = [grade for nb in submission.notebooks for grade in nb.grades]
            held = sum(grade.auto_score or 0.0 for grade in grades)
            if told is not None and abs(held - told) > SAME:
                return False
            return not grades or any(
                grade.needs_manual_grade or (grade.auto_score, grade.manual_score) != (None, None)
                for grade in grades
            )

    def due(self, assignment: str, student: str) -> str:
        """When a student's work is due, extension included; empty where it never is."""
        key = ("due", assignment)
        with Gradebook(self.db_url, self.course_id) as gradebook:
            if key not in self.held:
                known = self.notebooks(assignment) is not None
                self.held[key] = gradebook.find_assignment(assignment).duedate if known else None
            if self.held[key] is None:
                return ""
            try:
                return str(gradebook.find_submission(assignment, student).duedate)
            except MissingEntry:
                return str(self.held[key])

    def penalty(self, assignment: str, student: str) -> float:
        """The points that a late submission loses."""
        with Gradebook(self.db_url, self.course_id) as gradebook:
            found = gradebook.find_submission(assignment, student).notebooks
            return float(sum(nb.late_submission_penalty or 0 for nb in found))

    def forgive(self, assignment: str, student: str, notebooks: Collection[str]) -> None:
        """Take back what these notebooks lost for lateness when they were handed in: they are not
        any more, and nbgrader takes it off the others."""
        with Gradebook(self.db_url, self.course_id) as gradebook:
            for each in gradebook.find_submission(assignment, student).notebooks:
                if each.name in notebooks:
                    each.late_submission_penalty = None
            gradebook.db.commit()

    def by_hand(self, assignment: str, student: str) -> int:
        """How many cells of a submission have a score given by hand, which goes before the new."""
        with Gradebook(self.db_url, self.course_id) as gradebook:
            found = gradebook.find_submission(assignment, student).notebooks
            marked = Grade.notebook_id.in_([each.id for each in found])
            return int(
                gradebook.db.query(Grade).filter(marked, Grade.manual_score.isnot(None)).count()
            )

    def fail(self, assignment: str, student: str, notebook: str | None, reason: str) -> list[str]:
        """Zero every automatic score of a submission (or of one notebook of it), ask for a look by
        hand, and leave the reason where instructor and student see it. The notebooks it cost."""
        with Gradebook(self.db_url, self.course_id) as gradebook:
            gradebook.update_or_create_student(student)
            try:
                submission = gradebook.find_submission(assignment, student)
            except MissingEntry:
                submission = gradebook.update_or_create_submission(assignment, student)
            lost = [each for each in submission.notebooks if notebook in (None, each.name)]
            for each in lost:
                each.late_submission_penalty = None  # nothing is left that it could be taken off
                for grade in each.grades:
                    grade.auto_score = 0
                    grade.needs_manual_grade = True
                for comment in each.comments:
                    comment.auto_comment = f"Not graded: {reason}"[:1000]
            gradebook.db.commit()
            return [each.name for each in lost]
