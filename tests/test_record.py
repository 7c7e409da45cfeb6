from pathlib import Path

import pytest

from grader import record, state
from grader.course import Course
from grader.display import map
from grader.verdict import Verdict

PARTS = {"value": 1, "gradient": 2}


@pytest.fixture
def learner(mini, monkeypatch):
    monkeypatch.chdir(mini.root)
    monkeypatch.delenv("GRADER_NO_STATE")
    yield mini.root
    (mini.root / state.FILE).unlink(missing_ok=True)


def note(part, outcome, exercise="twice"):
    record.remember(Verdict(exercise, part, outcome, None, "", ""), PARTS)


def status(root, exercise="twice"):
    marks = {m.exercise: m for c in record.read(root).chapters for m in c.marks}
    return marks[exercise].status


def test_an_exercise_is_done_when_all_its_parts_are(learner):
    assert status(learner) == "open"
    note("value", "pass")
    assert status(learner) == "attempted"
    note("gradient", "fail")
    assert status(learner) == "attempted"
    note("gradient", "pass")
    assert status(learner) == "done"


def test_what_was_done_and_fails_again_has_regressed_and_comes_next(learner):
    note(None, "pass", "words")
    note(None, "pass")
    assert record.read(learner).next == ("01_mini", "square_grad")
    note("gradient", "error", "words")
    assert status(learner, "words") == "regressed"
    assert record.read(learner).next == ("01_mini", "words")


def test_what_has_regressed_comes_before_what_was_never_done_and_after_all_comes_nothing(learner):
    for name in ("twice", "square_grad"):
        note(None, "pass", name)
    note("gradient", "fail", "square_grad")
    assert record.read(learner).next == ("01_mini", "square_grad")
    for name in ("words", "square_grad", "counter"):
        note(None, "pass", name)
    assert record.read(learner).next is None


def test_a_prediction_that_cannot_be_read_is_none(learner):
    state.update(lambda s: s["predictions"].update(a=7, b={"guess": "zero", "truth": "zero"}))
    found = record.read(learner)
    assert (found.predicted, found.right) == (1, 1)


def test_an_exercise_whose_row_is_none_is_open_and_can_be_done(learner):
    state.update(lambda s: s["exercises"].update(twice=7))
    assert status(learner) == "open"
    note(None, "pass")
    assert status(learner) == "done"


def test_an_untouched_starter_leaves_no_mark(learner):
    note(None, "unattempted")
    assert status(learner) == "open"


def test_the_map_in_words(learner):
    note(None, "pass")
    state.update(lambda s: s["hints"].update(words=2))
    state.update(lambda s: s["predictions"].update(a={"guess": "none", "truth": "zero"}))
    said = map.text(record.read(learner))
    assert "01_mini  1/4" in said
    assert "✓ twice" in said
    assert "○ words (2h)" in said
    assert "Next: words in 01_mini." in said
    assert "0 of 1 first predictions" in said


def test_the_chapters_stand_in_their_order_with_their_titles():
    course = Course.find(Path(__file__))
    told = [(each.chapter, each.title) for each in record.read(course.root).chapters]
    assert told == [(each.name, each.title) for each in course.chapters]
