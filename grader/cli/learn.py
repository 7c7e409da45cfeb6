"""Commands for learners: status, next."""

from __future__ import annotations

from typing import Annotated

import typer

from ..course import Course
from .app import command, out


@command
def status(
    verify: Annotated[bool, typer.Option("--verify", help="Run all notebooks again.")] = False,
) -> None:
    """The map: done, attempted, regressed, next; hints used; predictions."""
    from .. import record
    from ..checking import data_root
    from ..display import map

    Course.find()  # `check` works anywhere, on the course beside it; a map is of a course
    root = data_root()
    if verify:
        from ..verify import verify as run

        for notebook, count in run(root):
            out.print(f"ran {notebook}: {count} checks")
    for line in map.text(record.read(root)).splitlines():
        out.hang(line)


@command
def next_() -> None:
    """Names the exercise to go on with."""
    from .. import record
    from ..checking import data_root

    Course.find()
    found = record.read(data_root()).next
    if found is None:
        out.print("nothing is left to do")
    else:
        chapter, exercise = found
        out.print(f"{exercise}, in notebooks/{chapter}/{chapter}.ipynb", soft_wrap=True)
