"""Runs the learner's object beside the learner's code and says what came back.

A probe knows no answer: `run` takes a `Request` (inputs, upstream gradients, modes) and returns an
`Observation`, named outcomes for the verdict to judge.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ..attempt import gap_line, untouched
from ..contract import Case
from ..direct import directly
from ..placeholder import ____
from ..quiet import quiet
from ..whose import PROBES
from . import (
    graphs,  # noqa: F401 (a chapter's probes use it, and a sandboxed process finds no more modules)
    op_gradient,
    table,
)
from .failure import of_exception
from .modes import MODES
from .outcome import UNTOUCHED, Key, Observation, Outcome, handed, of
from .request import Request, asked, request

__all__ = ["UNTOUCHED", "Key", "Observation", "Outcome", "Request", "asked", "request", "run"]

Probe = Callable[[Any, Case, str], dict[str, Any]]


def _function(answer: Any, case: Case, mode: str) -> dict[str, Any]:
    """Calls the learner's function in the mode, with value and gradients as wanted."""
    return MODES[mode](answer, case) if callable(answer) else {"error": handed(answer)}


def _chapters_own(name: str, text: str) -> Probe:
    """A probe that the chapter brings along in its probes.py."""
    module = types.ModuleType("chapter_probes")
    # AutoGraph looks for the module and for the source of what it converts; where it finds none
    # it warns, and leaves the learner's own `if` and `for` unconverted, too.
    sys.modules[module.__name__] = module
    file = PROBES
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), module.__dict__)
    probe: Probe = getattr(module, name)
    return probe


def _probe(request: Request) -> Probe:
    if request.probe == "function":
        return _function
    if request.probe == "table":
        return table.probe(request.options)
    if request.probe == "op_gradient":
        return op_gradient.probe(request.options)
    return _chapters_own(request.probe, request.probes)


def run(answer: Any, request: Request) -> Observation:
    """Every case in every mode. Never raises for what the learner's code does."""
    if request.starter and untouched(answer, request.exercise, request.starter):
        return {UNTOUCHED: Outcome("blank")}
    found = gap_line(answer)
    if found is not None:  # half filled: running it would only raise something misleading
        return {UNTOUCHED: Outcome("blank", detail=dict(zip(("line", "code"), found, strict=True)))}
    ____.forget()
    probe = _probe(request)
    # A prediction is words: for it TensorFlow need not start.
    with quiet(), nullcontext() if request.probe == "table" else _settled():
        return {
            (case.name, mode, key): outcome
            for case in request.cases
            for mode in case.modes
            for key, outcome in _once(probe, answer, case, mode).items()
        }


@contextmanager
def _settled() -> Iterator[None]:
    """Operations are run directly, and a traced mode traces, also where a cell has switched that
    off to look into a function."""
    import tensorflow as tf

    eagerly = tf.config.functions_run_eagerly()
    with directly():
        tf.config.run_functions_eagerly(False)
        try:
            yield
        finally:
            tf.config.run_functions_eagerly(eagerly)


def _once(probe: Probe, answer: Any, case: Case, mode: str) -> dict[str, Outcome]:
    try:
        return {key: of(value) for key, value in probe(answer, case, mode).items()}
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit too: a submission must not end the check
        return {"error": of_exception(error)}
