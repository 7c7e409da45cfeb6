"""The odd notebooks: whatever a cell can do to its outputs, kept as text in the percent format.

A line `# %% title` starts a code cell, `# %% [markdown] title` and `# %% [raw] title` the others;
titles are unique in their notebook, since `allowed.py` names cells by them.
"""

from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

FOLDER = Path(__file__).parent / "odd"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))
MAKERS = {"": new_code_cell, "[markdown]": new_markdown_cell, "[raw]": new_raw_cell}


def notebook(name: str) -> NotebookNode:
    """The notebook `name`, unexecuted."""
    cells = []
    text = (FOLDER / f"{name}.txt").read_text()
    for number, block in enumerate(f"\n{text}".split("\n# %% ")[1:]):
        title, _, source = block.partition("\n")
        kind = title.split(" ")[0] if title.startswith("[") else ""
        cell = MAKERS[kind](source.rstrip("\n"), id=f"cell-{number}")
        cell.metadata["title"] = title.removeprefix(kind).strip()
        cells.append(cell)
    return new_notebook(cells=cells)


def title(cell: NotebookNode, index: int) -> str:
    """What a report calls a cell: its title, in a chapter its grade id, else its number."""
    named = cell.metadata.get("title") or cell.metadata.get("nbgrader", {}).get("grade_id")
    return str(named or index)
