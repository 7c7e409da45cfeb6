"""One submission on its way through nbgrader's stages, before and after its notebooks run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter
from nbgrader.utils import remove, rmtree

from grader.engine import intake, outcome, trouble
from grader.engine.execute import EngineExecute
from grader.engine.judging import Judge
from grader.engine.once import Preprocessors, written
from grader.engine.outcome import Outcome
from grader.engine.work import Job, Result


@dataclass
class Part:
    """One notebook of a submission, sanitised and ready to run."""

    name: str
    resources: Any
    job: Job
    judge: Judge | None


@dataclass
class Submission:
    """One student's folder and its notebooks."""

    assignment: str
    student: str
    folder: str
    notebooks: list[str]
    parts: list[Part] = field(default_factory=list)
    outcome: Outcome = field(init=False)

    def __post_init__(self) -> None:
        self.outcome = Outcome(self.assignment, self.student, outcome.GRADED)

    def fault(self, kind: str, reason: str) -> None:
        """Note a fault; the first one names the outcome, the others become notes."""
        if self.outcome.state == outcome.FAULT:
            self.outcome.notes.append(f"{kind}: {reason}")
        self.outcome.state = outcome.FAULT
        self.outcome.kind = self.outcome.kind or kind
        self.outcome.reason = self.outcome.reason or reason


class Stages(Autograde):  # type: ignore[misc]
    """nbgrader's Autograde, its two conversions split around the run. Used by one thread."""

    execute: EngineExecute
    halves: Preprocessors

    def sanitise(self, submission: Submission) -> None:
        """Everything before the run. Raises for what concerns the submission as a whole; a
        notebook that cannot be opened is that notebook's fault only."""
        limits = self.execute.all_limits
        refused = intake.inspect(Path(submission.folder), limits)
        submission.outcome.notes += list(refused.values())
        self.notebooks = list(submission.notebooks)
        with intake.only_plain_files(limits):
            self.init_assignment(submission.assignment, submission.student)
        self._sanitizing = True
        for path in self.notebooks:
            name = os.path.splitext(os.path.basename(path))[0]
            try:
                if os.path.basename(path) in refused:
                    raise intake.Refused(refused[os.path.basename(path)])
                submission.parts.append(self._open(path, name, submission))
            except Exception as error:
                if trouble.stops(error):
                    raise
                reason = f"{name}.ipynb: {trouble.reason(error)}"
                self.fail_notebook(submission, name, "unreadable", reason)

    def fail_notebook(self, submission: Submission, name: str, kind: str, reason: str) -> None:
        """Record a notebook that could not run at all: its old scores do not stay."""
        submission.fault(kind, reason)
        self.ledger.fail(submission.assignment, submission.student, name, reason)

    def _open(self, path: str, name: str, submission: Submission) -> Part:
        resources = self.init_single_notebook_resources(path)
        with open(path, encoding="utf-8") as file:
            nb = nbformat.read(file, as_version=4)
        full = {**self.exporter._init_resources(resources)}
        full["metadata"] = {**full.get("metadata", {}), "name": name}
        nb, full = self.halves.apply("sanitise", self.sanitize_preprocessors, nb, full)
        submission.outcome.notes += full.pop("grader_notes", [])
        place = self._format_dest(submission.assignment, submission.student)
        os.makedirs(place, exist_ok=True)
        full["metadata"]["path"] = place
        job, judge = self.execute.prepare(nb, full)
        return Part(name, full, job, judge)

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


def _grade(cell: NotebookNode) -> tuple[float, float]:
    try:
        score, most = utils.determine_grade(cell)
    except (ValueError, KeyError):
        return 0.0, 0.0
    return float(score or 0), float(most)
