"""The judge of a notebook: questions before the run, verdicts and graded outputs after it.

Lives on the trusted side only. The points of a judged cell follow from the verdicts on what the
master copy of that cell checks; what the child printed there decides nothing.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from grader.engine import checks, frames
from grader.engine.client import error_output
from grader.engine.work import Job, Question, Result

KEY_FILE = ".course_key"


@dataclass(frozen=True)
class Ruling:
    """A verdict on one check of one graded cell, as the record keeps it."""

    grade_id: str
    exercise: str
    part: str | None
    outcome: str
    mistake: str | None
    headline: str
    fraction: float


@dataclass
class Judged:
    """One judged cell: its index, its master copy's calls and the plans behind the questions."""

    grade_id: str
    most: float
    master: str
    calls: tuple[checks.Call, ...]
    plans: list[Any] = field(default_factory=list)


def course_key(root: Path) -> bytes:
    """The course's secret, made at first use; readable by its owner only."""
    path = root / KEY_FILE
    with suppress(FileExistsError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(fd, "wb") as file:
            file.write(secrets.token_hex(32).encode())
    return path.read_bytes()


class Judge:
    """Plans and settles the judged cells of one student's notebook.

    `masters` maps grade ids to the master copies of cells (with hidden tests).
    """

    def __init__(self, root: Path, student: str, masters: dict[str, str]) -> None:
        from grader.course import Course

        self.course, self.student, self.masters = Course(root), student, masters
        self.key = course_key(root)
        self.cells: dict[int, Judged] = {}
        self.planned: dict[str, Any] = {}  # one plan serves all parts of an exercise

    def prepare(self, job: Job) -> None:
        """Put questions and hidden-free sources into the job. Raises what `judge.plan` raises for
        a course that is not in order: that is the instructor's to mend, not the student's."""
        for at, cell in enumerate(job.notebook.cells):
            meta = cell.metadata.get("nbgrader", {})
            master = self.masters.get(meta.get("grade_id", ""), "")
            if cell.cell_type != "code" or not meta.get("grade") or meta.get("solution"):
                continue
            job.never_skip |= {at}
            calls = checks.calls(master)
            if calls:
                judged = Judged(meta["grade_id"], float(meta["points"]), master, calls)
                self._plan(judged)
                self.cells[at] = judged
                job.sources[at] = checks.visible(master)
                job.questions[at] = [
                    Question(call.expression, _packed(plan))
                    for call, plan in zip(calls, judged.plans, strict=True)
                ]

    def _plan(self, judged: Judged) -> None:
        from grader import judge

        for call in judged.calls:
            if call.exercise not in self.planned:
                seed = judge.seed_for(self.key, self.student, call.exercise)
                self.planned[call.exercise] = judge.plan(self.course, call.exercise, None, seed)
            judged.plans.append(replace(self.planned[call.exercise], part=call.part))

    def settle(self, result: Result) -> list[Ruling]:
        """Decide every question and write the graded cells' outputs; the rulings, in order."""
        rulings: list[Ruling] = []
        for at, judged in self.cells.items():
            replies = result.replies.get(at, [])
            verdicts = [
                decide(plan, replies[i] if i < len(replies) else None, result)
                for i, plan in enumerate(judged.plans)
            ]
            _write(result.notebook.cells[at], judged, verdicts)
            rulings += [_ruling(judged, call, verdict) for call, verdict in
                        zip(judged.calls, verdicts, strict=True)]  # fmt: skip
        return rulings


def _packed(plan: Any) -> bytes:
    from grader.probe import wire

    return wire.pack_request(plan.request)


@dataclass(frozen=True)
class NoVerdict:
    """Stands for a verdict where the child gave no answer that could be judged."""

    headline: str
    outcome: str = "error"
    mistake: str | None = None
    fraction: float = 0.0
    passed: bool = False


def decide(plan: Any, reply: bytes | None, result: Result) -> Any:
    """The verdict on one raw reply; never raises, whatever the reply holds."""
    if reply is None:
        reason = result.fault[1] if result.fault else "no answer"
        return NoVerdict(f"not judged: {reason}")
    try:
        head, parts = frames.unpack_parts(reply)
        for name in head.get("replaced", [])[:50]:
            note = f"replaced in the student's process: {str(name)[:100]}"
            if note not in result.notes:
                result.notes.append(note)
        if head.get("ok") is not True:
            return NoVerdict(f"{str(head.get('name'))[:80]}: {str(head.get('text'))[:300]}")
        from grader.probe import wire

        return plan.decide(wire.unpack_observation(parts[0]))
    except Exception as error:
        result.notes.append(f"an answer that no probe gives: {type(error).__name__}: {error}"[:300])
        return NoVerdict("the answer could not be read")


def _ruling(judged: Judged, call: checks.Call, verdict: Any) -> Ruling:
    return Ruling(judged.grade_id, call.exercise, call.part, verdict.outcome, verdict.mistake,
                  verdict.headline, float(verdict.fraction))  # fmt: skip


def _write(cell: NotebookNode, judged: Judged, verdicts: list[Any]) -> None:
    """The outputs nbgrader grades: the child's displays and text, then the judge's word."""
    shown = [_harmless(output) for output in cell.outputs]
    cell.outputs = [output for output in shown if output is not None]
    for verdict in verdicts:
        cell.outputs.extend(_display(verdict))
    if judged.calls[0].points is not None:
        earned = sum((call.points or 0) * min(1.0, max(0.0, verdict.fraction))
                     for call, verdict in zip(judged.calls, verdicts, strict=True))  # fmt: skip
        text = repr(float(min(judged.most, earned)))
        count = cell.execution_count or 1
        cell.outputs.append(
            new_output("execute_result", data={"text/plain": text}, execution_count=count)
        )
        return
    failed = [verdict for verdict in verdicts if not verdict.passed]
    for call, verdict in zip(judged.calls, verdicts, strict=True):
        if verdict in failed:
            where = call.exercise + (f", {call.part}" if call.part else "")
            cell.outputs.append(error_output("CheckFailed", f"{where}: {verdict.headline}"))


def _harmless(output: NotebookNode) -> NotebookNode | None:
    """A child's output without power over the grade; None for what the judge speaks instead."""
    if output.output_type in ("error", "execute_result"):
        return None
    if output.output_type == "stream":
        output.name = "stdout"  # nbgrader gives 0 for a line on stderr
    return output


def _display(verdict: Any) -> list[NotebookNode]:
    if isinstance(verdict, NoVerdict):
        return []
    from grader.display import bundle
    from grader.display.report import report

    return [new_output("display_data", data=bundle(report(verdict, reveal=False)))]
