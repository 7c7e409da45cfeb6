"""The child's side of the judge: evaluate the master cell's expression, probe it, send arrays.

Nothing in here is trusted: student code runs in the same process. It knows no answer.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import Any

from grader.engine import frames


def answer(payload: bytes, namespace: MutableMapping[str, Any]) -> bytes:
    """Reply to one question: `{"ok": …}` and the packed observation, or what was raised."""
    try:
        head, (packed,) = frames.unpack_parts(payload)
        target = eval(compile(head["expression"], "<check>", "eval"), dict(namespace))
    except BaseException as error:
        return _error("expression", error)
    try:
        from grader import probe
        from grader.probe import wire

        observation = probe.run(target, wire.unpack_request(packed))
        found = wire.pack_observation(observation)
    except BaseException as error:
        return _error("probe", error)
    return frames.pack_parts({"ok": True, "replaced": _replaced()}, [found])


def _error(where: str, error: BaseException) -> bytes:
    try:
        text = str(error)[:500]
    except Exception:
        text = ""
    head = {"ok": False, "where": where, "name": type(error).__name__[:80], "text": text}
    return frames.pack_parts({**head, "replaced": _replaced()}, [])


def _replaced() -> list[str]:
    """Names of what the submission put other things in the place of, as far as it shows."""
    try:
        from grader.engine import integrity

        return integrity.replaced()
    except BaseException:
        return [f"{__name__}: integrity could not be asked ({sys.exc_info()[0]})"]
