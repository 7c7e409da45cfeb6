"""Every rule finds what it is for: each test plants one fault in the small course."""

import shutil

import pytest

from grader import build
from grader.course import Course, CourseError
from grader.lint import answers, built, curriculum, drawn, lint, luck, run, text

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
        ("raise ValueError('no')", "return 1 / 0", None),
        ('"raises_value": "def twice(x):\\n    raise ValueError(\'no\')"', '"raises_value": "twice = 2"', "raises_value: should raise"),
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
        "the solution in 01_mini.md disagree: should pass" in f
        for f in faults(answers.judged, chapter)
    )


def test_an_answer_that_earns_more_on_some_draws_is_named(chapter, tf):
    assert faults(luck.even(6), chapter) == []
    wrong = '"upstream_lost": "def square_grad(op, grad):\\n    return 2.0 * op.inputs[0]"'
    x = "op.inputs[0]"
    lucky = f"return (2.5 - 0.5 * tf.sign(tf.reduce_sum({x}))) * {x} * grad"
    edit(
        chapter.folder / "answers.py",
        wrong,
        f"{wrong}, '_': 'def square_grad(op, grad):\\n    {lucky}'",
    )
    found = faults(luck.even(6), chapter)
    assert found
    assert all("square_grad, _: its points in '" in fault for fault in found)
    assert any(" depend on the draw: " in fault and "on seed " in fault for fault in found)


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


def test_an_exercise_that_stands_elsewhere_in_the_list_is_named(chapter):
    listed = list(chapter.exercises())
    moved = chapter.folder / "reference.py"
    moved.write_text(f"{moved.read_text()}\nEXERCISES = [*EXERCISES[1:], EXERCISES[0]]\n")
    (fault,) = faults(curriculum.in_order, chapter)
    where = f"stands first in the notebook, after {listed[-1]} in EXERCISES"
    assert fault == f"{chapter.name}: {listed[0]}: {where}"


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


@pytest.mark.parametrize(
    ("says", "said"),
    [
        ("Nothing is here. Nothing is here.", "says twice: Nothing is here."),
        ("Return `x.", "a mark of code is left open: Return `x."),
        ("Well done!", "an exclamation mark or emoji: Well done!"),
        ("Write `a != b`. Write `a`.", None),
    ],
)
@pytest.mark.parametrize("old", ["You divided.", "Add a term and take it away again."])
def test_what_an_exercise_says_is_read_too(chapter, old, says, said):
    owner = next(iter(chapter.exercises()))
    edit(chapter.folder / "reference.py", f'"{old}"', f'"{says}"')
    expected = [] if said is None else [f"{chapter.name}: {owner}: {said}"]
    assert faults(text.worded, chapter) == expected


def test_a_cell_that_raises_is_named_with_its_error(chapter):
    edit(chapter.source, PREDICTED, "undefined_name")
    build.build(Course(chapter.root), [chapter])
    (fault,) = faults(run.top_to_bottom, chapter)
    assert "NameError: name 'undefined_name' is not defined" in fault


def test_a_chapter_that_cannot_be_read_is_one_fault(chapter):
    (chapter.folder / "reference.py").write_text("1 / 0")
    (fault,) = lint(Course(chapter.root), [chapter])
    assert "ZeroDivisionError" in str(fault)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"robust": 1},\n    hints=("stop', '"robust": 1, "speed": 4},\n    hints=("stop', "no case has an answer in the part 'speed'"),
        ('"gradient": 2, "robust": 1', '"gradient": 2', "count in the part 'robust'"),
        ('"gradient:x": 3.0', '"gradients:x": 3.0', "says 'gradients:x', which nothing gives"),
        ('"gradient:x": 3.0', '"gradient:y": 3.0', "there are value, gradient:x"),
        ('"gradient:x": 3.0', '"eagre/gradient:x": 3.0', "'eagre' is no mode"),
        ('_cases(("eager", "outside"))', '_cases(("eagre",))', "nothing runs in the mode 'eagre'"),
        ('{"value": c.arrays["x"] / 2}', '{"value": c.arrays["x"] * 2}', "mistake 'divided' is the truth"),
    ],
)  # fmt: skip
def test_what_drawing_the_cases_shows(chapter, old, new, said):
    assert faults(drawn.drawn, chapter) == []
    edit(chapter.folder / "reference.py", old, new)
    found = faults(drawn.drawn, chapter)
    assert any(said in fault and "reference.py: twice" in fault for fault in found)


def test_a_reference_that_imports_tensorflow_and_a_broken_curriculum_are_named(chapter):
    edit(chapter.folder / "reference.py", "EXERCISES =", "import tensorflow as tf\nEXERCISES =")
    assert any("imports tensorflow" in fault for fault in faults(curriculum.complete, chapter))
    (chapter.root / "solutions" / "curriculum.toml").write_text("[01_mini\n")
    with pytest.raises(CourseError, match=r"solutions/curriculum.toml: "):
        faults(curriculum.complete, chapter)


def test_an_id_of_another_chapter_is_a_fault(chapter):
    other = chapter.root / "solutions" / "02_other"
    other.mkdir()
    (other / "02_other.md").write_text("```{code-cell}\n:answer: twice\n```\n")
    (fault,) = faults(curriculum.complete, chapter)
    assert "twice: is already in 02_other" in fault
    with pytest.raises(CourseError, match="02_other: twice is already in 01_mini"):
        build.stale(Course(chapter.root), [chapter])
