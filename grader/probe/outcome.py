"""What came back from the learner's code: arrays, and the many ways of not being an array."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..placeholder import Blank

DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128 bfloat16".split()
)
Key = tuple[str, str, str]  # case, mode, what
KEYED = "key "  # before a dictionary's key that is no word
UNTOUCHED: Key = ("", "", "untouched")  # the whole observation of a starter as it was


@dataclass(frozen=True)
class Outcome:
    """One answer.

    kind: "array" (`array` holds it), "none", "word" (`text` is JSON: a string, bool or list of
    strings), "error" (`text` is the message), "blank" (a gap was used), "type" (`text` names a
    type that is no answer), "skipped" (could not be asked because the value was wrong).
    """

    kind: str
    array: np.ndarray | None = None
    text: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def word(self) -> Any:
        """The answer of a "word" outcome."""
        return json.loads(self.text)


Observation = dict[Key, Outcome]


def of(value: Any) -> Outcome:
    """The outcome for any value: never a guess, never a zero for what is not there."""
    if value is None:
        return Outcome("none")
    if isinstance(value, Outcome):
        return value
    if isinstance(value, Blank):
        return Outcome("blank", detail={"line": value.line, "name": value.name, "code": value.code})
    if isinstance(value, bool | str) or _is_words(value):
        return Outcome("word", text=json.dumps(value))
    return _array(value)


def _is_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(type(v) is str for v in value)


def _array(value: Any) -> Outcome:
    kind = type(value).__name__
    try:
        if kind == "IndexedSlices":
            import tensorflow as tf

            value = tf.convert_to_tensor(value)
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    except Exception:  # a symbolic tensor, a ragged list, an object with a broken __array__
        return Outcome("type", text=kind)
    if array.dtype.name not in DTYPES:  # text, objects, records, and numbers that TensorFlow lacks
        return Outcome("type", text=kind)
    return Outcome("array", array=array)


def handed(answer: Any) -> Outcome:
    """The outcome where the check was not handed what it asks for: no call can be made."""
    return Outcome("type", text=type(answer).__name__, detail={"handed": True})


def flatten(value: Any, key: str) -> dict[str, Any]:
    """A structure of answers as flat keys: "value", "value[0]", "value[loss]"."""
    if isinstance(value, Mapping):
        # No annotation: AutoGraph may read this. A number is a list's place, if it is no key.
        pairs = [(k if isinstance(k, str) else f"{KEYED}{k!r}", v) for k, v in value.items()]
    elif isinstance(value, list | tuple) and not _is_words(value) and not _is_numbers(value):
        pairs = [(str(place), v) for place, v in enumerate(value)]
    else:
        return {key: value}
    return {k: v for name, part in pairs for k, v in flatten(part, f"{key}[{name}]").items()}


def _is_numbers(value: Any) -> bool:
    """A plain (nested) list of numbers stands for one tensor."""
    return isinstance(value, list) and all(
        isinstance(v, int | float) or (isinstance(v, list) and _is_numbers(v)) for v in value
    )
