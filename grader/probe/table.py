"""The probe for predictions: a dictionary or a list of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..contract import Case
from .outcome import handed


def probe(options: Mapping[str, Any]) -> Callable[[Any, Case, str], dict[str, Any]]:
    """A probe for the entries named in `options["keys"]`; a missing entry is None, and Python's
    None is the word."""

    def entries(answer: Any, case: Case, mode: str) -> dict[str, Any]:
        if not isinstance(answer, Mapping):
            return {"error": handed(answer)}
        given = {key: "none" if value is None else value for key, value in answer.items()}
        return {f"entry:{key}": _word(given.get(key)) for key in options["keys"]}

    return entries


def _word(value: Any) -> Any:
    """Words are compared without regard to case and outer spaces; np.bool_ counts as bool."""
    if isinstance(value, str):
        return value.strip().lower()
    return bool(value) if type(value).__name__ == "bool" else value
