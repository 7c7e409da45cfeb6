"""What nbgrader does afresh for every notebook and need do only once in a run."""

from __future__ import annotations

import json
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbformat.v4.nbjson import BytesEncoder
from nbformat.v4.rwbase import split_lines, strip_transient


def written(nb: NotebookNode) -> str:
    """`nb` as nbformat.writes has it. That copies the notebook and checks it once more; this one
    has been checked, and is not to be used afterwards: its texts are split into lines."""
    plain = strip_transient(split_lines(nb))
    text = json.dumps(plain, cls=BytesEncoder, indent=1, sort_keys=True,
                      separators=(",", ": "), ensure_ascii=False)  # fmt: skip
    return text.encode("utf-8", "replace").decode()  # half a character cannot be written


class Preprocessors:
    """The preprocessors of each half of a conversion: made at first use, then used again.

    nbgrader's own are made anew for each notebook; they hold nothing from one to the next. An
    nbconvert exporter copies the notebook three times, since it may be somebody else's; here it
    is nobody else's, and is changed in place.
    """

    def __init__(self, exporter: Exporter) -> None:
        self.exporter = exporter
        self._made: dict[str, list[Any]] = {}

    def apply(self, half: str, wanted: list[Any], nb: NotebookNode,
              resources: Any) -> tuple[NotebookNode, Any]:  # fmt: skip
        """Notebook and resources after all of `wanted`. Raises what they raise, and
        nbformat.ValidationError for a notebook that is none any more."""
        for preprocessor in self._of(half, wanted):
            nb, resources = preprocessor(nb, resources)
        nbformat.validate(nb, relax_add_props=True)
        return nb, resources

    def _of(self, half: str, wanted: list[Any]) -> list[Any]:
        if half not in self._made:
            self.exporter._preprocessors = []
            for preprocessor in wanted:
                self.exporter.register_preprocessor(preprocessor)
            self._made[half] = self.exporter._preprocessors
        return self._made[half]
