"""From an answer cell to its starter.

Between nbgrader's solution marks stands the answer; after a line `### STARTER`, commented out,
what the learner gets instead. Without one the learner gets a gap: `return ____`.
"""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import ClearSolutions

from .reasons import without_reasons

BEGIN, STARTER, END = "### BEGIN SOLUTION", "### STARTER", "### END SOLUTION"


class StarterError(ValueError):
    """The marks of an answer cell do not pair up."""


def starter(source: str) -> str:
    """The starter of an answer cell's source; StarterError names a mark that is missing."""
    if BEGIN not in source and END not in source:
        raise StarterError(f"{BEGIN} and {END} are missing")
    lines: list[str] = []
    region: list[str] | None = None
    for line in source.split("\n"):
        mark = line.strip()
        if mark == BEGIN and region is None:
            region, indent = [], line[: len(line) - len(line.lstrip())]
        elif mark == END and region is not None:
            lines += _opened(region, indent)
            region = None
        elif mark in (BEGIN, END):
            raise StarterError(f"{mark} without {END if mark == BEGIN else BEGIN}")
        elif region is not None:
            region.append(line)
        else:
            lines.append(line)
    if region is not None:
        raise StarterError(f"{BEGIN} without {END}")
    return "\n".join(lines)


def _opened(region: list[str], indent: str) -> list[str]:
    """The commented lines after the starter mark, opened; a gap where there are none."""
    at = next((i for i, line in enumerate(region) if line.strip() == STARTER), None)
    if at is None:
        return [f"{indent}return ____" if indent else "____"]
    return [_uncomment(line, indent) for line in region[at + 1 :]]


def _uncomment(line: str, indent: str) -> str:
    if not line.strip():
        return ""
    if not line.startswith(f"{indent}#"):
        raise StarterError(f"a starter line must be a comment: {line.strip()}")
    return (indent + line[len(indent) + 1 :].removeprefix(" ")).rstrip()


class Starters(ClearSolutions):  # type: ignore[misc]
    """nbgrader's ClearSolutions, with a starter of its own for every answer cell, and with the
    reasons taken out of predictions."""

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        """The cell as the learner gets it."""
        if cell.cell_type == "code":
            cell.source = without_reasons(cell.source)
        made: tuple[Any, Any] = super().preprocess_cell(cell, resources, cell_index)
        return made

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        if BEGIN not in cell.source:
            return False
        cell.source = starter(cell.source)
        return True
