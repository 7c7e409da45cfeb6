"""A learner's word called with what it does not take: one line says how it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from . import words
from .oneline import OneLine

P = ParamSpec("P")
R = TypeVar("R")


class WrongCall(OneLine, TypeError):
    """A word was called with other arguments than it takes."""


def word(f: Callable[P, R]) -> Callable[P, R]:
    """One of the learner's words, whose first argument is a name; a call that does not fit raises
    WrongCall, which says the right one with what can be told of the name."""
    takes = inspect.signature(f)

    @wraps(f)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            first = next(iter(takes.bind(*args, **kwargs).arguments.values()))
        except TypeError:
            first = None
        if not isinstance(first, str):
            usage = words.USAGE[f.__name__].format(name=_name((*args, *kwargs.values())))
            raise WrongCall(usage) from None
        return f(*args, **kwargs)

    return called


def _name(given: tuple[Any, ...]) -> str:
    """The name that was meant: the first text, or the first function's own name."""
    names = [v if isinstance(v, str) else getattr(v, "__name__", None) for v in given]
    return next((n for n in names if isinstance(n, str) and n.isprintable() and n != "<lambda>"),
                words.SOME_NAME)  # fmt: skip
