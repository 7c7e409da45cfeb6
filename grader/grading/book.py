"""What the gradebook and the autograded notebooks say: scores and named mistakes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry

from ..build.release import api
from ..course import Chapter, Course
from ..display.show import VERDICT
from ..engine import preflight
from ..engine.journal import Journal
from ..engine.outcome import FAULT
from ..engine.printable import printable


@dataclass(frozen=True)
class Cell:
    """One graded cell of one student."""

    score: float
    most: float
    outcome: str = ""
    mistake: str | None = None


@dataclass
class Row:
    """A student's chapter: exercise to part to graded cell; penalty: points off for lateness;
    fault: why the last run could not grade it as it should be, if it could not; notes: what else
    it noted, attempts at tampering among it."""

    student: str
    cells: dict[str, dict[str, Cell]] = field(default_factory=dict)
    penalty: float = 0.0
    fault: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def score(self) -> float:
        """The sum over all cells, less the penalty: what nbgrader exports."""
        earned = sum(cell.score for parts in self.cells.values() for cell in parts.values())
        return max(0.0, earned - self.penalty) if self.penalty else earned

    def of(self, exercise: str) -> tuple[float, float]:
        """Points earned and points possible of an exercise."""
        parts = self.cells.get(exercise, {}).values()
        return sum(c.score for c in parts), sum(c.most for c in parts)

    def mistakes(self, exercise: str) -> list[str]:
        """What was recognised in an exercise, each thing once."""
        parts = self.cells.get(exercise, {}).values()
        said = [c.mistake or _NO_MISTAKE.get(c.outcome, "") for c in parts]
        return list(dict.fromkeys(word for word in said if word))


STOPPED = "the run was stopped before its end; grader grade carries on"
OUTCOMES = ("pass", "fail", "error", "unattempted")
_NO_MISTAKE = {"error": "raised", "unattempted": "not attempted", "fail": "wrong"}


def rows(course: Course, chapter: Chapter, only: Collection[str] | None = None) -> list[Row]:
    """A row per student who submitted the chapter (or of those in `only`), in order of their ids.
    CourseError or SQLAlchemyError where the gradebook cannot be read."""
    place = api(course).coursedir
    with _submissions(place, chapter) as submissions:
        wanted = [s for s in submissions if only is None or s.student_id in only]
        found = [_row(place, chapter, s) for s in wanted]
        known = {s.student_id for s in submissions}
    journal = Journal(course.root)
    for student in chapter.students:  # one whose name no gradebook takes is not left out either
        lost = student not in known and journal.ended(chapter.name, student).state == FAULT
        if lost and (only is None or student in only):
            found.append(Row(student))
    found.sort(key=lambda row: row.student)
    for row in found:
        row.fault = journal.ended(chapter.name, row.student).reason
        row.notes = journal.notes(chapter.name, row.student)
        if journal.unfinished(chapter.name, row.student):
            row.fault = STOPPED
    return found


def graded(course: Course, chapter: Chapter) -> bool:
    """Whether the gradebook knows anybody who submitted the chapter. Raises as `rows` does."""
    with _submissions(api(course).coursedir, chapter) as submissions:
        return bool(submissions)


@contextmanager
def _submissions(place: Any, chapter: Chapter) -> Iterator[list[Any]]:
    """The gradebook's submissions of a chapter, while it is open; none where there is none: to
    look is not to make one. `place` is nbgrader's CourseDirectory."""
    preflight.check_gradebook(place.db_url)
    file = preflight.gradebook_file(place.db_url)
    if file and not Path(file).exists():
        yield []
        return
    with Gradebook(place.db_url, place.course_id) as book:
        try:
            found = list(book.assignment_submissions(chapter.name))
        except MissingEntry:
            found = []
        yield found


def _row(place: Any, chapter: Chapter, submission: Any) -> Row:
    row = Row(submission.student_id)
    folder = place.format_path(place.autograded_directory, row.student, chapter.name)
    for notebook in submission.notebooks:
        said = verdicts(Path(folder) / f"{notebook.name}.ipynb")
        row.penalty += notebook.late_submission_penalty or 0.0
        for grade in notebook.grades:
            exercise, _, part = grade.name.rpartition("-")
            outcome, mistake = said.get(grade.name, ("", None))
            cell = Cell(grade.score or 0.0, grade.max_score, outcome, mistake)
            # Ids are unique in one notebook; a chapter may have several.
            part = part if notebook.name == chapter.name else f"{notebook.name}: {part}"
            row.cells.setdefault(exercise, {})[part] = cell
    return row


def verdicts(path: Path) -> dict[str, tuple[str, str | None]]:
    """Grade id to outcome and mistake, from the verdicts in a graded notebook's outputs."""
    if not path.is_file():
        return {}
    try:
        return dict(_verdicts(nbformat.read(path, as_version=4)))
    except Exception:  # whatever somebody has made of that file: the scores are in the gradebook
        return {}


def _verdicts(book: Any) -> Iterator[tuple[str, tuple[str, str | None]]]:
    for cell in book.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        shown = [output.data[VERDICT] for output in cell.get("outputs", ())
                 if VERDICT in output.get("data", {})]  # fmt: skip
        found = [each for each in map(_verdict, shown) if each is not None]
        # The last verdict counts: the hidden check, on fresh inputs, comes after the visible one.
        if name and found:
            yield name, found[-1]


def _verdict(said: Any) -> tuple[str, str | None] | None:
    """Outcome and mistake; None for what no judge has said: any output may have that type."""
    if not isinstance(said, Mapping) or said.get("outcome") not in OUTCOMES:
        return None
    mistake = said.get("mistake")
    return said["outcome"], printable(mistake, 80) if isinstance(mistake, str) else None
