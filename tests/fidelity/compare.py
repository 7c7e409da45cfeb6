"""Compares the outputs of two runs cell by cell, after taking out what no two runs share.

Times, addresses, uuids, process numbers and the place of the home directory are taken out;
neighbouring pieces of one stream are one text, however they were cut up on the way. All else
counts: order, metadata, execution counts, tracebacks, the bytes of pictures.
"""

import difflib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from tests.fidelity.odd import title

NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
RULES = [(re.compile(pattern), text) for pattern, text in (
    (r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.\dZ]*", "DATE"),
    (r"\b0x[0-9a-f]{6,}\b", "0xADDRESS"),
    (r"\b1[34]\d{13}\b", "ADDRESS"),  # id() as a number
    (r"/\S*?/ipykernel_\d+/\d+\.py", "CELL.py"),
    (r"__autograph_generated_file\w{8}", "__autograph_generated_file"),
    (rf"{NUMBER} ?(?:ns|µs|μs|us|ms|s|seconds)(?:/(?:step|epoch))?\b", "TIME"),
    (r"(?:\d+:)?\d+:\d\d\.\d+", "TIME"),
    # Keras wipes a line out by as many backspaces, and spaces, as its times were wide.
    (r"(TIME[^\x08\n]*?) *(?:\x08+|(?=\n))", r"\1"),
    (r"[\d,]+ loops? each", "LOOPS each"),
    (r"The slowest run took .*? being cached\.\n", ""),  # timeit, on a busy machine
    (r"\d[\d.]*(?:it/s|s/it)", "RATE"),
)]  # fmt: skip
METADATA = "the notebook's metadata"  # stands among the cells' titles
HEX = "[0-9a-f]"
ID = re.compile(rf"(?<!{HEX})(?:{HEX}{{32}}|{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}})(?!{HEX})")


@dataclass(frozen=True)
class Difference:
    """A cell whose outputs differ, with both sides as compared."""

    cell: str
    stock: Any
    engine: Any

    def __str__(self) -> str:
        sides = [json.dumps(side, indent=1, ensure_ascii=False, sort_keys=True).splitlines()
                 for side in (self.stock, self.engine)]  # fmt: skip
        lines = difflib.unified_diff(*sides, "stock", "engine", lineterm="", n=1)
        return f"{self.cell}:\n" + "\n".join(line[:400] for line in lines)


def texts(value: Any, change: Callable[[str], str]) -> Any:
    """`value` with every text in it changed, those of keys as well."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): texts(held, change) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [texts(held, change) for held in value]
    return value


class Plain:
    """Turns the outputs of one run into what is compared; ids are numbered as they come up."""

    def __init__(self, home: str) -> None:
        self.home, self.ids = home, dict[str, str]()

    def text(self, text: str) -> str:
        text = text.replace(self.home, "HOME")
        text = ID.sub(lambda m: self.ids.setdefault(m[0], f"ID{len(self.ids)}"), text)
        for pattern, shorter in RULES:
            text = pattern.sub(shorter, text)
        return text

    def outputs(self, cell: NotebookNode) -> list[Any]:
        """A cell's outputs, the pieces of a stream joined, its execution count and metadata."""
        joined: list[dict[str, Any]] = []
        for output in map(dict, cell.get("outputs", [])):
            last = joined[-1] if joined else {}
            if output["output_type"] == "stream" and last.get("name") == output["name"]:
                last["text"] += output["text"]
            else:
                joined.append(output)
        return [*texts(joined, self.text), cell.get("execution_count"),
                texts(cell.metadata, self.text)]  # fmt: skip


def plain(notebook: NotebookNode, home: str) -> dict[str, Any]:
    """Everything that a run wrote into `notebook`, by cell, and its own metadata last."""
    rules = Plain(home)
    found = {title(cell, n): rules.outputs(cell) for n, cell in enumerate(notebook.cells)}
    if len(found) != len(notebook.cells):
        raise ValueError("two cells of one title")
    return {**found, METADATA: texts(notebook.metadata, rules.text)}


def differences(stock: dict[str, Any], engine: dict[str, Any]) -> list[Difference]:
    """The cells in which two runs differ."""
    return [Difference(cell, stock[cell], engine[cell])
            for cell in stock if stock[cell] != engine[cell]]  # fmt: skip
