"""What a run tells whoever watches it: plain data, ready for JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

STARTED, GRADED, FAULT, SKIPPED = "started", "graded", "fault", "skipped"
TOO_LATE = "timed out"  # how a note begins on what was interrupted, while the rest went on
EXCLUDED = "excluded"  # the kind of one that is skipped because nbgrader is to leave it out


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
class Outcome:
    """One submission. state: "started", "graded", "fault" (with a reason) or "skipped".

    A fault's submission may still have scores (the notebooks, or the cells, that ran).
    """

    assignment: str
    student: str
    state: str
    kind: str = ""
    reason: str = ""
    score: float = 0.0
    most: float = 0.0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    rulings: list[Ruling] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """JSON-friendly."""
        return asdict(self)


@dataclass
class Run:
    """What a run begins with, and what it has done."""

    total: int = 0
    sandbox: str = ""
    outcomes: list[Outcome] = field(default_factory=list)
    interrupted: bool = False
    unseen: str = ""  # why the watching ended before the run did
    warnings: list[str] = field(default_factory=list)  # what is missing beside the scores

    def count(self, state: str) -> int:
        """How many submissions ended in `state`."""
        return sum(outcome.state == state for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """0: all graded (or already were); 1: some have a fault recorded, or lack feedback."""
        return 1 if self.interrupted or self.count(FAULT) or self.warnings else 0
