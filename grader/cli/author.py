"""Commands for those who write the course: build and lint."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import chosen, command, out

Chapters = Annotated[
    list[str] | None,
    typer.Argument(metavar="[CHAPTERS]...", help="By name or number; none: all of them."),
]


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


@command
def build(
    chapters: Chapters = None,
    check: Annotated[bool, typer.Option("--check", help="Only say what is stale.")] = False,
) -> None:
    """Makes the notebooks and the data from their sources."""
    from .. import build as builder

    course, named = chosen(chapters)
    if not check:
        for path in builder.build(course, named):
            out.print(f"built {path.relative_to(course.root)}")
        return
    stale = builder.stale(course, named)
    for path in stale:
        out.print(f"stale {path.relative_to(course.root)}")
    if stale:
        raise typer.Exit(1)
    out.print(f"{_many(len(named), 'chapter')}, nothing stale")


@command
def lint(
    chapters: Chapters = None,
    run: Annotated[bool, typer.Option(help="Also run the notebooks top to bottom.")] = True,
    draws: Annotated[
        int, typer.Option(min=0, help="Also try every answer on so many draws of its inputs.")
    ] = 0,
) -> None:
    """Checks the course itself: one line per fault, exit code 1 if there is one."""
    from .. import lint as linter

    course, named = chosen(chapters)
    count = 0
    for fault in linter.lint(course, named, execute=run, draws=draws):
        count += 1
        out.print(str(fault), markup=False, soft_wrap=True)
    out.print(f"{_many(len(named), 'chapter')}, {_many(count, 'fault')}")
    if count:
        raise typer.Exit(1)


@command
def pictures(
    chapters: Chapters = None,
    run: Annotated[bool, typer.Option(help="Run the chapters for new thumbnails.")] = True,
) -> None:
    """Makes the README's table of chapters and its thumbnails (runs the chapters)."""
    from ..build.pictures import thumbnail, with_table

    course, named = chosen(chapters)
    for chapter in named if run else ():
        out.print(f"drew {thumbnail(chapter).relative_to(course.root)}")
    readme = course.root / "README.md"
    readme.write_text(with_table(readme.read_text("utf-8"), course), encoding="utf-8")
    out.print("README.md has its table")
