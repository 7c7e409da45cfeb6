"""The command line's frame: every command works on the course in the current directory."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from rich.console import Console

from ..course import Chapter, Course, CourseError

app = typer.Typer(
    name="grader",
    help="Builds, checks and grades the course in the current directory.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Registers a command; a CourseError becomes one line and exit code 2."""

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except CourseError as error:
            err.print(f"[red]error:[/] {error}", soft_wrap=True)
            raise typer.Exit(2) from None

    return app.command(name=function.__name__.strip("_").replace("_", "-"))(guarded)


def chosen(names: list[str] | None) -> tuple[Course, list[Chapter]]:
    """The course here and the chapters named (all where none is)."""
    course = Course.find()
    if not names:
        return course, course.chapters
    return course, [course.chapter(name) for name in names]


from . import author, learn, teach  # noqa: E402, F401  (importing registers the commands)
