"""The reasons behind predictions: out of the learner's cell, in data/, and shown after a guess."""

import nbformat
import pytest

from grader import predict
from grader.build.cells import read
from grader.build.reasons import reasons, without_reasons
from grader.course import Course, CourseError
from tests.conftest import ROOT

CELL = """x = "für ∂"; predict("ä", lambda: f(x), ____, because="one " "two")  # kept
predict(
    "b",
    lambda: None,
    ____,
    because="three, "
    "four.",
)
print("because=")"""


def test_a_cell_loses_its_reasons_and_nothing_else():
    assert (
        without_reasons(CELL)
        == """x = "für ∂"; predict("ä", lambda: f(x), ____)  # kept
predict(
    "b",
    lambda: None,
    ____,
)
print("because=")"""
    )
    assert reasons([CELL]) == {"ä": "one two", "b": "three, four."}


def test_a_cell_without_reasons_stays_and_need_not_be_python():
    assert without_reasons("%matplotlib inline") == "%matplotlib inline"
    assert without_reasons("shown(because=1)") == "shown(because=1)"


def test_one_name_for_two_predictions_is_refused():
    with pytest.raises(CourseError, match="two predictions are called 'b'"):
        reasons([CELL, 'predict("b", f, ____, because="c")'])


def test_the_learner_reads_the_reason_after_the_guess(mini, monkeypatch, capsys):
    book = nbformat.read(mini.chapters[0].notebook, as_version=4)
    (cell,) = [c for c in book.cells if "predict(" in c.source and "import" not in c.source]
    assert cell.source == 'predict("mini round", lambda: None, ____)'
    monkeypatch.chdir(mini.chapters[0].notebook.parent)
    predict("mini round", lambda: None)
    assert "Rounding" not in capsys.readouterr().out
    predict("mini round", lambda: None, "none")
    assert "Rounding is flat." in capsys.readouterr().out
    predict("of no chapter", lambda: None, "none")
    assert "As you predicted." in capsys.readouterr().out


def test_outside_of_any_course_there_is_no_reason(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("grader.checking.data_root", lambda: tmp_path)
    predict("mini round", lambda: None, "none")
    assert "As you predicted." in capsys.readouterr().out


def test_no_two_predictions_of_the_course_have_one_name():
    cells = [c for chapter in Course(ROOT).chapters for c in read(chapter).cells]
    assert len(reasons(c.source for c in cells if c.cell_type == "code")) > 30
