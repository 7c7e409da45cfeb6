"""Has the starter been touched? Compares the learner's object with the starter's code."""

from __future__ import annotations

import inspect
import tokenize
import types
from typing import Any

from .placeholder import Blank

GAP = "____"


def untouched(answer: Any, exercise: str, starter: str) -> bool:
    """Whether the answer still is what the starter defines.

    Functions are compared by their compiled code (names, constants, instructions), so neither
    comments nor layout count as an attempt; tables are untouched while all their entries are gaps.
    """
    if isinstance(answer, Blank):
        return True
    if isinstance(answer, dict) and answer:
        return all(isinstance(value, Blank) for value in answer.values())
    if isinstance(answer, list | tuple) and answer:
        return all(isinstance(value, Blank) for value in answer)
    given = starter_codes(starter)
    if not isinstance(answer, types.FunctionType) or exercise not in given:
        return False
    space = answer.__globals__
    mine = {name: _code(space.get(name)) for name in given} | {exercise: answer.__code__}
    return all(mine[name] is not None and _same(mine[name], given[name]) for name in given)


def gap_line(answer: Any) -> tuple[int, str] | None:
    """The first line of a function that still holds a `____`: its number, counted from the
    function's own first line, and its text.

    None where there is none, or where the source cannot be found.
    """
    try:
        source = inspect.getsource(answer).splitlines(keepends=True)
        tokens = list(tokenize.generate_tokens(iter(source).__next__))
    except (OSError, TypeError, tokenize.TokenError, IndentationError):
        return None
    lines = [t.start[0] for t in tokens if t.type == tokenize.NAME and t.string == GAP]
    return (lines[0], source[lines[0] - 1].strip()) if lines else None


def starter_codes(starter: str) -> dict[str, types.CodeType]:
    """The code of each function that the starter defines, by name."""
    try:
        module = compile(starter, "<starter>", "exec")
    except SyntaxError:
        return {}
    found = [c for c in module.co_consts if isinstance(c, types.CodeType)]
    return {code.co_name: code for code in found}


def _code(value: Any) -> types.CodeType | None:
    return value.__code__ if isinstance(value, types.FunctionType) else None


def _same(mine: types.CodeType | None, given: types.CodeType) -> bool:
    if mine is None or mine.co_code != given.co_code or mine.co_names != given.co_names:
        return False
    if mine.co_varnames != given.co_varnames or len(mine.co_consts) != len(given.co_consts):
        return False
    return all(map(_same_constant, mine.co_consts, given.co_consts))


def _same_constant(mine: Any, given: Any) -> bool:
    if isinstance(given, types.CodeType):
        return isinstance(mine, types.CodeType) and _same(mine, given)
    return type(mine) is type(given) and bool(mine == given or mine != mine)
