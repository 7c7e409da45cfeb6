import numpy as np
import pytest

from grader import judge, probe
from grader.course import CourseError


def test_stored_inputs_never_change_and_fresh_ones_follow_the_seed(mini):
    one, two = (judge.stored(mini.root, "twice", None).cases[0] for _ in range(2))
    assert np.array_equal(one.inputs["x"], two.inputs["x"])
    a, again, b = (judge.plan(mini, "twice", None, seed).cases[0] for seed in (1, 1, 2))
    assert np.array_equal(a.inputs["x"], again.inputs["x"])
    assert not np.array_equal(a.inputs["x"], b.inputs["x"])
    assert not np.array_equal(a.inputs["x"], one.inputs["x"])


def test_stored_and_fresh_plans_decide_alike(mini, tf):
    def twice(x):
        return 2.0 * x

    for plan in (judge.stored(mini.root, "twice", None), judge.plan(mini, "twice", None, 3)):
        assert plan.decide(probe.run(twice, plan.request)).mistake == "true derivative"


def test_the_request_holds_no_answer(mini):
    plan = judge.plan(mini, "twice", None, 3)
    sent = probe.wire.pack_request(plan.request)
    for value in plan.key.truth.values():
        assert value.astype(np.float32).tobytes() not in sent
        assert value.astype(np.float64).tobytes() not in sent


def test_a_students_seed_repeats_and_cannot_be_guessed_without_the_key():
    seed = judge.seed_for(b"key", "ann", "f")
    assert seed == judge.seed_for(b"key", "ann", "f")
    others = {
        judge.seed_for(k, s, e)
        for k, s, e in ((b"k2", "ann", "f"), (b"key", "bob", "f"), (b"key", "ann", "g"))
    }
    assert len(others | {seed}) == 4


def test_an_unknown_exercise_is_named(mini):
    for plan in (
        lambda: judge.stored(mini.root, "nope", None),
        lambda: judge.plan(mini, "nope", None, 1),
    ):
        with pytest.raises(CourseError, match="nope"):
            plan()


def test_exercises_of_a_chapter(mini):
    assert judge.exercises_of(mini.root, "01_mini") == ["twice", "words", "square_grad", "counter"]
    assert judge.exercises_of(mini.root, "99") == []
