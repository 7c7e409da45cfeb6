import sys

import pytest

import grader
from grader import ____, check, evaluate, hint, partial_credit, progress
from grader.checking import CheckFailed, data_root
from grader.course import CourseError
from grader.display.report import report


@pytest.fixture(autouse=True)
def in_mini(mini, monkeypatch, tf):
    monkeypatch.chdir(mini.root / "notebooks" / "01_mini")


def right(x):
    import tensorflow as tf

    return tf.stop_gradient(-x) + 3.0 * x


def test_a_pass_says_what_was_checked_and_returns_none(capsys):
    assert check("twice", right) is None
    said = capsys.readouterr()
    assert "✓ twice: Right." in said.out
    assert "a matrix; inputs in float64" in said.out
    assert "traced by tf.function" in said.out
    assert said.err == ""


def test_a_failure_names_mistake_element_and_tolerance_and_raises(capsys):
    with pytest.raises(CheckFailed, match="true derivative") as caught:
        check("twice", lambda x: 2.0 * x, part="gradient")
    said = capsys.readouterr()
    for piece in ("worst element", "yours", "right", "yours / right", "0.00002", "a matrix"):
        assert piece in said.out
    assert said.err == ""
    assert caught.value._render_traceback_() == [f"CheckFailed: {caught.value}"]


def test_an_exception_is_shown_with_its_inputs(capsys):
    with pytest.raises(CheckFailed):
        check("twice", lambda x: x.nothing)
    said = capsys.readouterr().out
    assert "AttributeError" in said
    assert "x = float32(2, 3) [" in said


def test_an_entry_under_a_misspelt_key_is_told(capsys):
    with pytest.raises(CheckFailed):
        check("words", {"round": "none", "sgin": "zero"})
    said = " ".join(capsys.readouterr().out.split())
    assert "sign: not answered yet. Nothing is asked about 'sgin': is it misspelt?" in said
    with pytest.raises(CheckFailed):
        check("words", {"round": "none", "other": "zero"})
    assert "misspelt" not in capsys.readouterr().out


def test_fresh_inputs_show_no_number(capsys):
    with pytest.raises(CheckFailed):
        check("twice", lambda x: 2.0 * x, part="gradient", fresh=True)
    said = capsys.readouterr().out
    assert "true derivative" in said
    assert "yours" not in said


def test_a_key_that_a_learner_cannot_read_stands_in_nobodys_way(mini):
    place = mini.root / ".course_key"
    place.mkdir()
    try:
        assert check("twice", right, fresh=True) is None
    finally:
        place.rmdir()


def test_partial_credit_counts_entries():
    assert partial_credit("words", {"round": "none", "sign": "number"}, points=8) == 4.0
    assert partial_credit("words", {"round": "none", "sign": "zero"}, points=8) == 8.0
    assert partial_credit("words", {}, points=8) == 0.0


def test_a_table_does_not_raise_while_nbgrader_counts_its_entries(monkeypatch, capsys):
    half = {"round": "none", "sign": "number"}
    with pytest.raises(CheckFailed):
        check("words", half)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check("words", half)
    assert "sign: not number. Sign is flat." in capsys.readouterr().out


def test_a_name_that_is_nearly_right_gets_one_line_with_the_right_one():
    with pytest.raises(CourseError) as caught:
        hint("twise")
    (line,) = caught.value._render_traceback_()
    assert line == "NoSuchExercise: there is no exercise called 'twise'. Do you mean 'twice'?"
    with pytest.raises(CourseError, match=r"'zzz'\.$"):
        hint("zzz")


def test_unknown_names_are_errors_that_list_what_there_is():
    with pytest.raises(CourseError, match="no exercise called 'nope'"):
        check("nope", None)
    with pytest.raises(CourseError, match="it has value, gradient, robust") as caught:
        check("twice", None, part="speed")
    (line,) = caught.value._render_traceback_()
    assert line.startswith("CourseError: twice has no part 'speed'")


def test_evaluate_with_a_seed_draws_fresh_inputs():
    one, two = evaluate("twice", right, seed=4), evaluate("twice", right, seed=5)
    assert one.passed
    assert two.passed
    a, b = (v.findings[0].case.inputs["x"] for v in (one, two))
    assert (a != b).any()


def test_hints_come_one_at_a_time_and_the_last_says_where_to_reread(capsys):
    hint("twice")
    first = capsys.readouterr().out
    assert "Hint 1 of 2" in first
    assert "Reread" not in first
    for _ in range(2):
        hint("twice")
        assert "Reread: Exercise: twice" in capsys.readouterr().out


def test_progress_shows_every_exercise(capsys):
    progress()
    said = capsys.readouterr().out
    for name in ("twice", "words", "square_grad", "counter", "of 4 exercises done"):
        assert name in said


def test_a_pass_tells_of_another_right_answer(capsys):
    check("twice", right)
    assert "Also right: tf.custom_gradient does it too." in capsys.readouterr().out


def test_outside_a_course_the_installed_ones_data_serve(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    assert (data_root() / "data").is_dir()


def test_a_learners_own_configuration_is_no_course(tmp_path, monkeypatch):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    monkeypatch.chdir(tmp_path)
    assert data_root() != tmp_path
    (tmp_path / "data").mkdir()
    assert data_root() == tmp_path


def test_words_are_loaded_when_used():
    assert "grader.probe" in sys.modules
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = grader.nope


def test_a_report_of_a_verdict_is_data_too():
    made = report(evaluate("twice", lambda x: 2.0 * x, part="gradient"))
    assert made.verdict == {
        "exercise": "twice",
        "part": "gradient",
        "outcome": "fail",
        "mistake": "true derivative",
    }


def half_filled(x):
    import tensorflow as tf

    return tf.stop_gradient(-x) + tf.square(____)


def test_a_gap_that_is_left_is_named_by_its_line_in_every_way_of_running(capsys):
    for part in ("value", "gradient", "robust"):
        with pytest.raises(CheckFailed, match="Not attempted yet"):
            check("twice", half_filled, part=part)
        assert "Fill in line 4 of your answer" in capsys.readouterr().out


def helper(x):
    y = 2.0 * x
    return y * ____


def test_a_gap_in_a_helper_is_told_with_the_helpers_name(capsys):
    with pytest.raises(CheckFailed):
        check("twice", lambda x: helper(x))
    assert (
        "Fill in line 3 of helper, `return y * ____`: there is still a `____` in it."
        in capsys.readouterr().out
    )
    with pytest.raises(CheckFailed):
        check("twice", globals()["handed_back"])
    assert "a function that it calls, still gives back a `____`" in capsys.readouterr().out


def handed_back(x):
    return globals()["____"]


@pytest.mark.parametrize("given", [None, "twice", 3.0, [right]])
def test_what_is_no_function_is_told_as_such(capsys, given):
    with pytest.raises(CheckFailed, match="Not right yet"):
        check("twice", given)
    said = f"`check` was handed a {type(given).__name__}. Hand over the function itself"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("given", [["none", "zero"], right, "none"])
def test_what_is_no_dictionary_is_told_as_such(capsys, given):
    with pytest.raises(CheckFailed, match="wrong entries"):
        check("words", given)
    assert f"A dictionary is asked, a {type(given).__name__} came." in capsys.readouterr().out


def test_pythons_none_is_the_word_in_a_table():
    assert evaluate("words", {"round": None, "sign": "zero"}).passed
    assert not evaluate("words", {"sign": "zero"}).passed
