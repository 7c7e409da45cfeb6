import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner

from grader import state, verify
from grader.cli import app
from grader.course import Course
from grader.grading.demo import choices


@pytest.fixture
def learner(mini, tmp_path, monkeypatch):
    """A learner's copy in which `counter` is solved and noted; `words` is noted but not solved."""
    shutil.copytree(mini.root, tmp_path, dirs_exist_ok=True)
    course = Course.find(tmp_path)
    chapter = course.chapters[0]
    book = nbformat.read(chapter.notebook, as_version=4)
    for cell in book.cells:
        if cell.get("id") == "counter":
            cell.source = choices(chapter)["counter"]["ok_tuple"]
    nbformat.write(book, chapter.notebook)
    done = {"parts": {"value": "pass"}, "asked": ["value"], "was done": True}
    noted = {"exercises": {"counter": done, "words": done}}
    (tmp_path / state.FILE).write_text(json.dumps(noted))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRADER_NO_STATE")
    return chapter


def test_verify_runs_everything_again_and_believes_only_what_it_sees(learner):
    kept = learner.notebook.read_bytes()
    got = CliRunner().invoke(app, ["status", "--verify"])
    assert got.exit_code == 0, got.output
    assert "ran 01_mini: 7 checks" in got.output
    assert "✓ counter" in got.output
    assert "↺ words" in got.output
    assert learner.notebook.read_bytes() == kept


def test_what_nobody_has_worked_on_is_not_run(learner, monkeypatch, tmp_path):
    (tmp_path / state.FILE).unlink()
    monkeypatch.setattr(verify, "run", lambda book, folder: 1 / 0)
    assert list(verify.verify(tmp_path)) == []


def test_a_notebook_runs_in_its_own_folder(tmp_path):
    book = new_notebook(cells=[new_code_cell("import os; print(os.getcwd())")])
    verify.run(book, tmp_path)
    assert book.cells[0].outputs[0].text.strip() == str(tmp_path)
