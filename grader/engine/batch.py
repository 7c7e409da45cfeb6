"""`grade`: a chapter's submissions, from a program. The command line and reports build on it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGrader
from nbgrader.converters.base import NbGraderException
from traitlets.config import Config

from grader.build.release import config as configuration
from grader.course import Course, CourseError
from grader.engine import memory, places, sandbox, trouble, warm
from grader.engine.autograde import EngineAutograde
from grader.engine.execute import EngineExecute
from grader.engine.executor import Executor
from grader.engine.host import NotStarted, Zygote, ZygoteError, wait_ready
from grader.engine.limits import Limits
from grader.engine.outcome import Outcome, Run
from grader.engine.plug import plug


class GradingError(CourseError):
    """Nothing could run, or the run had to stop; the message says why. What is done stays done."""


def grade(
    root: Path,
    chapter: str,
    students: Iterable[str] | None = None,
    *,
    jobs: int = 0,
    force: bool = False,
    allow_unsandboxed: bool = False,
    executor: Executor | None = None,
    watch: Callable[[Outcome], None] | None = None,
) -> Run:
    """Grade `chapter` for `students` (None: all who submitted) of the course at `root`.

    `watch` hears of every submission when it starts, ends or is skipped, in this thread. A
    KeyboardInterrupt stops within seconds and is told by `Run.interrupted`. Raises GradingError
    where nothing could run (unknown chapter, another run, no sandbox) or the gradebook is out of
    reach; the next call carries on. An error of `watch` ends the watching and not the run.
    """
    app = _app(Path(root), allow_unsandboxed)
    run = Run()

    def tell(outcome: Outcome) -> None:
        nonlocal watch
        if outcome.state != "started":
            run.outcomes.append(outcome)
        if watch is not None:
            try:
                watch(outcome)
            except (Exception, SystemExit) as error:  # rich answers a closed pipe with the second
                watch, run.unseen = None, trouble.reason(error)

    app.coursedir.assignment_id = chapter
    converter = EngineAutograde(coursedir=app.coursedir, parent=app, force=force, jobs=jobs)
    converter.watch, converter.executor = tell, executor
    converter.only = None if students is None else frozenset(students)
    try:
        converter.start()
    except KeyboardInterrupt:
        run.interrupted = True
    except NbGraderException as error:
        if converter.stopped:
            raise GradingError(str(error)) from error
    return run


def _app(root: Path, allow_unsandboxed: bool) -> Any:
    """nbgrader's application with the course's own configuration and the engine in it."""
    try:
        configuration(Course(root))  # nbgrader goes on without a file that it cannot read
    except CourseError as error:
        raise GradingError(str(error)) from error
    app = NbGrader()
    before = os.getcwd()
    os.chdir(root)  # nbgrader finds its configuration from the current directory
    try:
        app.initialize([], root=str(root))
    except (Exception, SystemExit) as error:  # nbgrader exits for an option that cannot be
        said = trouble.reason(error.__context__ or error)
        raise GradingError(f"nbgrader_config.py: {said}") from error
    finally:
        os.chdir(before)
    config = Config()
    plug(config)
    if allow_unsandboxed:
        config.EngineExecute.allow_unsandboxed = True
    app.update_config(config)
    app.log_level = logging.CRITICAL  # who calls `grade` is told by `watch`
    return app


def warm_process(root: Path, tensorflow: bool = True) -> Zygote:
    """What submissions of the course at `root` run in, as its configuration has it."""
    warm.ahead(root, tensorflow)
    execute = EngineExecute(parent=_app(root, False))
    execute.tensorflow = execute.tensorflow and tensorflow
    zygote: Zygote = execute.zygote()
    return zygote


def probe_sandbox(root: Path, tensorflow: bool = True) -> list[sandbox.Layer]:
    """The layers that a child of the course's warm process really gets, tried in one. Without
    TensorFlow it is sooner warm; with it, if the course's submissions have it, it is their own."""
    limits = Limits()
    with places.Folder("scratch") as scratch:
        try:
            zygote = warm_process(root, tensorflow)
            zygote.start()
            room = None if zygote.namespaced else scratch
            process = zygote.spawn(limits, course=warm.public_folders(root), scratch=room)
        except (ZygoteError, OSError) as error:
            raise GradingError(trouble.advice(error)) from error
        try:
            found = [sandbox.Layer(**layer) for layer in wait_ready(process, limits)["layers"]]
            return [*found, memory.layer()]
        except NotStarted as error:
            raise GradingError(f"{error}\n{zygote.last_words()}") from error
        except ZygoteError as error:
            raise GradingError(str(error)) from error
        finally:
            process.kill()
