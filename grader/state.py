"""What a learner has done: one small file that people can read, and delete at any time.

It lies beside the course as `.progress.json` and is written atomically. Losing it, or not being
able to write it, never disturbs a check or grading.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .course import Course, CourseError

FILE = ".progress.json"
State = dict[str, dict[str, Any]]

# What a row of each table has to be; one that somebody has made something else of is none.
TABLES: dict[str, Callable[[Any], bool]] = {
    "exercises": lambda row: (
        isinstance(row, dict)
        and isinstance(row.get("parts", {}), dict)
        and isinstance(row.get("asked", []), list)
    ),
    "hints": lambda row: isinstance(row, int) and row >= 0,
    "predictions": lambda row: isinstance(row, dict),
}


def path() -> Path | None:
    """Where the state lies; None while grading or outside a course."""
    if os.environ.get("NBGRADER_EXECUTION") or os.environ.get("GRADER_NO_STATE"):
        return None
    try:
        return Course.find().root / FILE
    except CourseError:
        return None


def read() -> State:
    """The state; empty where there is none, or none that can be read."""
    file = path()
    try:
        found = json.loads(file.read_text(encoding="utf-8")) if file is not None else {}
    except (OSError, ValueError):
        found = {}
    found = found if isinstance(found, dict) else {}
    return {name: _table(found.get(name), known) for name, known in TABLES.items()}


def _table(value: Any, known: Callable[[Any], bool]) -> dict[str, Any]:
    rows = value.items() if isinstance(value, dict) else ()
    return {name: row for name, row in rows if known(row)}


def update(change: Callable[[State], None]) -> None:
    """Applies a change and writes the file; silently does nothing where it cannot be written."""
    file = path()
    if file is None:
        return
    state = read()
    change(state)
    text = json.dumps(state, ensure_ascii=False, sort_keys=True)
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=FILE)
    except OSError:
        return
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text + "\n")
        os.replace(name, file)
    except OSError:
        Path(name).unlink(missing_ok=True)
