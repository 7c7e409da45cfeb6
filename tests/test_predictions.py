import sys

import pytest

from grader import predict, state
from grader.course import CourseError
from grader.predictions import CHOICES, classify, observe


@pytest.fixture
def learner(mini, monkeypatch):
    monkeypatch.chdir(mini.root)
    monkeypatch.delenv("GRADER_NO_STATE")
    yield
    (mini.root / state.FILE).unlink(missing_ok=True)


def raising():
    raise TypeError("not differentiable")


CASES = [
    (lambda: None, "none"),
    (lambda: 0.0, "zero"),
    (lambda: [0.0, 1.0], "number"),
    (lambda: float("nan"), "nan"),
    (lambda: [1.0, float("nan")], "nan"),
    (raising, "error"),
    (lambda: object(), "error"),
    (lambda: True, "number"),
]


@pytest.mark.parametrize(("run", "word"), CASES)
def test_every_result_has_its_word(run, word):
    assert classify(observe(run)) == word
    assert word in CHOICES


def test_without_a_guess_nothing_runs_and_the_choices_are_shown(capsys):
    predict("a", raising)
    said = capsys.readouterr().out
    assert "Predict first." in said
    assert '"none", "zero", "number", "nan", "error"' in said


@pytest.mark.parametrize("guess", ["zero", " Zero "])
def test_a_right_and_a_wrong_guess(learner, capsys, guess):
    predict("a", lambda: 0.0, guess, because="It is flat.")
    said = capsys.readouterr().out
    assert "As you predicted." in said
    assert "It is flat." in said
    predict("b", lambda: None, guess)
    assert "Not what you predicted." in capsys.readouterr().out
    assert state.read()["predictions"]["b"] == {"guess": "zero", "truth": "none"}


def test_an_error_is_shown_with_its_words_and_what_the_code_prints_is_not(capfd):
    def loud():
        print("loud", file=sys.stderr)
        raising()

    predict("a", loud, "error")
    said = capfd.readouterr()
    assert "error (TypeError: not differentiable)" in said.out
    assert said.err == ""


def test_the_reason_is_the_courses_and_without_a_course_there_is_none(capsys, mini, monkeypatch):
    monkeypatch.setattr("grader.store.reason", lambda data, name: f"why {name}, by {data.name}/")
    monkeypatch.chdir(mini.root)
    predict("a", lambda: 0.0, "zero")
    assert "why a, by data/" in capsys.readouterr().out
    predict("a", lambda: 0.0, "zero", because="It is flat.")  # the notebook's own goes before
    said = capsys.readouterr().out
    assert "It is flat." in said
    assert "why" not in said

    errors = [CourseError("no data/"), PermissionError()]

    def none(*_):
        raise errors.pop()

    monkeypatch.setattr("grader.store.reason", none)
    for _ in range(2):
        predict("a", lambda: 0.0, "zero")
        said = capsys.readouterr().out
        assert "As you predicted." in said
        assert "why" not in said


def test_a_number_is_shown_beside_its_word(capsys):
    predict("a", lambda: 2.5, "number")
    assert "number (float64() [2.5])" in capsys.readouterr().out


def test_none_may_be_said_as_none(capsys):
    predict("a", lambda: None, None)
    assert "As you predicted." in capsys.readouterr().out


def test_only_the_first_guess_counts(learner):
    predict("a", lambda: 0.0, "none")
    predict("a", lambda: 0.0, "zero")
    assert state.read()["predictions"]["a"] == {"guess": "none", "truth": "zero"}


def test_another_word_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="none, zero, number, nan, error") as caught:
        predict("a", lambda: 0.0, "flat")
    (line,) = caught.value._render_traceback_()
    assert line.startswith("NoSuchGuess: 'flat' is not a prediction")


class Handle:
    def __init__(self, first):
        self.bundles = [first]

    def update(self, bundle, raw):
        self.bundles.append(bundle)


@pytest.fixture
def row(monkeypatch):
    """The outputs of a cell in a notebook that was never connected to a browser."""
    outputs = []

    def show(bundle, raw, display_id):
        outputs.append(Handle(bundle))
        return outputs[-1]

    monkeypatch.setattr("grader.display.in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", show)
    return outputs


def test_a_button_puts_the_answer_in_the_place_of_the_question(learner, row):
    from ipywidgets.widgets import widget

    predict("a", lambda: 0.0)
    card, buttons = row
    assert "Run this cell again" in card.bundles[0]["text/html"]
    assert "Run this cell again" in buttons.bundles[0]["text/plain"]
    shown = buttons.bundles[0]["application/vnd.jupyter.widget-view+json"]["model_id"]
    box = widget._instances[shown]
    choices = box.children[1:]
    next(each for each in choices if each.description == "zero").click()
    assert all(each.disabled for each in choices)  # one guess is all there is
    assert shown not in widget._instances
    assert "As you predicted." in card.bundles[-1]["text/plain"]
    assert "Predict first." not in card.bundles[-1]["text/html"]
    assert buttons.bundles[-1] == {"text/html": "", "text/plain": ""}
    assert state.read()["predictions"]["a"] == {"guess": "zero", "truth": "zero"}


def test_what_is_printed_at_a_click_stands_in_the_place_of_the_buttons(learner, row, capsys):
    from ipywidgets.widgets import widget

    predict("a", lambda: print("traced"))
    _, buttons = row
    shown = buttons.bundles[0]["application/vnd.jupyter.widget-view+json"]["model_id"]
    box = widget._instances[shown]
    next(each for each in box.children[1:] if each.description == "none").click()
    assert buttons.bundles[-1] == {"text/plain": "traced\n"}
    assert capsys.readouterr().out == ""


def test_in_a_terminal_no_button_is_spoken_of(capsys):
    predict("a", lambda: 0.0)
    assert "button" not in capsys.readouterr().out
