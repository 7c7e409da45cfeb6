import json

import pytest

from grader import state


@pytest.fixture
def learner(tmp_path, monkeypatch):
    (tmp_path / "nbgrader_config.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRADER_NO_STATE")
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return tmp_path / state.FILE


def test_a_change_is_written_and_can_be_read_by_people(learner):
    state.update(lambda s: s["hints"].update(f=2))
    assert state.read()["hints"] == {"f": 2}
    assert json.loads(learner.read_text())["hints"] == {"f": 2}
    assert "\n" in learner.read_text()
    assert [p.name for p in learner.parent.iterdir() if p.name.startswith(state.FILE)] == [
        state.FILE
    ]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"hints": 3}', "\x00\xff"])
def test_a_broken_file_is_an_empty_one(learner, content):
    learner.write_text(content)
    assert state.read() == {"exercises": {}, "hints": {}, "predictions": {}}
    state.update(lambda s: s["hints"].update(f=1))
    assert state.read()["hints"] == {"f": 1}


def test_a_row_that_is_none_costs_no_other(learner):
    rows = {
        "exercises": {"a": 7, "b": {"parts": []}, "c": {"asked": 1}, "f": {"parts": {}}},
        "hints": {"a": "two", "b": -1, "f": 2},
        "predictions": {"a": None, "f": {"guess": "nan", "truth": "nan"}},
    }
    learner.write_text(json.dumps(rows))
    assert state.read() == {name: {"f": table["f"]} for name, table in rows.items()}


def test_deleting_it_is_allowed_at_any_time(learner):
    state.update(lambda s: s["hints"].update(f=1))
    learner.unlink()
    assert state.read()["hints"] == {}


def test_nothing_is_written_while_grading(learner, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    state.update(lambda s: s["hints"].update(f=1))
    assert not learner.exists()


def test_a_folder_that_cannot_be_written_is_no_error(learner, monkeypatch):
    def refuse(**kwargs):
        raise OSError

    monkeypatch.setattr(state.tempfile, "mkstemp", refuse)
    state.update(lambda s: s["hints"].update(f=1))
    assert not learner.exists()
