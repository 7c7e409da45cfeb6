"""Where an answer is missing: what came in its place, in another container than was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..contract import Case
from ..probe.outcome import KEYED, Observation, Outcome

OUTPUT = re.compile(r"value\[(.*?)\]")
MOST = 60  # characters of a dictionary's keys


def missing(
    case: Case, mode: str, key: str, asked: Mapping[str, Any], seen: Observation
) -> Outcome:
    """The outcome for a key under which nothing came; `asked` are all keys of this call, with
    their truths. `text` says what came instead, detail["asked"] what should have."""
    here = (case.name, mode)
    came = {what: each for (*place, what), each in seen.items() if tuple(place) == here}
    pieces = _pieces(asked)
    if key == "value" and _pieces(came):
        wanted = "A list" if isinstance(asked[key], list) else "One value"
        return Outcome("missing", text=_container(_pieces(came)), detail={"asked": wanted})
    if key in _outputs(pieces) and ("value" in came or any(map(_named, _pieces(came)))):
        text = _alone(came["value"]) if "value" in came else _container(_pieces(came))
        return Outcome("missing", text=text, detail={"asked": f"A tuple of {len(pieces)}"})
    return Outcome("missing")


def _pieces(keys: Iterable[str]) -> list[str]:
    """What stands in the first brackets of the values: places, or names."""
    return list(dict.fromkeys(found[1] for key in keys if (found := OUTPUT.match(key))))


def _outputs(pieces: list[str]) -> list[str]:
    return [f"value[{piece}]" for piece in pieces]


def _named(piece: str) -> bool:
    return not piece.isdigit()


def _container(pieces: list[str]) -> str:
    if not any(map(_named, pieces)):
        return f"a tuple or list of {len(pieces)}"
    keys = ", ".join(piece.removeprefix(KEYED) for piece in pieces)
    return f"a dictionary with the keys {keys if len(keys) <= MOST else keys[:MOST] + '…'}"


def _alone(outcome: Outcome) -> str:
    if outcome.array is not None:
        shape = ", ".join(map(str, outcome.array.shape))
        return f"one tensor of shape ({shape}{',' if outcome.array.ndim == 1 else ''})"
    if outcome.kind == "none":
        return "None"
    return f"something of type {outcome.text}" if outcome.kind == "type" else f"one {outcome.kind}"
