"""Where an answer is missing: what came in its place, in another container than was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..contract import Case
from ..probe.outcome import KEYED, Observation, Outcome
from . import words

OUTPUT = re.compile(r"value\[(.*?)\]")
MOST = 1000  # answers


def missing(
    case: Case, mode: str, key: str, asked: Mapping[str, Any], seen: Observation
) -> Outcome:
    """The outcome for a key under which nothing came; `asked` are all keys of this call, with
    their truths. `text` says what came instead, detail["asked"] what should have."""
    if len(seen) > MOST:  # an honest answer has a few; this is asked for each that is missing
        return Outcome("missing")
    here = (case.name, mode)
    came = {what: each for (*place, what), each in seen.items() if tuple(place) == here}
    pieces = _pieces(asked)
    if key == "value" and _pieces(came):
        wanted = words.A_LIST if isinstance(asked[key], list) else words.ONE_VALUE
        return Outcome("missing", text=_container(_pieces(came)), detail={"asked": wanted})
    if key in _outputs(pieces) and ("value" in came or any(map(_named, _pieces(came)))):
        text = words.alone(came["value"]) if "value" in came else _container(_pieces(came))
        return Outcome(
            "missing", text=text, detail={"asked": words.A_TUPLE.format(count=len(pieces))}
        )
    return Outcome("missing")


def _pieces(keys: Iterable[str]) -> list[str]:
    """What stands in the first brackets of the values: places, or names."""
    return list(dict.fromkeys(found[1] for key in keys if (found := OUTPUT.match(key))))


def _outputs(pieces: list[str]) -> list[str]:
    return [f"value[{piece}]" for piece in pieces]


def _named(piece: str) -> bool:
    return not piece.isdigit()


def _container(pieces: list[str]) -> str:
    keys = ", ".join(piece.removeprefix(KEYED) for piece in pieces)
    return words.container(len(pieces), keys if any(map(_named, pieces)) else "")
