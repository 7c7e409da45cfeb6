"""nbgrader's Autograde converter, parallel and unstoppable: a batch goes on whatever one does.

Sanitising and recording happen in this thread, one submission at a time; only the notebooks run in
between, many at once. Each submission is committed by itself, so a killed run is carried on.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from pathlib import Path

from nbgrader.api import InvalidEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from sqlalchemy.exc import SQLAlchemyError
from traitlets import Integer

from grader.engine import outcome, trouble
from grader.engine.environment import grading_environment
from grader.engine.execute import EngineExecute
from grader.engine.executor import Executor, LocalExecutor, cores
from grader.engine.formats import checked_quickly
from grader.engine.found import Found
from grader.engine.host import ZygoteError
from grader.engine.journal import Busy, Journal
from grader.engine.ledger import Ledger
from grader.engine.once import Preprocessors
from grader.engine.outcome import Outcome
from grader.engine.submission import Submission, is_engine
from grader.engine.work import Result, Unsafe

Watch = Callable[[Outcome], None]
Running = dict[Future[list[Result]], Submission]


class EngineAutograde(Found):
    """Drop-in for nbgrader's Autograde."""

    jobs = Integer(0, help="Submissions at once; 0 means one per core.").tag(config=True)
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
        self.execute = EngineExecute(parent=self.exporter)
        self.halves = Preprocessors(self.exporter)
        self.journal = Journal(Path(self.coursedir.root))
        try:
            with ExitStack() as stack:
                stack.enter_context(self.journal.locked())
                self._check_writable()
                self.ledger = Ledger(self.coursedir.db_url, self.coursedir.course_id)
                stack.callback(self.ledger.close)
                stack.enter_context(self.ledger.installed())
                stack.enter_context(checked_quickly())
                stack.enter_context(grading_environment())
                self._run(done)
        except (Busy, Unsafe, ZygoteError, SQLAlchemyError, InvalidEntry, OSError) as error:
            self.log.error("%s", trouble.advice(error))
            raise NbGraderException(trouble.advice(error)) from error
        self.stopped = False
        faults = [each for each in done.outcomes if each.state == outcome.FAULT]
        for each in faults:
            self.log.error("%s, %s: %s", each.assignment, each.student, each.reason)
        if any(each.kind != "missing" for each in faults):
            raise NbGraderException(f"{len(faults)} submissions have a fault recorded")

    def _check_writable(self) -> None:
        place = self.coursedir.autograded_directory
        if os.path.isdir(place) and not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place)

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
        return self.jobs or cores()

    def _begin(
        self, submission: Submission, executor: Executor, running: Running, done: outcome.Run
    ) -> None:
        """Sanitise and hand over to the executor, or end it here."""
        assignment, student = submission.assignment, submission.student
        if self.journal.unfinished(assignment, student):
            self.discard(submission)
        self.notebooks = submission.notebooks
        try:
            if not self._wanted(assignment, student):
                self._tell(Outcome(assignment, student, outcome.SKIPPED), done)
                return
            self.journal.add(assignment, student, "begun")
            if not submission.notebooks:
                submission.fault("missing", "no notebook was submitted")
            self._tell(Outcome(assignment, student, outcome.STARTED), None)
            self.run_pre_convert_hook()
            self.sanitise(submission)
            self.ledger.commit()
        except (Exception, SystemExit) as error:
            if trouble.stops(error):
                raise
            self._fail(submission, trouble.reason(error), done)
            return
        running[executor.submit([part.job for part in submission.parts])] = submission

    def _wanted(self, assignment: str, student: str) -> bool:
        return bool(self.init_destination(assignment, student))

    def _end(self, submission: Submission, future: Future[list[Result]], done: outcome.Run) -> None:
        """Record one submission that ran."""
        if isinstance(lost := future.exception(), OSError):
            raise lost  # the way to the workers is broken
        try:
            self.record(submission, future.result())
            self.ledger.commit()
        except Exception as error:
            if trouble.stops(error):
                raise
            self._fail(submission, trouble.reason(error), done)
            return
        self.run_post_convert_hook()
        self._close(submission, done)

    def _fail(self, submission: Submission, reason: str, done: outcome.Run) -> None:
        """A submission that could not be graded at all: recorded, its old scores gone."""
        self.ledger.rollback()
        submission.fault("failed", reason)
        try:
            self.ledger.fail(submission.assignment, submission.student, None, reason)
            self.ledger.commit()
        except Exception as error:  # no such assignment, or a name that no database takes
            self.ledger.rollback()
            if trouble.stops(error):
                raise
        self.discard(submission)
        self._close(submission, done)

    def _close(self, submission: Submission, done: outcome.Run) -> None:
        told = submission.outcome.as_dict()
        for name in ("assignment", "student"):
            told.pop(name)
        self.journal.add(submission.assignment, submission.student, "done", **told)
        self._tell(submission.outcome, done)

    def _tell(self, told: Outcome, done: outcome.Run | None) -> None:
        if done is not None:
            done.outcomes.append(told)
        if self.watch is not None:
            self.watch(told)
