"""One student's feedback after the other, by nbgrader's own converter and one exporter for all."""

from __future__ import annotations

import glob
import io
import logging
import os
import re
from pathlib import Path
from typing import Any

from nbconvert.writers.files import FilesWriter
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException

from grader.build.release import api
from grader.course import Course
from grader.engine import pages
from grader.engine.alarm import within

# nbgrader's list of contents calls every graded cell "Test cell".
UNNAMED = re.compile(r'(<li><a href="#([^"<>]+)">)Test cell</a>')


class Named(FilesWriter):
    """Writes pages whose list of contents has the cells' names."""

    def write(self, output: str, *how: Any, **more: Any) -> Any:
        """As nbconvert's."""
        return super().write(UNNAMED.sub(r"\1\2</a>", output), *how, **more)


class PageWriter(GenerateFeedback):  # type: ignore[misc]
    """Writes a chapter's feedback pages; each gets the time of the notebook that it shows, so a
    page that was cut short, or is of an older notebook, can be told by its time."""

    def __init__(self, root: Path, chapter: str) -> None:
        nbgrader = api(Course(root))
        super().__init__(coursedir=nbgrader.coursedir, parent=nbgrader, force=True)
        self.coursedir.assignment_id = chapter
        # Any but "*", for which nbgrader removes a student's whole folder before it writes a page.
        self.coursedir.notebook_id = "?*"
        self.writer = Named(parent=self, config=self.config)
        self.exporter = self.exporter_class(parent=self, config=self.config)
        for each in self.preprocessors:
            self.exporter.register_preprocessor(each)

    def write(self, student: str) -> str:
        """Write the pages of one student: "", or what nbgrader's log says of a failure."""
        folder = self._format_source(self.coursedir.assignment_id, student)
        found = sorted(glob.glob(os.path.join(glob.escape(folder), "*.ipynb")))
        self.assignments = {folder: found}
        said = io.StringIO()
        heard = logging.StreamHandler(said)
        before = os.getcwd()
        self.log.addHandler(heard)
        os.chdir(self.coursedir.root)
        try:
            with within(pages.SECONDS, pages.TOO_SLOW):
                self.convert_notebooks()
        except (NbGraderException, TimeoutError) as error:
            return said.getvalue() or str(error)
        finally:
            os.chdir(before)
            self.log.removeHandler(heard)
        return ""

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """As nbgrader's, with the page's time set."""
        shown = os.stat(notebook_filename).st_mtime_ns  # before it is read: another run may write
        super().convert_single_notebook(notebook_filename)
        page = Path(self.writer.build_directory, Path(notebook_filename).stem)
        os.utime(f"{page}{self.exporter.file_extension}", ns=(shown, shown))
