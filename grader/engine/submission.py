"""A submission's way through nbgrader's stages, before and after its notebooks run."""

from __future__ import annotations

import os
from pathlib import Path
from traceback import walk_tb
from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter
from nbgrader.utils import remove, rmtree

from grader.course import CourseError
from grader.engine import checks, intake, opening, pages, trouble
from grader.engine.execute import EngineExecute
from grader.engine.judging import Judge
from grader.engine.once import Preprocessors, written
from grader.engine.printable import printable
from grader.engine.submitted import Part, Submission
from grader.engine.work import Job, Result

# What these do has to do with the course's files alone, and with no student's.
INSTRUCTORS = (EngineExecute._judge, Judge._plan, checks.calls.__wrapped__)
MOST_NOTES = 10  # on files that are not opened


class Stages(Autograde):  # type: ignore[misc]
    """nbgrader's Autograde, its two conversions split around the run. Used by one thread."""

    execute: EngineExecute
    halves: Preprocessors

    def sanitise(self, submission: Submission) -> None:
        """Everything before the run. Raises for what concerns the submission as a whole; a
        notebook that cannot be opened is that notebook's fault only."""
        self._check_names(submission)
        self.notebooks = list(submission.notebooks)
        with intake.only_plain_files(self.execute.all_limits):
            self.init_assignment(submission.assignment, submission.student)
        if submission.zeroed:
            self.ledger.forgive(submission.assignment, submission.student, submission.zeroed)
        self._sanitizing = True
        for path in self.notebooks:
            name = os.path.splitext(os.path.basename(path))[0]
            try:
                if os.path.basename(path) in submission.refused:
                    raise intake.Refused(submission.refused[os.path.basename(path)])
                submission.parts.append(self._open(path, name, submission))
            except Exception as error:
                if trouble.stops(error):
                    raise
                about = "" if isinstance(error, intake.Refused) else f"{name}.ipynb: "
                reason = about + trouble.reason(error)
                self.fail_notebook(submission, name, "unreadable", reason)

    def _check_names(self, submission: Submission) -> None:
        named = {os.path.basename(path) for path in submission.notebooks}  # told as faults
        notes = [printable(why) for name, why in submission.refused.items() if name not in named]
        more = [f"and {len(notes) - MOST_NOTES} more files"] if len(notes) > MOST_NOTES else []
        folder, known = Path(submission.folder), self.ledger.notebooks(submission.assignment) or []
        more += intake.check_names(folder, submission.notebooks, known)
        submission.outcome.notes += notes[:MOST_NOTES] + more
        submission.zeroed |= {
            name for name in known if not os.path.lexists(folder / f"{name}.ipynb")
        }

    def fail_notebook(self, submission: Submission, name: str, kind: str, reason: str) -> None:
        """Record a notebook that could not run at all: its old scores do not stay."""
        submission.fault(kind, reason)
        self.clear(submission, name, printable(reason))

    def clear(self, submission: Submission, name: str | None, reason: str) -> None:
        """Zero the scores of one notebook, or of all (None)."""
        assignment, student = submission.assignment, submission.student
        submission.zeroed |= set(self.ledger.fail(assignment, student, name, reason))

    def forget_feedback(self, submission: Submission) -> None:
        """Remove the pages that still tell scores which are gone."""
        told = submission.outcome
        folder = self.coursedir.format_path(
            self.coursedir.feedback_directory, told.student, told.assignment
        )
        told.notes += pages.forget(folder, sorted(submission.zeroed))
        told.notes = [printable(note) for note in told.notes]

    def _open(self, path: str, name: str, submission: Submission) -> Part:
        resources = self.init_single_notebook_resources(path)
        nb = opening.read(Path(path))
        full = {**self.exporter._init_resources(resources)}
        full["metadata"] = {**full.get("metadata", {}), "name": name}
        nb, full = self.halves.apply("sanitise", self.sanitize_preprocessors, nb, full)
        submission.outcome.notes += full.pop("grader_notes", [])
        place = self._format_dest(submission.assignment, submission.student)
        os.makedirs(place, exist_ok=True)
        full["metadata"]["path"] = place
        return Part(name, full, *self._prepare_part(nb, full))

    def _prepare_part(self, nb: NotebookNode, resources: Any) -> tuple[Job, Judge | None]:
        """Job and judge. CourseError where the course's own files stand in the way."""
        try:
            return self.execute.prepare(nb, resources)
        except Exception as error:
            if trouble.stops(error) or not _within(error, *INSTRUCTORS):
                raise
            raise CourseError(
                f"the course is not in order: {trouble.reason(error)}; no score was changed"
            ) from error

    def record(self, submission: Submission, results: list[Result]) -> None:
        """Everything after the run: outputs, scores, penalties, the autograded file."""
        self._sanitizing = False
        for part, result in zip(submission.parts, results, strict=True):
            self._finish(submission, part, result)
        self._sanitizing = True
        if submission.outcome.kind == "unreadable":
            self.discard(submission)  # nbgrader's rule: what is incomplete is not left lying there
        else:
            self.set_permissions(submission.assignment, submission.student)
        self.note_marks(submission)

    def _finish(self, submission: Submission, part: Part, result: Result) -> None:
        nb, resources = self.execute.finish(result, part.judge, part.resources)
        told = submission.outcome
        told.rulings += resources.pop("grader")["rulings"]
        told.notes += result.notes
        told.seconds += result.seconds
        if result.fault:
            submission.fault(result.fault[0], f"{part.name}.ipynb: {result.fault[1]}")
        wanted = [each for each in self.autograde_preprocessors if not is_engine(each)]
        nb, resources = self.halves.apply("record", wanted, nb, resources)
        grades = [_grade(cell) for cell in nb.cells if utils.is_grade(cell)]
        self.write_single_notebook(written(nb) + "\n", resources)
        told.score += sum(score for score, _ in grades)
        told.most += sum(most for _, most in grades)

    def note_marks(self, submission: Submission) -> None:
        """Say what else makes the score than the answers, whose worth `Outcome.score` is."""
        whose = submission.assignment, submission.student
        if lost := self.ledger.penalty(*whose):
            submission.outcome.notes.append(f"late: {lost:g} points off")
        if given := self.ledger.by_hand(*whose):
            submission.outcome.notes.append(f"scores given by hand stay, look again: {given}")

    def discard(self, submission: Submission) -> None:
        """Remove what a failed or killed run left of a submission in autograded/."""
        place = os.path.normpath(self._format_dest(submission.assignment, submission.student))
        if not os.path.isdir(place) or os.path.islink(place):
            return
        if self.coursedir.notebook_id == "*":
            rmtree(place)
            return
        for path in submission.notebooks:
            graded = os.path.join(place, os.path.basename(path))
            if os.path.exists(graded):
                remove(graded)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Not used: `sanitise` and `record` are its two halves."""
        raise NotImplementedError(BaseConverter.convert_single_notebook.__qualname__)


def is_engine(preprocessor: Any) -> bool:
    """Whether an entry of `autograde_preprocessors` is this engine's."""
    if isinstance(preprocessor, str):
        return preprocessor.rpartition(".")[2] == EngineExecute.__name__
    return isinstance(preprocessor, type) and issubclass(preprocessor, EngineExecute)


def _within(error: BaseException, *functions: Any) -> bool:
    """Whether `error` was raised inside one of `functions`."""
    codes = [function.__code__ for function in functions]
    return any(frame.f_code in codes for frame, _ in walk_tb(error.__traceback__))


def _grade(cell: NotebookNode) -> tuple[float, float]:
    try:
        score, most = utils.determine_grade(cell)
    except (ValueError, KeyError):
        return 0.0, 0.0
    return float(score or 0), float(most)
