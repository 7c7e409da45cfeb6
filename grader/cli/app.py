"""The command line's frame: every command works on the course in the current directory."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer
from rich.text import Text

from ..course import Chapter, Course, CourseError
from ..spared import UNUSED, spared
from .page import Page, spell_out

app = typer.Typer(
    name="grader",
    help="Builds, checks and grades the course in the current directory.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out = Page(highlight=False)
err = Page(stderr=True, highlight=False)
STOPPED = "stopped; what is done is kept"


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Registers a command; what the course, its gradebook or the machine is to blame for becomes
    one line and exit code 2, Ctrl-C one line and exit code 1."""

    @wraps(function)
    @spared(*UNUSED)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        spell_out()
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt:  # before a run that tells it itself
            err.print(STOPPED)
            raise typer.Exit(1) from None
        except Exception as error:
            said = _told(error)
            if said is None:
                raise
            complain(said)
            raise typer.Exit(2) from None

    return app.command(name=function.__name__.strip("_").replace("_", "-"))(guarded)


def complain(said: str) -> None:
    """One line on standard error."""
    err.print(Text.assemble(("error:", "red"), f" {said}"), soft_wrap=True)


def _told(error: Exception) -> str | None:
    """What to say of an error; None for one of this program's own, which shows where it is."""
    if isinstance(error, CourseError):
        return str(error)
    known = type(error).__module__.startswith(("sqlalchemy.", "traitlets."))
    if not known and not isinstance(error, OSError):
        return None
    from ..engine import trouble

    return trouble.advice(error)


def chosen(names: list[str] | None) -> tuple[Course, list[Chapter]]:
    """The course here and the chapters named (all where none is)."""
    course = Course.find()
    if not names:
        return course, course.chapters
    return course, list(dict.fromkeys(course.chapter(name) for name in names))


from . import author, learn, teach  # noqa: E402, F401  (importing registers the commands)
