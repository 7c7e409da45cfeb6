import pytest

from grader.contract import Case
from grader.probe.outcome import Outcome, of
from grader.verdict.compare import Finding
from grader.verdict.tables import lines, planted

ASKED = {"allowed": (True, False, "zero", "none"), "because": {"entry:a": "why"}}


def finding(status, outcome, entry="a"):
    return Finding(Case("c", {}), "eager", f"entry:{entry}", status, None, outcome)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (of("True"), "a: not 'True', a text: write it without quotes."),
        (of("maybe"), "a: not one of True, False, zero, none."),
        (of("zero"), "a: not zero. why"),
        (of(False), "a: not False. why"),
        (Outcome("none"), "a: not answered yet."),
        (
            Outcome("none", detail={"near": "A"}),
            "a: not answered yet. Nothing is asked about 'A': is it misspelt?",
        ),
    ],
)
def test_a_wrong_entry_has_its_reason(answer, said):
    status = "none" if answer.kind == "none" else "word"
    assert lines([finding(status, answer)], ASKED) == said


def test_each_planted_function_has_its_row():
    because = {f"entry:{name}": "why" for name in "abcde"}
    found = [
        finding("right", of(False)),
        finding("word", of(True), "b"),
        finding("right", of(True), "c"),
        finding("word", of(False), "d"),
        finding("error", Outcome("error", text="boom", detail={"type": "ValueError"}), "e"),
    ]
    assert planted(found, {"planted": ["a", "b", "e"], "because": because}) == (
        ("a", "fault caught"),
        ("b", "fault missed. why"),
        ("c", "correct, passed"),
        ("d", "false alarm. why"),
        ("e", "your checker raised ValueError: boom"),
    )
    assert planted(found, {"because": because}) == ()
