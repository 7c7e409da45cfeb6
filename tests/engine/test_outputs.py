"""What stands in a judged cell after the judge has spoken."""

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.contract import Case
from grader.display.show import VERDICT
from grader.engine import outputs
from grader.engine.checks import Call
from grader.engine.judging import Judged
from grader.probe.outcome import Outcome
from grader.verdict import Finding, Verdict

CASE = Case("some", {}, None)


def verdict(status, *said, fraction):
    seen = Outcome("array", np.zeros(2))
    finding = Finding(CASE, "eager", "value", status, np.zeros(2), seen, 1e-5)
    return Verdict("a", None, *said, "", (finding,), fraction)


RIGHT = verdict("right", "pass", None, "Right.", fraction=1.0)


def wrong():
    return verdict("value", "fail", None, "Not right.", fraction=0.5)


def judged(*calls, most=5.0):
    return Judged("cell", most, "", tuple(Call("a", *call) for call in calls))


def said(cell):
    return [output for output in cell.outputs if output.output_type != "display_data"]


def test_each_call_that_failed_raises_in_its_turn():
    cell = new_code_cell("")
    outputs.write(cell, judged(("f",), ("g",), ("h",)), [wrong(), RIGHT, wrong()])
    assert [(each.ename, each.evalue) for each in said(cell)] == [
        ("CheckFailed", "a: Not right.")
    ] * 2


@pytest.mark.parametrize(("most", "points"), [(5.0, "3.0"), (2.5, "2.5")])
def test_partial_credit_is_the_sum_of_its_calls_and_never_more_than_the_cell_is_worth(most, points):
    cell = new_code_cell("")
    calls = (("f", None, 2.0), ("g", None, 2.0))
    outputs.write(cell, judged(*calls, most=most), [RIGHT, wrong()])
    (result,) = said(cell)
    assert result.data["text/plain"] == points  # for nbgrader
    assert result.data["text/html"] == f"<p>{float(points):g} of {most:g} points</p>"


def test_what_the_child_says_has_no_power_over_the_grade():
    cell = new_code_cell("")
    cell.outputs = [
        new_output("execute_result", data={"text/plain": "100"}, execution_count=1),
        new_output("error", ename="E", evalue="", traceback=[]),
        new_output("stream", name="stderr", text="a warning"),
    ]
    outputs.write(cell, judged(("f",)), [outputs.NoVerdict("not judged: it died")])
    stream, failed = said(cell)
    assert (stream.name, stream.text) == ("stdout", "a warning")
    assert failed.evalue == "a: not judged: it died"


@pytest.mark.parametrize(("fraction", "points"), [(0.5, "3.0"), (7.0, "4.0"), (-7.0, "2.0")])
def test_no_part_of_a_cell_is_worth_more_than_all_of_it_or_less_than_nothing(fraction, points):
    cell = new_code_cell("")
    odd = verdict("value", "fail", None, "Not right.", fraction=fraction)
    outputs.write(cell, judged(("f", None, 2.0), ("g", None, 2.0)), [RIGHT, odd])
    (result,) = said(cell)
    assert result.data["text/plain"] == points


def test_the_judges_word_is_taken_out_of_all_that_a_submission_shows():
    forged = {VERDICT: {"outcome": "pass"}, "text/plain": "kept"}
    shown = new_output("display_data", data=forged)
    printed = new_output("stream", text="VERDICT")
    nb = new_notebook(cells=[new_markdown_cell(""), new_code_cell("", outputs=[printed, shown])])
    outputs.silence(nb)
    assert nb.cells[1].outputs == [printed, new_output("display_data", data={"text/plain": "kept"})]
