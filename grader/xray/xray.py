"""`explain`: the gradient X-ray of a function, and the object that it returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from grader.xray import findings, words
from grader.xray.blame import Blame
from grader.xray.local import is_trainable
from grader.xray.replay import Flow, connect, replay
from grader.xray.run import Run, run
from grader.xray.walk import blame


@dataclass
class Xray:
    """What happens to the gradient of a function on its way back to each input.

    status: input name → "alive", "none", "zero" or "nan", as `tape.gradient` says; empty if the
    function raised. blame: input name → who is to blame, nearest to the output first.
    finding: the most important of `findings`, on one line. runs: how often the function's code ran
    (Python runs, traces and runs of its graph, taken together). left_out: what was not looked at.
    """

    name: str
    status: dict[str, str] = field(default_factory=dict)
    blame: dict[str, tuple[Blame, ...]] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    runs: int = 0
    run: Run | None = field(default=None, repr=False)
    flow: Flow | None = field(default=None, repr=False)

    @property
    def finding(self) -> str:
        """One line: the worst that happens to any gradient, or that all are alive."""
        return self.findings[0]

    @property
    def worst(self) -> str:
        """The worst state of any input; "none" if the function raised."""
        found = set(self.status.values())
        raised = self.run is None or self.run.error or self.run.gradient_error
        worse = [s for s in ("nan", "none", "zero") if s in found] or (["none"] if raised else [])
        return worse[0] if worse else "alive"

    def __str__(self) -> str:
        """The plain-text twin of the picture."""
        from grader.xray.text import text

        return text(self)

    __repr__ = __str__

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows: HTML with a drawn graph, and the same in plain text."""
        from grader.xray.page import html

        return {"text/html": html(self), "text/plain": str(self)}


def explain(f: Callable[..., Any], *inputs: Any) -> Xray:
    """X-ray the gradient of `f` at `inputs`.

    f: any function of tensors: plain, tf.function, Keras layer or model. inputs: tensors, arrays,
    floats, variables, or nested structures of them; integers, strings and None are passed on as
    they are. The gradient is that of the sum of all float tensors in the result.

    Runs `f` once under a tape; a tf.function is traced and run a second time, operation by
    operation, with its variables put back (`Xray.runs` says so). Errors of `f` are part of the
    answer; only KeyboardInterrupt and its like are raised.
    """
    name = getattr(f, "__name__", None) or getattr(f, "name", None) or type(f).__name__
    shown = Xray(str(name))
    try:
        _look(shown, f, inputs)
    except Exception as error:
        shown.findings = shown.findings or [words.broken(error)]
        shown.left_out.append(words.broken(error))
    return shown


def _look(shown: Xray, f: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    misfit = _misfit(f, inputs)
    if misfit:
        shown.findings = [misfit]
        return
    done = shown.run = run(f, inputs)
    shown.runs = done.runs
    shown.status = dict(done.status)
    if done.error is None:
        shown.flow = connect(done.recording)
        sources = [s.key for s in done.sources if is_trainable(s.value)]
        replay(shown.flow, done.targets, sources)
        if isinstance(done.gradient_error, LookupError):
            _status_without_tape(done, shown.flow)
            shown.status = dict(done.status)
        shown.blame = blame(done, shown.flow)
    shown.findings = findings.findings(done, shown.blame)
    shown.warnings = findings.warnings(done, shown.flow)
    shown.notes = findings.notes(done, shown.flow)
    shown.left_out = findings.left_out(done, shown.flow)


def _misfit(f: Any, inputs: tuple[Any, ...]) -> str:
    """What to say where `f` cannot be called with these inputs; empty where it can, or may."""
    if not callable(f):
        return words.no_function(type(f).__name__)
    try:
        takes = inspect.signature(f)
    except (TypeError, ValueError):  # a builtin, or a callable that tells nothing
        return ""
    try:
        takes.bind(*inputs)
    except TypeError:
        several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        needed = [p for p in takes.parameters.values() if p.default is p.empty]
        asked = [p.name for p in needed if p.kind not in several]
        name = getattr(f, "__name__", "f")
        return words.other_inputs("f" if name == "<lambda>" else name, asked, len(inputs))
    return ""


def _status_without_tape(done: Run, flow: Flow) -> None:
    """The tape refuses to answer for all at once; the walk says which inputs are cut off."""
    for source in done.sources:
        done.status[source.name] = flow.state.get(source.key, "none")
