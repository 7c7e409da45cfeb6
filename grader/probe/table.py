"""The probe for predictions: a dictionary or a list of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..contract import Case
from .outcome import Outcome


def probe(options: Mapping[str, Any]) -> Callable[[Any, Case, str], dict[str, Any]]:
    """A probe for the entries named in `options["keys"]`; a missing entry is None."""

    def entries(answer: Any, case: Case, mode: str) -> dict[str, Any]:
        if not isinstance(answer, Mapping):
            return {"entries": Outcome("type", text=type(answer).__name__)}
        return {f"entry:{key}": _word(answer.get(key)) for key in options["keys"]}

    return entries


def _word(value: Any) -> Any:
    """Words are compared without regard to case and outer spaces; np.bool_ counts as bool."""
    if isinstance(value, str):
        return value.strip().lower()
    return bool(value) if type(value).__name__ == "bool" else value
