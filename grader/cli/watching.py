"""A grading run as it goes: a live display on a terminal, a plain log elsewhere, JSON lines."""

from __future__ import annotations

import json
import time
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ..engine.outcome import EXCLUDED, FAULT, GRADED, SKIPPED, STARTED, TOO_LATE, Outcome
from ..engine.printable import printable


class Tally:
    """What has happened so far in a run over `total` submissions."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.began = time.monotonic()
        self.ended: list[Outcome] = []
        self.running: dict[str, float] = {}

    def add(self, outcome: Outcome) -> None:
        """Takes in one event."""
        if outcome.state == STARTED:
            self.running[outcome.student] = time.monotonic()
        else:
            self.running.pop(outcome.student, None)
            self.ended.append(outcome)

    def count(self, state: str) -> int:
        """How many submissions ended so."""
        return sum(outcome.state == state for outcome in self.ended)

    @property
    def timed_out(self) -> int:
        """How many ran into a time limit, as a whole or in part."""
        return sum(
            (o.state == FAULT and "time" in o.kind)
            or any(note.startswith(TOO_LATE) for note in o.notes)
            for o in self.ended
        )

    @property
    def rate(self) -> float:
        """Submissions per minute, those skipped left out."""
        minutes = (time.monotonic() - self.began) / 60
        return (len(self.ended) - self.count(SKIPPED)) / minutes if minutes > 0 else 0.0

    @property
    def slowest(self) -> tuple[str, float] | None:
        """Who has been running longest, and for how many seconds."""
        if not self.running:
            return None
        student = min(self.running, key=lambda name: self.running[name])
        return student, time.monotonic() - self.running[student]

    def line(self) -> str:
        """The counts in words."""
        said = f"{self.count(GRADED)} graded, {self.count(FAULT)} with a fault"
        said += f", {self.timed_out} timed out" if self.timed_out else ""
        left_out = sum(o.kind == EXCLUDED for o in self.ended)
        already = self.count(SKIPPED) - left_out
        said += f", {already} already done" if already else ""
        said += f", {left_out} left out" if left_out else ""
        return f"{said}, {self.rate:.0f} a minute" if self.ended else said


class Watch:
    """Shows a run: use it as a context manager and hand `hear` to the engine."""

    def __init__(self, total: int, out: Console, *, as_json: bool = False) -> None:
        self.tally, self.out, self.as_json = Tally(total), out, as_json
        self.live: Live | None = None
        self.writing = ""
        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("left"))
        self.progress = Progress(*columns, console=out)
        self.bar = self.progress.add_task("", total=total)

    def __enter__(self) -> Watch:
        self.tally.began = time.monotonic()
        if self.out.is_terminal and not self.as_json:
            self.live = Live(get_renderable=self._view, console=self.out, refresh_per_second=4)
            self.live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.live is not None:
            self.live.__exit__(*error)

    def hear(self, outcome: Outcome) -> None:
        """One event of the run."""
        self.tally.add(outcome)
        if outcome.state != STARTED:
            self.progress.advance(self.bar)
        if self.as_json:
            self.out.out(json.dumps(outcome.as_dict()), highlight=False)
        elif outcome.state != STARTED and (
            self.live is None or outcome.state == FAULT or outcome.notes
        ):
            self.out.print(_said(outcome), markup=False, soft_wrap=True)

    def pages(self, done: int, of: int) -> None:
        """So many of the feedback pages are written."""
        self.writing = f"feedback: {done} of {of} pages"

    def _view(self) -> Group:
        if self.writing:
            return Group(self.progress, Text(f"{self.tally.line()}; {self.writing}"))
        slowest = self.tally.slowest
        slow = f"; slowest: {printable(slowest[0])}, {slowest[1]:.0f} s" if slowest else ""
        return Group(self.progress, Text(self.tally.line() + slow))


def _said(outcome: Outcome) -> str:
    score = f"{outcome.score:.4g}/{outcome.most:.4g}" if outcome.most else ""
    notes = "; ".join(printable(each) for each in [outcome.reason, *outcome.notes] if each)
    pieces = [f"{outcome.state:<8}", printable(outcome.student), score, notes]
    return "  ".join(piece for piece in pieces if piece)
