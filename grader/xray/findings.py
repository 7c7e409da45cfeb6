"""From the blame to the sentences: findings, warnings, notes, what was left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.xray import captions, words
from grader.xray.blame import Blame
from grader.xray.listen import CONDITION
from grader.xray.local import array
from grader.xray.record_types import Line
from grader.xray.replay import Flow
from grader.xray.run import Run

NOTES = 4  # notes on single inputs; a model has hundreds of them
_ORDER = {"nan": 0, "none": 1, "zero": 2}


def findings(done: Run, blame: dict[str, tuple[Blame, ...]]) -> list[str]:
    """One line per culprit; inputs that share a culprit share the line. The worst comes first."""
    if done.error is not None:
        return [_raised(done)]
    if done.gradient_error is not None and not isinstance(done.gradient_error, LookupError):
        return [words.gradient_error(done.gradient_error)]
    groups: dict[tuple[Any, ...], list[Blame]] = {}
    for culprits in blame.values():
        for item in culprits:
            status = done.status[item.input]
            groups.setdefault((status, item.kind, item.op, item.line, item.detail), []).append(item)
    ordered = sorted(groups.items(), key=lambda g: _ORDER[g[0][0]])
    lines = [words.finding(items[0], key[0], [b.input for b in items]) for key, items in ordered]
    return list(dict.fromkeys(lines)) or [words.all_alive([s.name for s in done.sources])]


def _raised(done: Run) -> str:
    error = done.error
    assert error is not None
    missing = next(_missing(done), None) if isinstance(error, LookupError) else None
    return words.raised(error, _line_of(error)) if missing is None else missing


def _missing(done: Run) -> Iterator[str]:
    """Overrides in the function's graph that name no registered gradient."""
    from grader.xray import overrides

    concrete = getattr(done.function, "get_concrete_function", None)
    if concrete is None:
        return
    try:
        operations = concrete(*done.args).graph.get_operations()
    except Exception:
        return
    for op in operations:
        override = overrides.of_graph_op(op)
        if override is not None and not override.registered:
            yield words.missing_gradient(override.name, op.type)


def _line_of(error: BaseException) -> Line | None:
    from grader.xray import lines

    found, traceback = None, error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not lines.is_library(code.co_filename):
            found = Line(code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def warnings(done: Run, flow: Flow | None) -> list[str]:
    """What is right now and will surprise later."""
    found = [words.IN_GRAPH] if done.in_graph else []
    if isinstance(done.gradient_error, LookupError):
        found.append(words.refused(done.gradient_error))
    for node in done.recording.nodes:
        override = node.override
        if override is not None and not override.acts:
            found.append(words.ignored(node.type, override.name, override.registered))
        elif override is not None and done.recording.inner_tape:
            found.append(words.ignored_inside(node.type, override.name))
    for entry in done.recording.maps:
        found += [words.no_such_op(entry, op) for op in entry.mapping if op not in entry.ran]
    if flow is not None:
        found += _alive_but_leaves(done, flow)
    return list(dict.fromkeys(found))


def _alive_but_leaves(done: Run, flow: Flow) -> Iterator[str]:
    alive = [s.key for s in done.sources if done.status.get(s.name) == "alive"]
    reached = flow.forward(alive)
    for detour in done.recording.detours:
        key = done.recording.alias.get(detour.key, detour.key)
        if key in reached and detour.word not in ("a Python condition", CONDITION):
            yield words.also_leaves(detour.word, detour.line)


def notes(done: Run, flow: Flow | None) -> list[str]:
    """On gradients that are alive: zero and infinite entries, overrides on their way."""
    found = [] if flow is None else list(_overridden(done, flow))
    for name, grad in done.grads.items():
        values = array(grad) if done.status.get(name) == "alive" else None
        if values is None or values.size < 2:
            continue
        zeros = int((values == 0).sum())
        if zeros:
            found.append(words.zeros(name, zeros, values.size))
        if np.isinf(values).any():
            found.append(words.infinite(name))
    return found if len(found) <= NOTES else [*found[:NOTES], words.more_notes(len(found) - NOTES)]


def _overridden(done: Run, flow: Flow) -> Iterator[str]:
    nodes = list(enumerate(flow.recording.nodes))
    for index, node in nodes:
        if node.override is None or not node.override.acts or done.recording.inner_tape:
            continue
        parts = [p for k in flow.keys_in(index) for p in flow.parts.get(k, ()) if p.node == index]
        names = [
            s.name
            for s in done.sources
            if parts and set(flow.keys_in(index)) & flow.forward([s.key])
        ]
        if names:
            yield words.through_override(words.listed(names), node.type, node.override.name)


def left_out(done: Run, flow: Flow | None) -> list[str]:
    """What could not be seen."""
    found = []
    if done.recording.dropped:
        found.append(captions.dropped(done.recording.dropped, len(done.recording.nodes)))
    found += [captions.closed(*item.split(":", 2)[1:]) for item in done.recording.left_out]
    if flow is not None:
        found += [captions.unseen(done.recording.nodes[i].type) for i in sorted(flow.unseen)]
    return list(dict.fromkeys(found))
