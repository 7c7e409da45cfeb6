import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from grader import judge, probe
from grader.contract import Case
from grader.course import Course, CourseError
from grader.key import Key, Term, Terms
from grader.probe import outcome


def test_stored_inputs_never_change_and_fresh_ones_follow_the_seed(mini):
    one, two = (judge.stored(mini.root, "twice", None).cases[0] for _ in range(2))
    assert np.array_equal(one.inputs["x"], two.inputs["x"])
    a, again, b = (judge.plan(mini, "twice", None, seed).cases[0] for seed in (1, 1, 2))
    assert np.array_equal(a.inputs["x"], again.inputs["x"])
    assert not np.array_equal(a.inputs["x"], b.inputs["x"])
    assert not np.array_equal(a.inputs["x"], one.inputs["x"])


def test_numbers_that_alone_were_built_anew_are_seen(mini, tmp_path):
    shutil.copytree(mini.root / "data", tmp_path / "data")
    before = judge.stored(tmp_path, "twice", None).cases[0].inputs["x"]
    (file,) = (tmp_path / "data").glob("*.npz")
    with np.load(file) as held:
        arrays = {name: held[name] + held[name].dtype.type(1) for name in held.files}
    np.savez(file, **arrays)
    after = judge.stored(tmp_path, "twice", None).cases[0].inputs["x"]
    assert np.allclose(after, before + 1)


def test_words_that_alone_were_built_anew_are_seen(mini, tmp_path):
    shutil.copytree(mini.root / "data", tmp_path / "data")
    (file,) = (tmp_path / "data").glob("*.json")
    assert judge.stored(tmp_path, "twice", None).terms.also == "tf.custom_gradient does it too."
    file.write_text(file.read_text().replace("tf.custom_gradient does it too.", "Said anew."))
    assert judge.stored(tmp_path, "twice", None).terms.also == "Said anew."


def test_stored_and_fresh_plans_decide_alike(mini, tf):
    def twice(x):
        return 2.0 * x

    for plan in (judge.stored(mini.root, "twice", None), judge.plan(mini, "twice", None, 3)):
        assert plan.decide(probe.run(twice, plan.request)).mistake == "true derivative"


def test_a_part_is_right_though_the_code_of_another_part_raises(mini, tf):
    @tf.custom_gradient
    def twice(x):
        return 2.0 * x, lambda up: 1 / 0

    for plan in (judge.stored(mini.root, "twice", "value"), judge.plan(mini, "twice", "value", 3)):
        assert plan.decide(probe.run(twice, plan.request)).passed


def test_the_request_holds_no_answer(mini):
    plan = judge.plan(mini, "twice", None, 3)
    sent = probe.wire.pack_request(plan.request)
    for value in plan.key.truth.values():
        assert value.astype(np.float32).tobytes() not in sent
        assert value.astype(np.float64).tobytes() not in sent


def test_what_the_verdict_alone_reads_stays_here(mini):
    plan = judge.plan(mini, "words", None, 3)
    assert {"because", "allowed"} <= set(plan.terms.options)
    assert set(plan.request.options) == set(plan.terms.options) - judge.UNSENT == {"keys"}
    sent = probe.wire.pack_request(plan.request).decode(errors="ignore")
    assert not any(why in sent for why in plan.terms.options["because"].values())


def test_a_mistake_scored_by_entry_is_named_only_where_all_of_it_came():
    """ "Says yes to all" is not said of one who said no to one, though all that is wrong fits."""
    truth = {("all", "entry:a"): False, ("all", "entry:b"): False, ("all", "entry:c"): True}
    yes = dict.fromkeys(truth, True)
    options = {"by_entry": True, "allowed": [True, False], "because": {k: "" for _, k in truth}}
    said = Terms("f", {"value": 1}, (), (Term("yes", "to all"),), "own", options)
    case = Case("all", {}, part="value", modes=("eager",))
    plan = judge.Plan(said, (case,), Key(truth, {"yes": yes}), None, "")

    def told(**words):
        seen = {("all", "eager", f"entry:{k}"): outcome.of(v) for k, v in words.items()}
        return plan.decide(seen).mistake

    assert told(a=True, b=True, c=True) == "yes"
    assert told(a=True, b=False, c=True) == "wrong entries"


def test_a_students_seed_repeats_and_cannot_be_guessed_without_the_key():
    seed = judge.seed_for(b"key", "ann", "f")
    assert seed == judge.seed_for(b"key", "ann", "f")
    others = {
        judge.seed_for(k, s, e)
        for k, s, e in ((b"k2", "ann", "f"), (b"key", "bob", "f"), (b"key", "ann", "g"),
                        (b"key", "an", "nf"))
    }  # fmt: skip
    assert len(others | {seed}) == 5
    assert max(others) > 2**60  # too many to try them all


