"""TensorFlow's error messages, without what says nothing to whoever wrote the function."""

from __future__ import annotations

import re

# Names of generated nodes, where they are used, the op behind an eager call.
_NOISE = re.compile(r"\{\{\w+ .*?\}\}\s*|\s*\[\[\{\{.*|\s*\[Op:\w*\].*", re.DOTALL)
# The numbers in the repr of a tensor or variable.
_NUMBERS = re.compile(r"(<tf\.[^<>]*?),\s*numpy=(.*?)(?=>)", re.DOTALL)
_FEW = 24  # characters of them that may stay


def bare(message: str) -> str:
    """The message itself; of tensors and variables in it only name, shape and dtype."""
    return _NUMBERS.sub(_without_numbers, _NOISE.sub("", message))


def _without_numbers(told: re.Match[str]) -> str:
    return told[0] if len(told[2]) <= _FEW else told[1]
