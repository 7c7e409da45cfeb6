import pytest

from grader.grading.book import Cell, Row
from grader.grading.report import lines, write


def row(student, score, mistake=None, outcome="fail"):
    return Row(student, {"f": {"value": Cell(score, 10, outcome, mistake)}})


def test_a_line_counts_who_passed_and_which_mistakes_were_made():
    found = [
        row("a", 10, outcome="pass"),
        row("b", 5, "sign"),
        row("c", 0, "sign"),
        row("d", 0, "upstream lost"),
        row("e", 0, None, "unattempted"),
    ]
    (line,) = lines(found, ["f"])
    assert (line.passed, line.partly, line.students) == (1, 1, 5)
    assert line.mean == pytest.approx(0.3)
    assert line.mistakes == (("sign", 2), ("upstream lost", 1), ("not attempted", 1))


def test_a_class_of_none_has_a_page_too(mini):
    page = write(mini, mini.chapters[0]).read_text()
    assert "0 of 0" in page
    assert "<code>twice</code>" in page
