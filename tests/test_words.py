import pytest

from grader import words


@pytest.mark.parametrize(
    "noun", ["an int", "a dict", "an EagerTensor", "an ndarray", "a uint8", "a Variable"]
)
def test_a_noun_has_its_article(noun):
    assert words.a(noun.split()[1]) == noun


def test_a_long_text_is_cut():
    assert words.cut("abc", 3) == "abc"
    assert words.cut("abcd", 3) == "abc…"
