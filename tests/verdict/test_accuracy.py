"""Truths that are not numbers to be met: a floor of accuracy, functions planted for a checker."""

import numpy as np
import pytest

from grader import store
from grader.contract import Accuracy, Case, Exercise
from grader.display.report import report
from grader.key import Key, key, terms
from grader.probe.outcome import of
from grader.verdict import decide

LABELS = np.arange(10) % 5
FLOOR = Accuracy(LABELS, 0.8, "always 0: 20%")


def exercise(truth, **options):
    return Exercise(
        "f",
        lambda rng: [Case("held out", {}, part="value", modes=("eager",))],
        lambda case: truth,
        {"value": 1},
        ("a", "b"),
        probe="own",
        options=options,
    )


def judged(made, observed):
    cases = made.cases(None)
    seen = {("held out", "eager", what): of(value) for what, value in observed.items()}
    return decide(terms(made), key(made, cases), cases, seen, "value")


@pytest.mark.parametrize(
    ("wrong", "outcome", "mistake"),
    [(0, "pass", None), (2, "pass", None), (3, "fail", "below the floor"), (9, "fail", "guessing")],
)
def test_a_share_of_the_labels_must_be_right(wrong, outcome, mistake):
    labels = LABELS.copy()
    labels[:wrong] += 7
    got = judged(exercise({"labels": FLOOR}), {"labels": labels})
    assert (got.outcome, got.mistake) == (outcome, mistake)
    rows = dict(report(got).rows)
    assert rows["held-out accuracy"] == f"{100 - 10 * wrong:.1f}%"
    assert rows["floor"] == "80.0%"
    assert rows["trivial models"] == "always 0: 20%"


def test_labels_of_another_shape_are_not_counted():
    assert judged(exercise({"labels": FLOOR}), {"labels": LABELS[:5]}).mistake == "shape"


def test_a_floor_survives_the_store(tmp_path):
    made = exercise({"labels": FLOOR})
    cases = made.cases(None)
    kept = Key({("held out", "labels"): FLOOR}, {})
    arrays, words = store.dump({"f": (terms(made), cases, kept)}, "", "T", {})
    (tmp_path / "a.npz").write_bytes(arrays)
    (tmp_path / "a.json").write_bytes(words)
    back = store.Shelf(tmp_path / "a.npz", tmp_path / "a.json")["f"][2].truth["held out", "labels"]
    assert back.labels.tolist() == LABELS.tolist()
    assert (back.floor, back.beside) == (0.8, FLOOR.beside)


TRUTH = {"entry:sign": False, "entry:factor": False, "entry:fine": True, "entry:linear": True}
PLANTED = exercise(
    TRUTH,
    by_entry=True,
    planted=["sign", "factor"],
    because=dict.fromkeys(TRUTH, "because"),
    allowed=[True, False],
)


@pytest.mark.parametrize(
    ("changes", "fraction"),
    [
        ({}, 1.0),
        ({"entry:sign": True}, 0.5),
        ({"entry:fine": False}, 0.5),
        ({"entry:sign": True, "entry:fine": False}, 0.0),
        (dict.fromkeys(TRUTH, True), 0.0),
        (dict.fromkeys(TRUTH, False), 0.0),
        ({entry: not truth for entry, truth in TRUTH.items()}, 0.0),
    ],
    ids=[
        "all right",
        "one missed",
        "one false alarm",
        "one of each",
        "content",
        "alarmed",
        "all wrong",
    ],
)
def test_a_checker_scores_by_faults_caught_less_false_alarms(changes, fraction):
    got = judged(PLANTED, TRUTH | changes)
    assert got.fraction == fraction
    assert got.passed == (fraction == 1)
    assert len(got.rows) == 4
