import errno
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.apps import NbGrader
from nbgrader.preprocessors import Execute
from nbgrader.validator import Validator

from grader.course import CourseError
from grader.engine import warm
from grader.engine.execute import HOOKS, EngineExecute
from grader.engine.feedback import HideHiddenTests
from grader.engine.work import Result, Unsafe


@pytest.fixture
def validator(mini, monkeypatch):
    """As JupyterLab's Validate makes it: with a configuration, without a course."""
    monkeypatch.chdir(mini.root)
    app = NbGrader()
    app.load_config_file()
    yield Validator(config=app.config)
    warm.close()


def test_validate_finds_the_course_around_the_notebook(validator, mini, monkeypatch, tmp_path):
    notebook = mini.chapter("01").notebook
    monkeypatch.chdir(notebook.parent)  # there nbgrader's handler works
    execute = EngineExecute(parent=validator)
    assert execute.root == mini.root
    hidden = execute._hidden()
    assert {str(mini.root / name) for name in ("solutions", "submitted", "gradebook.db")} <= {
        *hidden
    }
    monkeypatch.chdir(tmp_path)
    assert EngineExecute(parent=validator).root == tmp_path


def test_a_learners_notebook_is_validated_by_its_checks(validator, mini):
    told = validator.validate(str(mini.chapter("01").notebook))
    assert told["failed"]
    for cell in told["failed"]:
        assert "Not attempted yet" in cell["raw_error"], cell


def test_an_instructors_notebook_is_judged_by_its_hidden_checks(validator, mini):
    solution = mini.chapter("01").solution
    assert validator.validate(str(solution)) == {}
    wrong = mini.root / "solutions" / "wrong.ipynb"
    wrong.write_text(solution.read_text().replace("straight = 3.0 * x", "straight = 3.1 * x"))
    told = validator.validate(str(wrong))
    assert told["failed"]
    for cell in told["failed"]:
        assert 'check("twice"' in cell["source"]
        assert "constant factor" in cell["raw_error"]


def _for_kernel(name):
    nb = new_notebook()
    nb.metadata["kernelspec"] = {"name": name, "display_name": name}
    return nb


def test_a_notebook_that_is_not_to_be_executed_is_handed_back(validator):
    """As with --no-execute; and it is asked for nothing, not even its kernel."""
    execute = EngineExecute(parent=validator, enabled=False)
    job, judge = execute.prepare(_for_kernel("no such kernel"), {})
    assert job.skip
    assert judge is None


def test_a_kernel_that_is_not_pythons_is_refused(validator, monkeypatch):
    monkeypatch.setattr(
        "grader.engine.execute.KernelSpecManager.get_kernel_spec",
        lambda self, name: SimpleNamespace(language={"snake": "Python", "ir": "R"}[name]),
    )
    execute = EngineExecute(parent=validator)
    execute.prepare(_for_kernel("snake"), {})
    with pytest.raises(Unsafe, match="kernel 'ir' is not Python's"):
        execute.prepare(_for_kernel("ir"), {})


def test_only_checks_that_are_hidden_from_learners_make_a_judge(validator):
    check, hidden = 'check("twice", twice)', "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS"
    execute = EngineExecute(parent=validator)

    def judge(source):
        meta = {"grade": True, "grade_id": "t", "points": 1}
        nb = new_notebook(cells=[new_code_cell(source, metadata={"nbgrader": meta})])
        return execute.prepare(nb, {})[1]

    assert judge(check) is judge(hidden.format("assert twice")) is None
    assert judge(hidden.format(check)).masters == {"t": hidden.format(check)}


def test_a_course_may_mark_hidden_tests_by_words_of_its_own(validator):
    validator.config.ClearHiddenTests.begin_test_delimeter = "SECRET {"
    validator.config.ClearHiddenTests.end_test_delimeter = "} SECRET"
    seen = 'check("twice", twice)'
    source = f"{seen}\n# SECRET {{\n{seen[:-1]}, fresh=True)\nassert f(17) == 34\n# }} SECRET"
    meta = {"grade": True, "grade_id": "t", "points": 1}
    cell = new_code_cell(source, metadata={"nbgrader": meta})
    job, judge = EngineExecute(parent=validator).prepare(new_notebook(cells=[cell]), {})
    assert job.sources == {0: seen}
    assert judge.masters == {"t": source}
    said = ["----> 4 assert f(17) == 34"]
    cell.outputs = [new_output("error", ename="E", evalue="", traceback=said)]
    shown, _ = HideHiddenTests(parent=validator).preprocess_cell(cell, {}, 0)
    assert shown.source == seen
    assert shown.outputs[0].traceback == ["(a hidden test)"]


