"""A prediction is read word by word; what is missing may be a misspelling."""

import numpy as np
import pytest

from grader.contract import Case
from grader.probe.outcome import Outcome
from grader.probe.table import probe


def entries(answer, *keys):
    return probe({"keys": keys})(answer, Case("all", {}), "eager")


@pytest.mark.parametrize(
    ("given", "word"),
    [("zero", "zero"), ("  Zero\n", "zero"), (None, "none"), (True, True), (3, 3)],
)
def test_case_and_outer_spaces_do_not_count_and_none_is_the_word(given, word):
    (got,) = entries({"a": given}, "a").values()
    assert (type(got), got) == (type(word), word)


def test_numpys_truth_is_pythons():
    assert entries({"a": np.bool_(False)}, "a") == {"entry:a": False}
    assert type(entries({"a": np.bool_(False)}, "a")["entry:a"]) is bool


def test_a_missing_entry_is_no_answer_and_its_misspelling_is_near():
    got = entries({"relu_grad": "zero", 7: "x", "sign": "none"}, "relu_grads", "sign")
    assert got["entry:relu_grads"] == Outcome("none", detail={"near": "relu_grad"})
    assert entries({}, "sign")["entry:sign"] == Outcome("none")


def test_an_entry_that_is_asked_for_is_no_misspelling_of_another():
    got = entries({"relu_1": "zero"}, "relu_1", "relu_2")
    assert got["entry:relu_2"] == Outcome("none")


def test_what_is_no_dictionary_is_told_by_its_type():
    got = entries([("a", "zero")], "a")
    assert set(got) == {"error"}
    assert got["error"].kind == "type"
