"""The judge of a notebook: questions before the run, verdicts and graded outputs after it.

Lives on the trusted side only. The points of a judged cell follow from the verdicts on what the
master copy of that cell checks; what the child printed there decides nothing.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from grader.course import CourseError
from grader.engine import checks, frames, outputs
from grader.engine.outcome import Ruling
from grader.engine.work import Job, Question, Result

KEY_FILE = ".course_key"
KEY_BYTES = 32  # at least


@dataclass
class Judged:
    """One judged cell: its index, its master copy's calls and the plans behind the questions."""

    grade_id: str
    most: float
    master: str
    calls: tuple[checks.Call, ...]
    plans: list[Any] = field(default_factory=list)


def course_key(root: Path) -> bytes:
    """The course's secret, made at first use; readable by its owner only. CourseError where it
    cannot be read, or is too short to be one."""
    path = root / KEY_FILE
    if not path.exists():
        _make_key(path)
    try:
        key = path.read_bytes()
    except OSError as error:
        raise CourseError(
            f"the course's key {path} cannot be read ({error.strerror}): who grades must own it, "
            "or be of its group, where that may read it (chmod g+r)"
        ) from error
    if len(key.strip()) < KEY_BYTES:
        raise CourseError(
            f"{path} holds no key: put it back from a backup, or remove it for a new one, with "
            "which everybody gets other hidden inputs"
        )
    return key


def _make_key(path: Path) -> None:
    """Whole or not at all, and once, whoever else makes one."""
    with tempfile.TemporaryDirectory(prefix=KEY_FILE, dir=path.parent) as folder:
        made = Path(folder, path.name)
        made.touch(0o600)
        made.write_text(secrets.token_hex(KEY_BYTES))
        with suppress(FileExistsError):
            try:
                os.link(made, path)
            except FileExistsError:
                raise
            except OSError:  # exFAT and some network folders know no hard links
                with open(path, "xb", opener=partial(os.open, mode=0o600)) as file:
                    file.write(made.read_bytes())


class Judge:
    """Plans and settles the judged cells of one student's notebook.

    `masters` maps grade ids to the master copies of cells (with hidden tests, between `marks`).
    """

    def __init__(
        self, root: Path, student: str, masters: dict[str, str], marks: checks.Marks = checks.MARKS
    ) -> None:
        from grader.course import Course

        self.marks = marks
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
                job.sources[at] = checks.visible(master, self.marks)
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
        outputs.silence(result.notebook)
        for at, judged in self.cells.items():
            replies = result.replies.get(at, [])
            verdicts = [
                decide(plan, replies[i] if i < len(replies) else None, result)
                for i, plan in enumerate(judged.plans)
            ]
            outputs.write(result.notebook.cells[at], judged, verdicts)
            rulings += [_ruling(judged, call, verdict) for call, verdict in
                        zip(judged.calls, verdicts, strict=True)]  # fmt: skip
        return rulings


def _packed(plan: Any) -> bytes:
    from grader.probe import wire

    return wire.pack_request(plan.request)


def decide(plan: Any, reply: bytes | None, result: Result) -> Any:
    """The verdict on one raw reply; never raises, whatever the reply holds."""
    if reply is None:
        reason = result.fault[1] if result.fault else "no answer"
        return outputs.NoVerdict(f"not judged: {reason}")
    try:
        head, parts = frames.unpack_parts(reply)
        for name in head.get("replaced", [])[:50]:
            note = f"replaced in the student's process: {str(name)[:100]}"
            if note not in result.notes:
                result.notes.append(note)
        if head.get("ok") is not True:
            return outputs.NoVerdict(_no_answer(str(head.get("name")), str(head.get("text"))))
        from grader.probe import wire

        observation = wire.unpack_observation(parts[0])
    except Exception as error:
        result.notes.append(f"tampering: an answer that no probe gives: {_said(error)}")
        return outputs.NoVerdict("the answer could not be read")
    try:
        return plan.decide(observation)
    except Exception as error:  # a mistake in reference.py, or an answer nobody has thought of
        result.notes.append(f"an answer could not be judged: {_said(error)}")
        return outputs.NoVerdict("the answer could not be judged")


def _no_answer(name: str, text: str) -> str:
    if name == "KeyboardInterrupt":
        return "interrupted: the answer took too long"
    return f"{name[:80]}: {text[:300]}"


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def _ruling(judged: Judged, call: checks.Call, verdict: Any) -> Ruling:
    return Ruling(judged.grade_id, call.exercise, call.part, verdict.outcome, verdict.mistake,
                  verdict.headline, float(verdict.fraction))  # fmt: skip
