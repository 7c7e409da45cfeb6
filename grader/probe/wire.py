"""Requests and observations as bytes: a JSON header and exactly the arrays it announces.

No pickle and no eval: what comes from a submission is data, of bounded size, or refused.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ..contract import Case, Source
from .outcome import DTYPES, Observation, Outcome
from .request import Request

KINDS = frozenset(("array", "none", "word", "error", "blank", "type", "skipped"))
MOST_TEXT = 2000  # of a message: patterns are looked for in it; what a probe sends is shorter
MOST_WORDS = 100_000  # of a word, list or table, as JSON
_LENGTH = struct.Struct("<I")


class WireError(ValueError):
    """The bytes are not what the protocol allows."""


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a name on the list; WireError for any other."""
    if name not in DTYPES:
        raise WireError(f"dtype {name!r} is not allowed")
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


class Writer(Protocol):
    """Takes an array and returns what the JSON says of it."""

    def put(self, array: np.ndarray) -> dict[str, Any]: ...  # noqa: D102


class Reader(Protocol):
    """Gives the array back for what the JSON says of it."""

    def take(self, header: Mapping[str, Any]) -> np.ndarray: ...  # noqa: D102


class _Blob:
    """The arrays of one message, one after the other."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def put(self, array: np.ndarray) -> dict[str, Any]:
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        self.parts.append(np.ascontiguousarray(array).tobytes())
        return {"dtype": array.dtype.name, "shape": list(array.shape)}


class _Reader:
    """Takes arrays off a message in order, refusing what it does not hold."""

    def __init__(self, data: memoryview) -> None:
        self.data, self.at = data, 0

    def take(self, header: Mapping[str, Any]) -> np.ndarray:
        dtype = dtype_of(str(header["dtype"]))
        shape = tuple(int(n) for n in header["shape"])
        if any(n < 0 for n in shape) or len(shape) > 32:
            raise WireError(f"shape {shape} is not allowed")
        size = dtype.itemsize * math.prod(shape)  # Python integers: no overflow
        if self.at + size > len(self.data):
            raise WireError("more array bytes announced than sent")
        self.at, part = self.at + size, self.data[self.at : self.at + size]
        return np.frombuffer(bytes(part), dtype).reshape(shape)


def _join(header: Any, blob: _Blob) -> bytes:
    text = json.dumps(header).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *blob.parts])


def _split(data: bytes) -> tuple[Any, _Reader]:
    length = int.from_bytes(data[: _LENGTH.size], "little")
    if _LENGTH.size + length > len(data):
        raise WireError("the header is longer than the message")
    try:
        header = json.loads(data[_LENGTH.size : _LENGTH.size + length])
    except (ValueError, RecursionError) as error:
        raise WireError(f"the header is not JSON: {error}") from None
    return header, _Reader(memoryview(data)[_LENGTH.size + length :])


def pack_observation(observation: Observation) -> bytes:
    """An observation as bytes."""
    blob, rows = _Blob(), []
    for key, outcome in observation.items():
        array = None if outcome.array is None else blob.put(outcome.array)
        rows.append([*key, outcome.kind, outcome.text, dict(outcome.detail), array])
    return _join(rows, blob)


def unpack_observation(data: bytes, limit: int = 64 << 20) -> Observation:
    """The observation in bytes from a submission; WireError if they are not one."""
    if len(data) > limit:
        raise WireError(f"{len(data)} bytes, at most {limit} are allowed")
    header, reader = _split(data)
    try:
        found = {tuple(row[:3]): _outcome(row, reader) for row in header}
        if reader.at != len(reader.data):
            raise WireError("more bytes sent than announced")
        return found
    except (TypeError, KeyError, ValueError, IndexError, OverflowError, RecursionError) as error:
        raise WireError(str(error)) from None


def _outcome(row: list[Any], reader: _Reader) -> Outcome:
    case, mode, key, kind, text, detail, array = row
    plain = all(isinstance(v, str) for v in (case, mode, key, text)) and isinstance(detail, dict)
    if not plain or kind not in KINDS or (kind == "array") != (array is not None):
        raise WireError("an outcome is not of the protocol's form")
    if kind == "word":
        if len(text) > MOST_WORDS:
            raise WireError(f"a word of {len(text)} characters")
        json.loads(text)
    else:
        text = text[:MOST_TEXT]
    detail = {name[:20]: _short(value) for name, value in [*detail.items()][:10]}
    return Outcome(kind, None if array is None else reader.take(array), text, detail)


def _short(value: Any) -> Any:
    """A number as it is, all else as text that is not too long."""
    plain = value is None or isinstance(value, bool | float) or type(value) is int
    return value if plain else str(value)[:MOST_TEXT]


def pack_case(case: Case, blob: Writer) -> dict[str, Any]:
    """A case as JSON, its arrays put into the blob."""
    inputs = {k: _value(v, blob) for k, v in case.inputs.items()}
    return {
        "name": case.name,
        "inputs": inputs,
        "upstream": _value(case.upstream, blob),
        "part": case.part,
        "modes": case.modes,
        "wants": case.wants,
        "variables": case.variables,
        "options": {k: _value(v, blob) for k, v in case.options.items()},
    }


def _value(value: Any, blob: Writer) -> Any:
    if isinstance(value, np.ndarray):
        return {"array": blob.put(value)}
    if isinstance(value, Source):
        return {"source": value.text}
    if isinstance(value, tuple) and any(isinstance(v, np.ndarray) for v in value):
        return {"tuple": [_value(v, blob) for v in value]}
    return {"plain": value}


def unpack_case(row: Mapping[str, Any], reader: Reader) -> Case:
    """The case in JSON, its arrays taken from the message in the order they were put."""
    inputs = {k: _unvalue(v, reader) for k, v in row["inputs"].items()}
    upstream = _unvalue(row["upstream"], reader)
    options = {k: _unvalue(v, reader) for k, v in row["options"].items()}
    modes, wants, variables = (tuple(row[k]) for k in ("modes", "wants", "variables"))
    return Case(row["name"], inputs, upstream, row["part"], modes, wants, variables, options)


def _unvalue(value: Mapping[str, Any], reader: Reader) -> Any:
    if "array" in value:
        return reader.take(value["array"])
    if "source" in value:
        return Source(value["source"])
    if "tuple" in value:
        return tuple(_unvalue(v, reader) for v in value["tuple"])
    return value["plain"]


def pack_request(request: Request) -> bytes:
    """A request as bytes."""
    blob = _Blob()
    cases = [pack_case(case, blob) for case in request.cases]
    head = {k: getattr(request, k) for k in ("exercise", "probe", "probes", "starter")}
    return _join({**head, "options": dict(request.options), "cases": cases}, blob)


def unpack_request(data: bytes) -> Request:
    """The request in bytes from the trusted side."""
    header, reader = _split(data)
    cases = tuple(unpack_case(row, reader) for row in header.pop("cases"))
    return Request(cases=cases, **header)
