"""Which submissions there are to grade."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator

from nbgrader.converters.base import NbGraderException

from grader.engine.submission import Stages, Submission


class Found(Stages):
    """nbgrader's Autograde with the submissions in order, empty ones too."""

    only: frozenset[str] | None = None  # these students alone

    def init_notebooks(self) -> None:
        """Also remember the students whose folder holds no notebook at all."""
        pattern = self._format_source(self.coursedir.assignment_id, self.coursedir.student_id)
        every = self.coursedir.notebook_id == "*"
        found = [path for path in glob.glob(pattern) if os.path.isdir(path)] if every else []
        self.empty = [path for path in found if not glob.glob(f"{glob.escape(path)}/*.ipynb")]
        try:
            super().init_notebooks()
        except NbGraderException:
            if not self.empty:
                raise

    def submissions(self) -> Iterator[Submission]:
        """In order of their folders. Raises NbGraderException for a folder of no known form."""
        pattern = self._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
        for folder in sorted({*self.assignments, *self.empty}):
            match = re.match(pattern, folder)
            if match is None:
                raise NbGraderException(f"Could not match '{folder}' with regexp '{pattern}'")
            if self.only is not None and match["student"] not in self.only:
                continue
            found = sorted(self.assignments.get(folder, []))
            yield Submission(match["assignment"], match["student"], folder, found)
