"""Feedback pages that say a score which no longer holds."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress


def forget(folder: str, notebooks: Iterable[str]) -> list[str]:
    """Remove the generated page of each notebook from a student's feedback folder, and nothing
    else; what to note about those that stay. A new page comes with new feedback."""
    notes = []
    for name in notebooks:
        path = os.path.join(folder, f"{name}.html")
        try:
            with suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(path)
        except OSError as error:
            notes.append(f"its old feedback is still there: {error}")
    return notes
