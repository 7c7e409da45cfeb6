"""The probe for predictions: a dictionary or a list of words."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from ..contract import Case
from .outcome import Outcome, handed


def probe(options: Mapping[str, Any]) -> Callable[[Any, Case, str], dict[str, Any]]:
    """A probe for the entries named in `options["keys"]`; a missing entry is no answer, and
    Python's None is the word."""

    def entries(answer: Any, case: Case, mode: str) -> dict[str, Any]:
        if not isinstance(answer, Mapping):
            return {"error": handed(answer)}
        given = {key: "none" if value is None else value for key, value in answer.items()}
        return {
            f"entry:{key}": _word(given[key]) if key in given else _absent(key, given, options)
            for key in options["keys"]
        }

    return entries


def _absent(key: str, given: Mapping[Any, Any], options: Mapping[str, Any]) -> Outcome:
    """No entry; detail["near"] is one that is not asked for and may be a misspelling of it."""
    others = [other for other in given if isinstance(other, str) and other not in options["keys"]]
    near = difflib.get_close_matches(key, others, n=1)
    return Outcome("none", detail={"near": near[0]} if near else {})


def _word(value: Any) -> Any:
    """Words are compared without regard to case and outer spaces; np.bool_ counts as bool."""
    if isinstance(value, str):
        return value.strip().lower()
    return bool(value) if type(value).__name__ == "bool" else value
