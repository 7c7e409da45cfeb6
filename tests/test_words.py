import pytest

from grader import words


@pytest.mark.parametrize(
    "noun", ["an int", "a dict", "an EagerTensor", "an ndarray", "a uint8", "a Variable"]
)
def test_a_noun_has_its_article(noun):
    assert words.a(noun.split()[1]) == noun


def test_a_case_that_is_called_after_its_dtype_reads_as_a_sentence():
    said = words.checked(["a matrix", "float64"], ["called directly"], 0.0)
    assert said == "Checked on a matrix; inputs in float64; called directly."
    assert words.where("float64", "eager") == "inputs in float64, called directly"
    assert words.where("floats of all sizes", "x") == "floats of all sizes"


def test_a_long_text_is_cut():
    assert words.cut("abc", 3) == "abc"
    assert words.cut("abcd", 3) == "abc…"
