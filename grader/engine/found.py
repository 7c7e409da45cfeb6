"""Which submissions there are to grade."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from nbgrader.converters.base import NbGraderException

from grader.course import Chapter
from grader.engine import intake, preflight
from grader.engine.journal import Journal
from grader.engine.masters import masters
from grader.engine.printable import printable
from grader.engine.submission import Stages
from grader.engine.submitted import Submission
from grader.engine.warm import public_folders


class Found(Stages):
    """nbgrader's Autograde with the submissions in order, empty ones too."""

    only: frozenset[str] | None = None  # these students alone
    journal: Journal

    def init_notebooks(self) -> None:
        """Also remember the students whose folder holds no notebook at all, and those whose name
        nbgrader takes for a pattern ("[b]")."""
        pattern = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        folders = [path for path in glob.glob(pattern) if os.path.isdir(path)]
        name = f"{self.coursedir.notebook_id}.ipynb"
        held = {path: glob.glob(f"{glob.escape(path)}/{name}") for path in folders}
        every = self.coursedir.notebook_id == "*"
        self.empty = [path for path in folders if every and not held[path]]
        try:
            super().init_notebooks()
        except NbGraderException:
            if not self.empty and not any(held.values()):
                raise
        self.assignments = {path: found for path, found in held.items() if found}

    def submissions(self) -> Iterator[Submission]:
        """In order of their folders; one of no known form is skipped with a word in the log."""
        pattern = self._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
        for folder in sorted({*self.assignments, *self.empty}):
            match = re.match(pattern, folder, re.DOTALL)  # a line's end in a name is the student's
            if match is None:
                self.log.error("skipped, for its name is of no known form: %s", printable(folder))
                continue
            if self.only is not None and match["student"] not in self.only:
                continue
            found = sorted(self.assignments.get(folder, []))
            yield Submission(match["assignment"], match["student"], folder, found)

    def check_setup(self) -> None:
        """Raises CourseError or OSError for what would fail for every submission."""
        preflight.check_limits(self.execute.limits)
        preflight.check_public(public_folders(self.execute.root))
        preflight.check_gradebook(self.coursedir.db_url)
        place = self.coursedir.autograded_directory
        preflight.check_folders(place, place)
        if os.path.isdir(place) and not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place)

    def _asked(self, assignment: str) -> bytes:
        """What decides the scores of a chapter: its graded cells, their points, its reference."""
        key, told = ("asked", assignment), hashlib.sha256()
        if key in self.ledger.held:
            return bytes(self.ledger.held[key])
        about = {"db_url": self.coursedir.db_url, "assignment": assignment}
        for name in self.ledger.notebooks(assignment) or []:
            for cell in masters({**about, "notebook": name}):
                if cell.meta["grade"]:
                    said = name, cell.grade_id, cell.meta["points"], cell.source
                    told.update(repr(said).encode("utf-8", "surrogateescape"))
        for path in Chapter(Path(self.coursedir.root), assignment).judged_by:
            told.update(path.read_bytes())
        self.ledger.held[key] = told.digest()
        return told.digest()

    def _penalty(self) -> str:
        """What the configuration says of late submissions; empty where it says nothing."""
        names = ("AssignLatePenalties", "LateSubmissionPlugin")
        told = [sorted(self.config.get(name, {}).items()) for name in names]
        return repr(told) if any(told) else ""

    def excluded(self, student: str) -> bool:
        """Whether nbgrader is to leave this student out."""
        return student in self.coursedir.student_id_exclude.split(",")

    def wanted(self, submission: Submission) -> bool:
        """Whether to grade it. Looks at its files first: nbgrader opens some of them."""
        assignment, student = submission.assignment, submission.student
        place = self._format_dest(assignment, student)
        preflight.check_folders(place, self.coursedir.autograded_directory)
        intake.check_student(student)
        submission.refused = intake.inspect(Path(submission.folder), self.execute.all_limits)
        if self.coursedir.notebook_id == "*":
            due = self.ledger.due(assignment, student)
            asked = self._asked(assignment) + (due and due + self._penalty()).encode()
            submission.digest = intake.digest(Path(submission.folder), submission.refused, asked)
        if self.init_destination(assignment, student):
            return True
        if self.excluded(student):
            return False
        same = not self.journal.changed(assignment, student, submission.digest)
        if same and self.ledger.scored(
            assignment, student, self.journal.score(assignment, student)
        ):
            return False
        self.discard(submission)  # of what was handed in before, or of another gradebook
        return True
