"""What a learner's check needs, in data/: arrays in one .npz, words in one .json per chapter."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .contract import Accuracy, Case, Either
from .key import CaseKey, Key, Term, Terms
from .probe import wire

Stored = tuple[Terms, list[Case], Key]


class _Numbered:
    """Collects arrays under running numbers, and hands them out again by their numbers."""

    def __init__(self, arrays: Sequence[np.ndarray] = ()) -> None:
        self.arrays = list(arrays)
        self.at = 0

    def put(self, array: np.ndarray) -> dict[str, Any]:
        self.arrays.append(array)
        return {"n": len(self.arrays) - 1}

    def take(self, header: Mapping[str, Any]) -> np.ndarray:
        return self.arrays[header["n"]]


def dump(entries: Mapping[str, Stored], probes: str, title: str) -> tuple[bytes, bytes]:
    """The .npz and the .json of a chapter, the same bytes for the same contracts."""
    numbered = _Numbered()
    rows = {}
    for name, (terms, cases, key) in entries.items():
        rows[name] = {
            "terms": asdict(terms),
            "cases": [wire.pack_case(case, numbered) for case in cases],
            "truth": _table(key.truth, numbered),
            "mistakes": {m: _table(answers, numbered) for m, answers in key.mistakes.items()},
        }
    whole = {"title": title, "exercises": rows, "probes": probes}
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    file = io.BytesIO()
    np.savez(file, **{str(i): array for i, array in enumerate(numbered.arrays)})  # type: ignore[arg-type]
    return file.getvalue(), text.encode() + b"\n"


def load(arrays: Path, words: Path) -> tuple[dict[str, Stored], str]:
    """The stored exercises of a chapter and its own probes' text."""
    rows = json.loads(words.read_text(encoding="utf-8"))
    with np.load(arrays, allow_pickle=False) as stored:
        numbered = _Numbered([stored[str(i)] for i in range(len(stored.files))])
    return {name: _stored(row, numbered) for name, row in rows["exercises"].items()}, rows["probes"]


def _stored(row: Mapping[str, Any], numbered: _Numbered) -> Stored:
    given = dict(row["terms"])
    given["mistakes"] = tuple(Term(**term) for term in given["mistakes"])
    given["hints"] = tuple(given["hints"])
    cases = [wire.unpack_case(case, numbered) for case in row["cases"]]
    mistakes = {name: _untable(t, numbered) for name, t in row["mistakes"].items()}
    return Terms(**given), cases, Key(_untable(row["truth"], numbered), mistakes)


def _table(answers: Mapping[CaseKey, Any], numbered: _Numbered) -> list[list[Any]]:
    return [[case, what, _put(value, numbered)] for (case, what), value in answers.items()]


def _untable(rows: Sequence[Sequence[Any]], numbered: _Numbered) -> dict[CaseKey, Any]:
    return {(case, what): _take(value, numbered) for case, what, value in rows}


def _put(value: Any, numbered: _Numbered) -> Any:
    if isinstance(value, Either):
        return {"either": [_put(option, numbered) for option in value.options]}
    if isinstance(value, Accuracy):
        given = {"floor": value.floor, "beside": value.beside}
        return {"accuracy": given, "labels": numbered.put(value.labels)}
    if isinstance(value, np.ndarray | np.generic):
        return numbered.put(np.asarray(value))
    return {"plain": value}


def _take(value: Mapping[str, Any], numbered: _Numbered) -> Any:
    if "either" in value:
        return Either(*(_take(option, numbered) for option in value["either"]))
    if "accuracy" in value:
        return Accuracy(numbered.take(value["labels"]), **value["accuracy"])
    return numbered.take(value) if "n" in value else value["plain"]
