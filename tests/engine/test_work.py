"""What a job may take, and what is left of it."""

from types import SimpleNamespace

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.engine import frames, work
from grader.engine.limits import Limits
from grader.engine.work import Question


def test_an_answer_to_the_judge_has_a_limit_of_its_own(run):
    sleeps = Question("__import__('time').sleep(30)", b"")
    result = run("'cell'", job={"questions": {0: [sleeps]}}, probe=0.5, grace=20.0)
    head, _ = frames.unpack_parts(result.replies[0][0])
    assert (head["ok"], head["name"]) == (False, "KeyboardInterrupt")
    assert any("an answer to the judge" in note for note in result.notes)


def test_files_have_a_limit_of_their_own_beside_the_output(run):
    prints, writes = "print('x' * 700_000)", "open('made', 'wb').write(b'x' * 700_000)"
    result = run(prints, writes, output=1 << 20)
    assert result.fault is None
    assert frames.unpack_parts(result.files)[0]["names"] == ["made"]


def test_of_a_run_that_was_lost_no_output_stays(monkeypatch):
    nb = new_notebook(cells=[new_markdown_cell("text"), new_code_cell("1"), new_code_cell("2")])
    found = []

    def lost(zygote, job):
        found.append([len(cell.outputs) for cell in job.notebook.cells[1:]])
        for cell in job.notebook.cells[1:]:
            cell.outputs = [new_output("stream", text="of a run that was lost")]
        return work.Result(job.notebook, fault=("died", "the process ended"))

    monkeypatch.setattr(work, "_run", lost)
    work.run(SimpleNamespace(alive=False), work.Job(nb, Limits()))
    assert found == [[0, 0], [0, 0]]


def test_after_the_end_no_cell_passes_by_what_stood_there(zygote):
    """As handed in, maybe with the output of a check that was passed."""
    passed = [new_output("stream", text="passed")]
    sources = ("import os; os._exit(0)", "'next'", "")
    nb = new_notebook(cells=[new_code_cell(source, outputs=passed) for source in sources])
    result = work.run(zygote, work.Job(nb, Limits()))
    names = [[each.get("ename") for each in cell.outputs] for cell in result.notebook.cells]
    assert names == [["DeadKernelError"], ["DeadKernelError"], []]
