"""What students get back holds verdicts and pictures, and not one line of a hidden test."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List

from grader.engine import checks


class HideHiddenTests(NbGraderPreprocessor):  # type: ignore[misc]
    """Cuts hidden test regions out of sources, and their lines out of tracebacks."""

    # nbconvert sets it for all preprocessors, and warns in the log where it is no option.
    display_data_priority: Any = List().tag(config=True)

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, index: int
    ) -> tuple[NotebookNode, Any]:
        """Cut one cell."""
        marks, source = checks.marks(self), cell.source
        if cell.cell_type == "code" and checks.has_hidden(source, marks):
            for output in cell.outputs:
                if output.output_type == "error":
                    output.traceback = [
                        checks.without_hidden_lines(lines, source, marks)
                        for lines in output.traceback
                    ]
            cell.source = checks.visible(source, marks)
        return cell, resources
