"""Hints: how many were shown is written down; what the last one says is tested in test_checking."""

import pytest

from grader import hints, state
from grader.key import Terms


@pytest.fixture
def learner(mini, monkeypatch):
    monkeypatch.chdir(mini.root)
    monkeypatch.delenv("GRADER_NO_STATE")
    monkeypatch.setattr(hints, "_shown", {})
    yield
    (mini.root / state.FILE).unlink(missing_ok=True)


def test_another_session_goes_on_with_the_next_hint(learner, monkeypatch, capsys):
    said = Terms("twice", {"value": 1}, ("the first", "the second"))
    hints.show(said)
    assert state.read()["hints"] == {"twice": 1}
    monkeypatch.setattr(hints, "_shown", {})
    assert "the first" in capsys.readouterr().out
    hints.show(said)
    last = capsys.readouterr().out
    assert "the second" in last
    assert "Reread" not in last  # no section is named
