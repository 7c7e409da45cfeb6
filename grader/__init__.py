"""The learner's words: check, hint, explain, progress, predict and the gap `____`.

Importing this before TensorFlow quiets TensorFlow's start-up. Nothing heavy is imported until a
word is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import quiet
from .placeholder import ____

if TYPE_CHECKING:
    from .checking import CheckFailed, check, evaluate, hint, partial_credit, progress
    from .predictions import predict
    from .xray import explain

quiet.install()

# Modules bear other names than the words: a submodule would hide its namesake.
_HOMES = {
    "CheckFailed": "checking",
    "check": "checking",
    "evaluate": "checking",
    "hint": "checking",
    "partial_credit": "checking",
    "predict": "predictions",
    "progress": "checking",
    "explain": "xray",
}

__all__ = [
    "CheckFailed",
    "____",
    "check",
    "evaluate",
    "explain",
    "hint",
    "partial_credit",
    "predict",
    "progress",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
