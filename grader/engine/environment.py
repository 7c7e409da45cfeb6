"""nbgrader's sign to student code that it is being graded, for children to inherit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NAME = "NBGRADER_EXECUTION"


@contextmanager
def grading_environment() -> Iterator[None]:
    """Set it for the block; nbgrader's own `setenv` leaves it behind after an error."""
    before = os.environ.get(NAME)
    os.environ[NAME] = "autograde"
    try:
        yield
    finally:
        os.environ.pop(NAME, None)
        if before is not None:
            os.environ[NAME] = before
