"""One student's submission as a run knows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grader.engine import outcome
from grader.engine.judging import Judge
from grader.engine.outcome import Outcome
from grader.engine.printable import printable
from grader.engine.work import Job


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
    refused: dict[str, str] = field(default_factory=dict)  # files that are not opened, and why
    zeroed: set[str] = field(default_factory=set)  # notebooks whose scores, and pages, went
    digest: str | None = None  # of what was handed in, where all of it is graded
    outcome: Outcome = field(init=False)

    def __post_init__(self) -> None:
        self.outcome = Outcome(self.assignment, self.student, outcome.GRADED)

    def fault(self, kind: str, reason: str) -> None:
        """Note a fault; the first one names the outcome, the others become notes."""
        reason = printable(reason)
        if self.outcome.state == outcome.FAULT:
            self.outcome.notes.append(f"{kind}: {reason}")
        self.outcome.state = outcome.FAULT
        self.outcome.kind = self.outcome.kind or kind
        self.outcome.reason = self.outcome.reason or reason
