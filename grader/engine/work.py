"""One notebook as a job: plain data in, plain data out, so that any worker anywhere can run it.

A job holds questions without answers; a result holds the child's outputs and its raw replies to
the questions. Deciding what they are worth stays with the engine (`judging`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from grader.engine import frames, memory, places, sandbox
from grader.engine.client import Ended, ForkClient, error_output
from grader.engine.forked import Process
from grader.engine.host import NotStarted, Zygote, ZygoteError, wait_ready
from grader.engine.limits import Limits

START = "start"  # the kind of fault that is never the submission's: nothing of it has run
MARKER = "GRADER_ENGINE_MARKER"
MESSAGE = 1 << 20  # bytes around files: their names
ADVICE = (
    "`grader doctor` says how to get what is off; grader's --allow-unsandboxed goes on without it, "
    "and for nbgrader c.EngineExecute.allow_unsandboxed = True in nbgrader_config.py"
)


class Unsafe(RuntimeError):
    """Layers of the sandbox are missing and nobody has allowed to go on without."""


@dataclass(frozen=True)
class Question:
    """One check of a graded cell: the expression to look up, the packed request (no answers)."""

    expression: str
    request: bytes


@dataclass
class Job:
    """A notebook to run. `sources` replaces a cell's text (hidden tests are not in it)."""

    notebook: NotebookNode
    limits: Limits
    sources: dict[int, str] = field(default_factory=dict)
    questions: dict[int, list[Question]] = field(default_factory=dict)
    files: bytes = b""
    traits: dict[str, Any] = field(default_factory=dict)
    course: dict[str, str] = field(default_factory=dict)
    never_skip: frozenset[int] = frozenset()
    allow_unsandboxed: bool = False
    skip: bool = False  # --no-execute: hand the notebook back as it is
    fork: bool = True  # what kind of warm process a worker elsewhere is to have,
    tensorflow: bool = True  # whether with TensorFlow in it,
    hidden: list[str] = field(default_factory=list)  # and what must not show in it


@dataclass
class Result:
    """What came of a job. `fault` is (kind, reason) or None; replies are as the child sent them."""

    notebook: NotebookNode
    replies: dict[int, list[bytes | None]] = field(default_factory=dict)
    files: bytes = b""
    fault: tuple[str, str] | None = None
    notes: list[str] = field(default_factory=list)
    layers: list[sandbox.Layer] = field(default_factory=list)
    seconds: float = 0.0


def run(zygote: Zygote, job: Job, wanted: Callable[[], bool] = lambda: True) -> Result:
    """Run a job in a fresh child. Raises ZygoteError (twice no zygote, or no child that starts) or
    Unsafe; whatever the submission does ends up in the result. A job that dies because the warm
    process dies, or before anything of it ran, is run once more (if still `wanted`): that is
    nobody's fault."""
    if job.skip:
        return Result(job.notebook)
    _mark()
    result = _run(zygote, job)
    if result.fault and (result.fault[0] == START or not zygote.alive) and wanted():
        for cell in job.notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = []  # of the run that was lost
        result = _run(zygote, job)
    if result.fault and result.fault[0] == START:
        raise ZygoteError(result.fault[1])
    return result


def _run(zygote: Zygote, job: Job) -> Result:
    started = time.monotonic()
    result = Result(job.notebook)
    with nullcontext() if _namespaced(zygote) else places.Folder("scratch") as scratch:
        process = _spawn(zygote, job, scratch)
        try:
            with memory.guarded(process, job.limits) as guard:
                _converse(process, job, result, guard)
        finally:
            process.kill()
    result.seconds = time.monotonic() - started
    return result


def _mark() -> None:
    """Tests that must know whether the engine ran name a file here."""
    if path := os.environ.get(MARKER):
        with open(path, "a") as file:
            file.write("ran\n")


def _namespaced(zygote: Zygote) -> bool:
    zygote.start()
    return bool(zygote.namespaced)


def _spawn(zygote: Zygote, job: Job, scratch: str | None) -> Process:
    try:
        return zygote.spawn(job.limits, course=job.course, scratch=scratch)
    except ZygoteError:  # it had died: `spawn` starts another
        return zygote.spawn(job.limits, course=job.course, scratch=scratch)


def _converse(process: Process, job: Job, result: Result, guard: memory.Guard) -> None:
    try:
        ready = wait_ready(process, job.limits)
    except NotStarted as error:
        result.fault = (START, str(error))
        return
    result.layers = [*(sandbox.Layer(**layer) for layer in ready["layers"]), memory.layer()]
    if not (job.allow_unsandboxed or sandbox.enough(result.layers)):
        raise Unsafe(f"{sandbox.report(result.layers)}. {ADVICE}")
    client = ForkClient(job.notebook, process, ready["reader"], job.limits, **job.traits)
    job.notebook.metadata["language_info"] = ready["language_info"]
    at = 0
    client.hook("on_notebook_start", notebook=job.notebook)
    try:
        if job.files:
            client.writer.send(frames.FILES, 0, job.files)
        for at, cell in enumerate(job.notebook.cells):
            _cell(client, job, result, at, cell)
        at = len(job.notebook.cells)
        client.reader.left += job.limits.harvest + MESSAGE  # files have a limit of their own
        asked = frames.HARVEST, b"", frames.FILES, job.limits.probe
        result.files = client.ask(*asked, what="the look at its files")
    except Ended as error:
        result.fault = (error.kind, error.reason)
    except OSError:
        result.fault = ("died", "the process ended before it ran a cell")
    result.notes += client.notes
    result.fault = guard.blame(result.fault)
    if result.fault is not None:
        _fill(job, result, at, result.fault[1])
        client.hook("on_notebook_error", notebook=job.notebook)
    client.set_widgets_metadata()
    client.hook("on_notebook_complete", notebook=job.notebook)


def _cell(client: ForkClient, job: Job, result: Result, at: int, cell: NotebookNode) -> None:
    client.hook("on_cell_start", cell=cell, cell_index=at)
    if cell.cell_type != "code":
        return
    source = job.sources.get(at, cell.source)
    tagged = client.skip_cells_with_tag in (cell.metadata.get("tags") or ())
    if source.strip() and (not tagged or at in job.never_skip):
        client.run_cell(cell, at, source)
    for question in job.questions.get(at, []):
        packed = frames.pack_parts({"expression": question.expression}, [question.request])
        replies = result.replies.setdefault(at, [])
        replies.append(client.ask(frames.PROBE, packed, frames.OBSERVATION, job.limits.probe))


def _fill(job: Job, result: Result, at: int, reason: str) -> None:
    """Every code cell from the one at fault on gets an error output: none passes by silence."""
    for index, cell in enumerate(job.notebook.cells[at:], at):
        if cell.cell_type != "code":
            continue
        if index > at:
            cell.outputs = []
        if job.sources.get(index, cell.source).strip():
            cell.outputs.append(error_output("DeadKernelError", reason))
