"""What a job may take, and what is left of it."""

from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.engine import frames, work
from grader.engine.client import Ended
from grader.engine.host import ZygoteError
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


def test_the_cell_at_fault_keeps_what_it_had_put_out():
    said = [new_output("stream", text="said")]
    nb = new_notebook(cells=[new_code_cell(str(number), outputs=list(said)) for number in range(3)])
    work._fill(work.Job(nb, Limits()), work.Result(nb), 1, "it was killed")
    kinds = [[each.output_type for each in cell.outputs] for cell in nb.cells]
    assert kinds == [["stream"], ["stream", "error"], ["error"]]


def test_the_state_of_widgets_is_kept_with_the_notebook(run):
    result = run("import ipywidgets\nipywidgets.IntSlider(7)")
    (shown,) = result.notebook.cells[0].outputs
    view = shown.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    held = result.notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    assert held[view]["state"]["value"] == 7


@pytest.mark.parametrize(
    ("raised", "reason"),
    [(Ended("died", "it was killed"), "it was killed"), (BrokenPipeError(), "before it ran")],
)
def test_who_ends_after_the_last_cell_keeps_what_the_cells_put_out(
    run, monkeypatch, raised, reason
):
    def ends(*asked, **more):
        raise raised

    monkeypatch.setattr(work.ForkClient, "ask", ends)  # the look at its files
    result = run("print('first')", "print('last')")
    assert result.fault[0] == "died"
    assert reason in result.fault[1]
    assert result.texts == ["first\n", "last\n"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_that_does_not_start_is_tried_once_more(monkeypatch, times):
    results = [work.Result(new_notebook(), fault=(work.START, "not warm"))] * times
    results.append(work.Result(new_notebook()))
    monkeypatch.setattr(work, "_run", lambda zygote, job: results.pop(0))
    zygote, job = SimpleNamespace(alive=True), work.Job(new_notebook(), Limits())
    if times == 1:
        assert work.run(zygote, job).fault is None
    else:
        with pytest.raises(ZygoteError, match="not warm"):
            work.run(zygote, job)
        assert len(results) == 1


def test_a_warm_process_that_had_died_is_asked_again():
    answers = [ZygoteError("gone"), "a process"]

    def spawn(limits, **how):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    job = work.Job(new_notebook(), Limits())
    assert work._spawn(SimpleNamespace(spawn=spawn), job, None) == "a process"


def test_what_is_not_to_run_comes_back_as_it_is():
    nb = new_notebook(cells=[new_code_cell("1", outputs=[new_output("stream", text="kept")])])
    assert work.run(None, work.Job(nb, Limits(), skip=True)).notebook.cells[0].outputs
