"""What a judged cell of a graded notebook shows: the submission's own outputs, made powerless, and
the judge's word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from grader.engine.client import error_output

if TYPE_CHECKING:
    from grader.engine.judging import Judged


@dataclass(frozen=True)
class NoVerdict:
    """Stands for a verdict where the child gave no answer that could be judged."""

    headline: str
    outcome: str = "error"
    mistake: str | None = None
    fraction: float = 0.0
    passed: bool = False


def silence(notebook: NotebookNode) -> None:
    """Take the judge's word out of every output of the child's: only the judge speaks it."""
    from grader.display.show import VERDICT

    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if isinstance(output.get("data"), dict):
                output["data"].pop(VERDICT, None)


def write(cell: NotebookNode, judged: Judged, verdicts: list[Any]) -> None:
    """The outputs nbgrader grades: the child's displays and text, then the judge's word."""
    shown = [_harmless(output) for output in cell.outputs]
    cell.outputs = [output for output in shown if output is not None]
    for verdict in verdicts:
        cell.outputs.extend(_display(verdict))
    if judged.calls[0].points is not None:
        earned = sum((call.points or 0) * min(1.0, max(0.0, verdict.fraction))
                     for call, verdict in zip(judged.calls, verdicts, strict=True))  # fmt: skip
        earned = float(min(judged.most, earned))
        # nbgrader reads the number; the page shows the sentence.
        said = f"<p>{earned:g} of {judged.most:g} points</p>"
        data = {"text/plain": repr(earned), "text/html": said}
        count = cell.execution_count or 1
        cell.outputs.append(new_output("execute_result", data=data, execution_count=count))
        return
    for call, verdict in zip(judged.calls, verdicts, strict=True):
        if not verdict.passed:
            where = call.exercise + (f", {call.part}" if call.part else "")
            cell.outputs.append(error_output("CheckFailed", f"{where}: {verdict.headline}"))


def _harmless(output: NotebookNode) -> NotebookNode | None:
    """A child's output without power over the grade; None for what the judge speaks instead."""
    if output.output_type in ("error", "execute_result"):
        return None
    if output.output_type == "stream":
        output.name = "stdout"  # nbgrader gives 0 for a line on stderr
    return output


def _display(verdict: Any) -> list[NotebookNode]:
    from grader.display import bundle
    from grader.display.report import report
    from grader.display.show import VERDICT

    if isinstance(verdict, NoVerdict):
        record = {"outcome": verdict.outcome, "mistake": None}
        data = {"text/plain": verdict.headline, VERDICT: record}
        return [new_output("display_data", data=data)]

    return [new_output("display_data", data=bundle(report(verdict, reveal=False)))]
