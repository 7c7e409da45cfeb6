"""Every rule finds what it is for: each test plants one fault in the small course."""

import shutil

import pytest

from grader import build
from grader.course import Course
from grader.lint import answers, built, curriculum, lint, run, text

PREDICTED = 'predict("mini round", lambda: None, ____, because="Rounding is flat.")'


@pytest.fixture
def chapter(mini, tmp_path, monkeypatch):
    shutil.copytree(mini.root, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Course.find(tmp_path).chapters[0]


def edit(path, old, new):
    said = path.read_text()
    assert old in said
    path.write_text(said.replace(old, new))


def faults(rule, chapter):
    return [str(fault) for fault in rule(chapter)]


def test_the_small_course_is_clean(chapter, tf):
    assert list(lint(Course(chapter.root), [chapter], execute=False)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2.0 * x, lambda up: 3.0 * up", "2.5 * x, lambda up: 3.0 * up", "ok_custom: should pass"),
        ('"divided": "def twice(x):\\n    return x / 2.0"', '"divided": "def twice(x):\\n    return x / 3"', "'divided'"),
        ('"raises_value": "def twice(x):\\n    raise ValueError(\'no\')"', '"raises_value": "twice = 2"', None),
        ("return tf.stop_gradient(2.0 * x)", "return tf.stop_gradient(-x) + 3.0 * x", "should fail, but passes"),
        ('"ok_order"', '"upstream_lost_2"', "1 other right answers"),
        ("lambda n: tuple(range(n))", "lambda n: tuple(range(n)", "could not be run: SyntaxError"),
    ],
)  # fmt: skip
def test_answers_get_the_verdict_their_name_promises(chapter, tf, old, new, said):
    edit(chapter.folder / "answers.py", old, new)
    found = faults(answers.judged, chapter)
    assert found == [] if said is None else any(said in fault for fault in found)


def test_a_starter_that_is_an_attempt_and_a_solution_that_is_wrong_are_faults(chapter, tf):
    edit(chapter.source, "# return grad * 2.0", "# return grad * 2.5")
    found = faults(answers.judged, chapter)  # data/ still holds the old starter
    assert any("square_grad, the starter: should be unattempted" in fault for fault in found)
    edit(chapter.source, "return 2.0 * op.inputs[0] * grad", "return 2.1 * op.inputs[0] * grad")
    assert any(
        "square_grad, the solution: should pass" in f for f in faults(answers.judged, chapter)
    )


def test_stale_files_are_named(chapter):
    edit(chapter.source, "# A small course for tests", "# Another title")
    assert any("is stale: run grader build" in fault for fault in faults(built.fresh, chapter))


def test_an_answer_in_what_learners_get_is_a_fault(chapter):
    edit(
        chapter.source,
        "## Recap",
        "`return tf.stop_gradient(2.0 * x) + straight - tf.stop_gradient(straight)`",
    )
    build.build(Course(chapter.root), [chapter])
    assert any("holds a line of an answer" in fault for fault in faults(built.secret, chapter))


def test_a_missing_exercise_and_a_section_that_is_not_there(chapter):
    (chapter.root / "solutions" / "curriculum.toml").write_text('[01_mini]\nexercises = ["gone"]')
    edit(chapter.folder / "reference.py", 'reread="Exercise: counter"', 'reread="Nowhere"')
    found = faults(curriculum.complete, chapter)
    assert any("gone: is in the curriculum" in fault for fault in found)
    assert any("no section 'Nowhere'" in fault for fault in found)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## Recap", "## Rcap", "no section 'Recap'"),
        ("## Recap", "Great stuff!\n\n## Recap", "an exclamation mark"),
        ("## Recap", "Well \U0001f600\n\n## Recap", "an exclamation mark or emoji"),
        ("## Recap", "`a != b` is code\n\n## Recap", None),
        (PREDICTED, "pass", "nothing is predicted"),
        ("## Recap", "\n+++\n".join(["text"] * 90) + "\n## Recap", "at most"),
    ],
)
def test_reading_matter(chapter, old, new, said):
    edit(chapter.source, old, new)
    found = faults(text.readable, chapter)
    assert found == [] if said is None else any(said in fault for fault in found)


def test_a_cell_that_raises_is_named_with_its_error(chapter):
    edit(chapter.source, PREDICTED, "undefined_name")
    build.build(Course(chapter.root), [chapter])
    (fault,) = faults(run.top_to_bottom, chapter)
    assert "NameError: name 'undefined_name' is not defined" in fault


def test_a_chapter_that_cannot_be_read_is_one_fault(chapter):
    (chapter.folder / "reference.py").write_text("1 / 0")
    (fault,) = lint(Course(chapter.root), [chapter])
    assert "ZeroDivisionError" in str(fault)