def test_who_has_allowed_it_for_every_run_need_not_say_so_again(validator, monkeypatch):
    execute = EngineExecute(parent=validator)
    monkeypatch.delenv("GRADER_ALLOW_UNSANDBOXED", raising=False)
    assert not execute.prepare(new_notebook(), {})[0].allow_unsandboxed
    monkeypatch.setenv("GRADER_ALLOW_UNSANDBOXED", "1")
    assert execute.prepare(new_notebook(), {})[0].allow_unsandboxed


def test_what_a_run_brings_back_in_no_known_form_is_told(validator, tmp_path):
    odd = new_output("stream")
    odd["text"] = 7
    result = Result(new_notebook(cells=[new_code_cell("")]), files=b"garbage")
    result.notebook.cells[0].outputs = [odd]
    about = {"metadata": {"path": str(tmp_path)}}
    EngineExecute(parent=validator).finish(result, None, about)
    first, second = about["grader"]["notes"]
    assert first == "outputs that were not of the notebook format"
    assert second.startswith("tampering: files that no submission sends")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("code", "stops"), [(errno.ENOSPC, True), (errno.EISDIR, False)])
def test_a_full_disk_stops_the_run_and_a_file_in_the_way_of_another_is_told(
    validator, tmp_path, monkeypatch, code, stops
):
    def write(*_):
        raise OSError(code, "no")

    monkeypatch.setattr("grader.engine.files.write", write)
    about = {"metadata": {"path": str(tmp_path)}}
    result, execute = Result(new_notebook(), files=b"some"), EngineExecute(parent=validator)
    if stops:
        with pytest.raises(OSError, match="no"):
            execute.finish(result, None, about)
    else:
        execute.finish(result, None, about)
        assert "not every file it made was kept" in about["grader"]["notes"][0]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to run notebooks in, as `preprocess` is told of it."""
    monkeypatch.chdir(tmp_path)
    yield {"metadata": {"path": str(tmp_path)}}
    warm.close()


def _hooks(heard):
    """A hook for every moment, every other one a coroutine, that writes down what it is told."""

    def plain(name):
        return lambda **told: heard.append((name, told.get("cell_index"), sorted(told)))

    def coroutine(name):
        async def hear(**told):
            plain(name)(**told)

        return hear

    return {name: (plain, coroutine)[at % 2](name) for at, name in enumerate(HOOKS)}


@pytest.mark.filterwarnings("default")  # nbclient's own, of sockets and loops
def test_hooks_are_called_as_by_nbgraders_own_execute(place):
    told = []
    for kind, more in ((Execute, {}), (EngineExecute, {"tensorflow": False})):
        tagged = {"tags": ["skip-execution"]}
        nb = new_notebook(cells=[
            new_markdown_cell("text"), new_code_cell("1"), new_code_cell("1 / 0"),
            new_code_cell(""), new_code_cell("2", metadata=tagged), new_code_cell("3"),
        ])  # fmt: skip
        told.append([])
        kind(**_hooks(told[-1]), **more).preprocess(nb, place)
        assert nb.cells[2].outputs[0].ename == "ZeroDivisionError"
    stock, engine = told
    # By its documentation the last one is called, too; nbconvert's way around forgets it.
    assert engine == [*stock, ("on_notebook_complete", None, ["notebook"])]
    assert {name for name, _, _ in engine} == {*HOOKS} - {"on_notebook_error"}


def test_a_hook_that_fails_is_the_instructors(place):
    execute = EngineExecute(tensorflow=False, on_cell_start=lambda **told: {}["key"])
    with pytest.raises(CourseError, match="on_cell_start raised KeyError: 'key'"):
        execute.preprocess(new_notebook(cells=[new_code_cell("1")]), place)


def test_where_every_error_is_to_be_raised_the_first_ends_the_notebook(place):
    heard = []
    execute = EngineExecute(tensorflow=False, force_raise_errors=True, **_hooks(heard))
    nb = new_notebook(cells=[new_code_cell("1"), new_code_cell("1 / 0"), new_code_cell("3")])
    execute.preprocess(nb, place)
    kind, reason = place["grader"]["fault"]
    assert kind == "error"
    assert reason == "a cell raised ZeroDivisionError, and c.Execute.force_raise_errors is on"
    assert [cell.outputs[-1].get("ename") for cell in nb.cells] == [
        None, "DeadKernelError", "DeadKernelError",
    ]  # fmt: skip
    assert [name for name, _, _ in heard][-3:] == [
        "on_cell_error", "on_notebook_error", "on_notebook_complete",
    ]  # fmt: skip
