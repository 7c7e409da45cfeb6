"""Where the command writes to: whatever becomes of it, what the command does is not touched."""

from __future__ import annotations

import os
import sys
import textwrap
from contextlib import suppress
from typing import Any

from rich.console import Console

from ..course import CourseError

UNKNOWN = 80  # characters, as rich has it


def spell_out() -> None:
    """From now on a character that a terminal cannot show is spelled out, not an error."""
    for stream in (sys.stdout, sys.stderr):
        change = getattr(stream, "reconfigure", None)  # no stream at all where it was closed
        if change is not None:
            change(errors="backslashreplace")


class Page(Console):
    """rich's, but for a reader who leaves (`| head`): the rest goes nowhere, and the command on.

    rich itself ends the program then. Any other error of writing (a full disk) is a CourseError.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not self.width:  # COLUMNS=0: whoever set it does not know
            self.width = UNKNOWN

    def on_broken_pipe(self) -> None:
        """Be quiet from now on."""
        self.quiet = True
        with suppress(OSError, ValueError, AttributeError):  # else Python itself fails at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())

    def hang(self, line: str) -> None:
        """Print a line as it is; on a terminal one that is too long is broken between words, and
        goes on further to the right."""
        deeper = " " * (len(line) - len(line.lstrip()) + 2)
        wide = self.width if self.is_terminal else max(len(line), 1)
        pieces = textwrap.wrap(line, wide, subsequent_indent=deeper, break_on_hyphens=False)
        self.print("\n".join(pieces) or line, markup=False, soft_wrap=True)

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich's; only a terminal breaks lines. Raises CourseError where nothing can be
        written any more."""
        options.setdefault("soft_wrap", not self.is_terminal)
        try:
            super().print(*objects, **options)
        except OSError as error:
            self.on_broken_pipe()
            raise CourseError(f"the output cannot be written: {error.strerror or error}") from error
