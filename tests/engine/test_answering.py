"""What a submission raises when the judge asks is an answer, whatever it is."""

import pytest

from grader.engine import answering, frames


class Mute(Exception):
    def __str__(self):
        raise ZeroDivisionError


def _answer(error):
    def target():
        raise error

    question = frames.pack_parts({"expression": "target()"}, [b""])
    head, blobs = frames.unpack_parts(answering.answer(question, {"target": target}))
    assert blobs == []
    assert (head["ok"], head["where"]) == (False, "expression")
    return head["name"], head["text"]


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit, ValueError])
def test_what_ends_other_programs_ends_no_submission(kind):
    assert _answer(kind("so it is")) == (kind.__name__, "so it is")


def test_an_error_that_cannot_be_told_has_its_name():
    assert _answer(Mute()) == ("Mute", "")


def test_an_error_of_many_words_is_cut_short():
    name, text = _answer(type("E" * 1000, (Exception,), {})("x" * 10_000))
    assert (len(name), len(text)) == (80, 500)
