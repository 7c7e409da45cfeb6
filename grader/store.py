"""What a learner's check needs, in data/: arrays in one .npz, words in one .json per chapter."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .contract import Accuracy, Case, Either
from .key import CaseKey, Key, Term, Terms
from .probe import wire

Stored = tuple[Terms, list[Case], Key]


class _Numbered:
    """Collects arrays under running numbers."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []

    def put(self, array: np.ndarray) -> dict[str, Any]:
        self.arrays.append(array)
        return {"n": len(self.arrays) - 1}


class _Filed:
    """Hands arrays out of a file by their numbers."""

    def __init__(self, stored: Mapping[str, np.ndarray]) -> None:
        self.stored = stored

    def take(self, header: Mapping[str, Any]) -> np.ndarray:
        return self.stored[str(header["n"])]


def dump(
    entries: Mapping[str, Stored], probes: str, title: str, because: Mapping[str, str]
) -> tuple[bytes, bytes]:
    """The .npz and the .json of a chapter, the same bytes for the same contracts. `because` holds
    the reasons behind predictions by their names."""
    numbered = _Numbered()
    rows = {}
    for name, (terms, cases, key) in entries.items():
        rows[name] = {
            "terms": asdict(terms),
            "cases": [wire.pack_case(case, numbered) for case in cases],
            "truth": _table(key.truth, numbered),
            "mistakes": {m: _table(answers, numbered) for m, answers in key.mistakes.items()},
        }
    whole = {"title": title, "exercises": rows, "because": dict(because), "probes": probes}
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    file = io.BytesIO()
    np.savez(file, **{str(i): array for i, array in enumerate(numbered.arrays)})  # type: ignore[arg-type]
    return file.getvalue(), text.encode() + b"\n"


class Shelf(Mapping[str, Stored]):
    """A chapter's stored exercises; the arrays of each are read when it is asked for."""

    def __init__(self, arrays: Path, words: Path) -> None:
        whole = json.loads(words.read_text(encoding="utf-8"))
        self.arrays, self.rows, self.probes = arrays, whole["exercises"], str(whole["probes"])

    def __getitem__(self, exercise_id: str) -> Stored:
        row = self.rows[exercise_id]
        with np.load(self.arrays, allow_pickle=False) as stored:
            return _stored(row, _Filed(stored))

    def __contains__(self, exercise_id: object) -> bool:
        return exercise_id in self.rows  # Mapping's own would read the arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def mentions(words: Path, exercise_id: str) -> bool:
    """Whether a chapter's file may hold this exercise: told without parsing it."""
    return f'"{exercise_id}": {{' in words.read_text(encoding="utf-8")


def reason(data: Path, prediction: str) -> str:
    """The reason behind a prediction; empty where no chapter's file in `data` knows of it."""
    for words in sorted(data.glob("*.json")):
        text = words.read_text(encoding="utf-8")
        if json.dumps(prediction, ensure_ascii=False) in text:
            found = json.loads(text).get("because", {})
            if prediction in found:
                return str(found[prediction])
    return ""


def _stored(row: Mapping[str, Any], filed: _Filed) -> Stored:
    given = dict(row["terms"])
    given["mistakes"] = tuple(Term(**term) for term in given["mistakes"])
    given["hints"] = tuple(given["hints"])
    cases = [wire.unpack_case(case, filed) for case in row["cases"]]
    mistakes = {name: _untable(t, filed) for name, t in row["mistakes"].items()}
    return Terms(**given), cases, Key(_untable(row["truth"], filed), mistakes)


def _table(answers: Mapping[CaseKey, Any], numbered: _Numbered) -> list[list[Any]]:
    return [[case, what, _put(value, numbered)] for (case, what), value in answers.items()]


def _untable(rows: Sequence[Sequence[Any]], filed: _Filed) -> dict[CaseKey, Any]:
    return {(case, what): _take(value, filed) for case, what, value in rows}


def _put(value: Any, numbered: _Numbered) -> Any:
    if isinstance(value, Either):
        return {"either": [_put(option, numbered) for option in value.options]}
    if isinstance(value, Accuracy):
        given = {"floor": value.floor, "beside": value.beside}
        return {"accuracy": given, "labels": numbered.put(value.labels)}
    if isinstance(value, np.ndarray | np.generic):
        return numbered.put(np.asarray(value))
    return {"plain": value}


def _take(value: Mapping[str, Any], filed: _Filed) -> Any:
    if "either" in value:
        return Either(*(_take(option, filed) for option in value["either"]))
    if "accuracy" in value:
        return Accuracy(filed.take(value["labels"]), **value["accuracy"])
    return filed.take(value) if "n" in value else value["plain"]
