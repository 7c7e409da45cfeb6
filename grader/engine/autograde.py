"""nbgrader's Autograde converter, parallel and unstoppable: a batch goes on whatever one does.

Sanitising and recording happen in this thread, one submission at a time; only the notebooks run in
between, many at once. Each submission is committed by itself, so a killed run is carried on.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from pathlib import Path

from nbgrader.api import InvalidEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from sqlalchemy.exc import SQLAlchemyError
from traitlets import Integer, TraitError

from grader.course import CourseError
from grader.engine import intake, outcome, trouble
from grader.engine.environment import grading_environment
from grader.engine.execute import EngineExecute
from grader.engine.executor import Executor, LocalExecutor, at_once
from grader.engine.formats import checked_quickly
from grader.engine.found import Found
from grader.engine.host import ZygoteError
from grader.engine.journal import Busy, Journal
from grader.engine.ledger import Ledger
from grader.engine.once import Preprocessors
from grader.engine.outcome import Outcome
from grader.engine.submission import is_engine
from grader.engine.submitted import Submission
from grader.engine.work import Result, Unsafe

Watch = Callable[[Outcome], None]
Running = dict[Future[list[Result]], Submission]
LEFT_OUT = "left out by c.CourseDirectory.student_id_exclude"
STOPS = (Busy, CourseError, Unsafe, ZygoteError, SQLAlchemyError, InvalidEntry, OSError, TraitError)


class EngineAutograde(Found):
    """Drop-in for nbgrader's Autograde."""

    jobs = Integer(0, help="Submissions at once; 0: one per core, and per GiB.").tag(config=True)
    watch: Watch | None = None
    executor: Executor | None = None
    stopped = True  # whether the run ended before its last submission

    def start(self) -> None:
        """As nbgrader's; and without this engine among the preprocessors, nbgrader's own."""
        if not any(map(is_engine, self.autograde_preprocessors)):
            Autograde(coursedir=self.coursedir, parent=self.parent).start()
            return
        super().start()

    def convert_notebooks(self) -> None:
        """Grade what `init_notebooks` found. Raises NbGraderException if any has a fault."""
        done = outcome.Run()
        try:
            with ExitStack() as stack:
                self._prepare(stack)
                self._run(done)
        except STOPS as error:
            self.log.error("%s", trouble.advice(error))
            raise NbGraderException(trouble.advice(error)) from error
        self.stopped = False
        for each in done.outcomes:
            if each.state != outcome.SKIPPED:
                for note in each.notes:
                    self.log.warning("%s, %s: %s", each.assignment, each.student, note)
        faults = [each for each in done.outcomes if each.state == outcome.FAULT]
        for each in faults:
            self.log.error("%s, %s: %s", each.assignment, each.student, each.reason)
        if any(each.kind != "missing" for each in faults):
            raise NbGraderException(f"{len(faults)} submissions have a fault recorded")

    def _prepare(self, stack: ExitStack) -> None:
        """Open what a run needs. Raises for whatever of it is not in order."""
        self.execute = EngineExecute(parent=self.exporter)
        self.halves = Preprocessors(self.exporter)
        self.journal = Journal(Path(self.coursedir.root))
        stack.enter_context(self.journal.locked())
        self.check_setup()
        self.ledger = Ledger(self.coursedir.db_url, self.coursedir.course_id)
        stack.callback(self.ledger.close)
        stack.enter_context(self.ledger.installed())
        self.ledger.check_assignment(self.coursedir.assignment_id)
        stack.enter_context(checked_quickly())
        stack.enter_context(grading_environment())

    def _run(self, done: outcome.Run) -> None:
        executor = self.executor
        if executor is None:
            self.execute.zygote().launch()  # warms up while the first are sanitised
            executor = LocalExecutor(self.execute.zygote, self.workers)
        running: Running = {}
        waiting = self.submissions()
        try:
            more = True
            while more or running:
                while more and len(running) < executor.jobs + 1:
                    submission = next(waiting, None)
                    more = submission is not None
                    if submission is not None:
                        self._begin(submission, executor, running, done)
                if running:
                    ended, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in ended:
                        self._end(running.pop(future), future, done)
        except BaseException:
            executor.close(now=True)
            raise
        executor.close()

    @property
    def workers(self) -> int:
        """How many children run at once."""
        return self.jobs or at_once()

    def _begin(
        self, submission: Submission, executor: Executor, running: Running, done: outcome.Run
    ) -> None:
        """Sanitise and hand over to the executor, or end it here."""
        assignment, student = submission.assignment, submission.student
        if self.journal.unfinished(assignment, student):
            self.discard(submission)
        self.notebooks = submission.notebooks
        try:
            wanted = self.wanted(submission)
        except Exception as error:
            self._fail(submission, error, done)
            return
        if not wanted:
            self._tell(self._earlier(assignment, student), done)
            return
        self.journal.add(assignment, student, "begun")
        self._tell(Outcome(assignment, student, outcome.STARTED), None)
        try:
            self.run_pre_convert_hook()
            self.sanitise(submission)
            self.ledger.commit()
        except Exception as error:
            self._fail(submission, error, done)
            return
        running[executor.submit([part.job for part in submission.parts])] = submission

    def _earlier(self, assignment: str, student: str) -> Outcome:
        """The outcome of one that is not graded now."""
        if not self.excluded(student):
            return self.journal.ended(assignment, student)
        return Outcome(assignment, student, outcome.SKIPPED, outcome.EXCLUDED, notes=[LEFT_OUT])

    def _end(self, submission: Submission, future: Future[list[Result]], done: outcome.Run) -> None:
        """Record one submission that ran."""
        if isinstance(lost := future.exception(), OSError):
            raise lost  # the way to the workers is broken
        try:
            self.record(submission, future.result())
            self.ledger.commit()
        except Exception as error:
            self._fail(submission, error, done)
            return
        self.run_post_convert_hook()
        self._close(submission, done)

    def _fail(self, submission: Submission, error: BaseException, done: outcome.Run) -> None:
        """A submission that could not be graded at all: recorded, its old scores gone. Raises
        `error` again if it is not the submission's."""
        if trouble.stops(error):
            raise error
        self.ledger.rollback()
        submission.fault(intake.kind_of(error), trouble.reason(error))
        try:
            self.clear(submission, None, submission.outcome.reason)
            self.ledger.commit()
        except Exception as again:  # no such assignment, or a name that no database takes
            self.ledger.rollback()
            if trouble.stops(again):
                raise
        self.discard(submission)
        self._close(submission, done)

    def _close(self, submission: Submission, done: outcome.Run) -> None:
        self.forget_feedback(submission)
        told = submission.outcome.as_dict()
        for name in ("assignment", "student"):
            told.pop(name)
        told["digest"] = submission.digest
        self.journal.add(submission.assignment, submission.student, "done", **told)
        self._tell(submission.outcome, done)

    def _tell(self, told: Outcome, done: outcome.Run | None) -> None:
        if done is not None:
            done.outcomes.append(told)
        if self.watch is not None:
            self.watch(told)