@pytest.mark.parametrize("name", ["nope", "terms"])  # data/ has the second, as a key of its own
def test_an_unknown_exercise_is_named(mini, name):
    for plan in (
        lambda: judge.stored(mini.root, name, None),
        lambda: judge.plan(mini, name, None, 1),
    ):
        with pytest.raises(CourseError, match=f"no exercise called '{name}'"):
            plan()


def test_an_exercise_that_only_data_still_has_is_named(mini, tmp_path):
    """A build is due."""
    shutil.copytree(mini.root, tmp_path / "course")
    course = Course(tmp_path / "course")
    reference = course.chapters[0].folder / "reference.py"
    reference.write_text(reference.read_text().replace('id="twice"', 'id="thrice"'))
    with pytest.raises(CourseError, match="01_mini has no exercise 'twice'"):
        judge.plan(course, "twice", None, 3)


def test_exercises_of_a_chapter(mini):
    assert judge.exercises_of(mini.root, "01_mini") == ["twice", "words", "square_grad", "counter"]
    assert judge.exercises_of(mini.root, "99") == []


def test_a_reference_that_was_changed_is_read_again(mini, tmp_path):
    """JupyterLab keeps one process for all its grading."""
    shutil.copytree(mini.root, tmp_path / "course")
    course = Course(tmp_path / "course")
    reference = course.chapters[0].folder / "reference.py"
    before = judge.plan(course, "twice", "value", 3).key.truth["a matrix", "value"]
    text = reference.read_text()
    assert '"value": 2 * c.arrays["x"]' in text
    reference.write_text(text.replace('"value": 2 * c.arrays["x"]', '"value": 4 * c.arrays["x"]'))
    stat = reference.stat()
    os.utime(reference, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000_000))
    after = judge.plan(course, "twice", "value", 3).key.truth["a matrix", "value"]
    assert np.allclose(after, 2 * before)


HIDING = """import numpy as np
from grader.contract import Case, Exercise, Mistake

def guided(case):
    return {"gradient:x": np.maximum(case.upstream, 0)}

EXERCISES = [Exercise(
    "two", lambda rng: [Case("two", {"x": np.ones(2)}, rng.choice([-2.0, 2.0], 2))], guided,
    {"gradient": 1}, ("a", "b"), mistakes=(MISTAKES),
)]
"""
PLAIN = 'Mistake("plain", "Not guided.", lambda case: {"gradient:x": case.upstream}),'


def test_inputs_for_grading_show_every_mistake_that_the_reference_names_by_now(tmp_path):
    """Two numbers of which one draw in four hides the mistake: wrong work would pass."""
    folder = tmp_path / "solutions/01_two"
    folder.mkdir(parents=True)
    (folder / "01_two.md").write_text("# Two\n")
    reference, course = folder / "reference.py", Course(tmp_path)

    def hidden():
        drawn = [judge.plan(course, "two", None, seed).cases[0].upstream for seed in range(20)]
        return sum(not (each < 0).any() for each in drawn)

    reference.write_text(HIDING.replace("MISTAKES", ""))
    assert hidden()
    reference.write_text(HIDING.replace("MISTAKES", PLAIN))
    os.utime(reference, ns=(0, 1_000_000_000))
    assert not hidden()


def test_the_text_that_was_handed_out_goes_along_with_fresh_inputs(mini):
    handed_out = judge.stored(mini.root, "twice", None).request.starter
    assert handed_out
    assert judge.plan(mini, "twice", None, 3).request.starter == handed_out


def test_a_chapters_own_probes_go_along_with_stored_and_with_fresh_inputs():
    course = Course.find(Path(__file__))
    chapter = course.chapter("02_register_gradient")
    name = next(iter(chapter.exercises()))
    for plan in (judge.stored(course.root, name, None), judge.plan(course, name, None, 3)):
        assert plan.request.probes == chapter.probes != ""


def test_what_is_only_drawn_is_not_judged():
    case = Case("all", {}, modes=("eager",), wants=("value",))
    drawn = Case("drawn", {}, part="card", modes=("eager",), wants=("value",))
    truth = {("all", "value"): 1.0, ("drawn", "value"): 1.0}
    plan = judge.Plan(Terms("f", {"value": 1}, ()), (case, drawn), Key(truth, {}), None, "")
    assert plan.decide({("all", "eager", "value"): outcome.of(1.0)}).passed
