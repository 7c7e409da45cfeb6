"""What a run has done so far, kept in `.grader/`: a lock, and one line of JSON per event.

nbgrader takes an existing autograded/ folder for a finished submission. A killed run leaves folders
that are not, so the journal says which: a submission counts as done only once its line is on disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TextIO

from grader.engine.outcome import FAULT, GRADED, SKIPPED, Outcome
from grader.engine.printable import printable

FOLDER = ".grader"
BEFORE = "in an earlier run; --force grades it again"


class Busy(RuntimeError):
    """Another run is grading this course."""


class Journal:
    """Append-only record of one course; `state` maps (assignment, student) to its last line."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER
        self.path = self.folder / "journal.jsonl"
        self.state: dict[tuple[str, str], dict[str, Any]] = {}
        for line in self._lines():
            self.state[line["assignment"], line["student"]] = line

    def _lines(self) -> Iterator[dict[str, Any]]:
        if not self.path.is_file():
            return
        for text in self.path.read_text("utf-8", "replace").splitlines():
            try:
                line = json.loads(text)
                if isinstance(line["assignment"], str) and isinstance(line["student"], str):
                    yield dict(line)
            except (ValueError, KeyError, TypeError):
                continue  # the last line of a run that was killed while it wrote

    def add(self, assignment: str, student: str, event: str, **more: Any) -> None:
        """Write one line and wait until it is on disk. Raises OSError on a full disk."""
        line = {"assignment": assignment, "student": student, "event": event, **more}
        self.folder.mkdir(exist_ok=True)
        torn = self.path.is_file() and not _ends_whole(self.path)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(("\n" if torn else "") + json.dumps(line, default=str) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.state[assignment, student] = line

    def unfinished(self, assignment: str, student: str) -> bool:
        """Whether a run began this submission and never came to its end."""
        return self.state.get((assignment, student), {}).get("event") == "begun"

    def changed(self, assignment: str, student: str, digest: str | None) -> bool:
        """Whether something else is handed in, or asked, than what was graded; so it may be where
        nothing is known of a submission. One notebook alone (`--notebook`) leaves no digest.
        nbgrader itself asks for a timestamp.txt on both sides, and for the later one."""
        line = self.state.get((assignment, student))
        if line is None:
            return digest is not None
        before = line.get("digest") if line.get("event") == "done" else None
        return None not in (before, digest) and before != digest

    def score(self, assignment: str, student: str) -> float | None:
        """The points that all of a submission was graded with; None for a fault, which may have
        lost some, and for one notebook alone."""
        line = self.state.get((assignment, student), {})
        score = line.get("score")
        graded = line.get("event") == "done" and line.get("state") == GRADED and line.get("digest")
        return float(score) if graded and isinstance(score, (int, float)) else None

    def ended(self, assignment: str, student: str) -> Outcome:
        """The outcome of one that is not graded again: a fault stays a fault until it is."""
        line = self.state.get((assignment, student), {})
        if line.get("event") != "done" or line.get("state") != FAULT:
            return Outcome(assignment, student, SKIPPED)
        kind, reason = (printable(line.get(name, "")) for name in ("kind", "reason"))
        found = Outcome(assignment, student, FAULT, kind, reason, notes=[BEFORE])
        score, most = line.get("score"), line.get("most")
        if isinstance(score, (int, float)) and isinstance(most, (int, float)):
            found.score, found.most = float(score), float(most)
        return found

    def notes(self, assignment: str, student: str) -> list[str]:
        """What the last run noted of a submission, for the instructor."""
        notes = self.state.get((assignment, student), {}).get("notes")
        return [printable(note) for note in notes] if isinstance(notes, list) else []

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the course's lock; raises Busy if another process does, OSError where the
        file system keeps none. Ends with the process."""
        self.folder.mkdir(exist_ok=True)
        with open(self.folder / "lock", "a+") as file, ExitStack() as held:
            try:
                held.enter_context(_alone(file))
            except BlockingIOError:
                file.seek(0)
                raise Busy(f"another run is grading this course ({file.read().strip()})") from None
            except OSError as error:  # a file system without locks
                raise OSError(error.errno, error.strerror, file.name) from None
            file.truncate(0)
            file.write(f"process {os.getpid()}")
            file.flush()
            yield


@contextmanager
def _alone(file: TextIO) -> Iterator[None]:
    """Hold the lock on `file`; raises BlockingIOError if another process does."""
    try:
        import fcntl
    except ImportError:  # Windows: SQLite has found a way for every system
        path = f"{file.name}.sqlite"
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as database:
            try:
                database.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                raise BlockingIOError(str(error)) from None
            yield
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _ends_whole(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        if file.tell() == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
