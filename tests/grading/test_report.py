import re
from dataclasses import replace

import pytest

from grader.contract import Mistake
from grader.course import Course, CourseError
from grader.grading.book import Cell, Row, rows
from grader.grading.report import _says, lines, write


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


def test_who_has_no_cell_of_an_exercise_has_not_passed_it():
    (line,) = lines([row("a", 10), Row("b")], ["f"])
    assert (line.passed, line.partly, line.students, line.mean) == (1, 0, 2, 0.5)


def test_a_class_of_none_has_a_page_too(mini):
    page = write(mini, mini.chapters[0]).read_text()
    assert "0 of 0" in page
    assert "<code>twice</code>" in page


def test_the_page_says_what_is_behind_a_mistakes_name(mini, monkeypatch):
    made = [Row("a", {"twice": {"gradient": Cell(0, 10, "fail", "true derivative")}}),
            Row("b", {"twice": {"gradient": Cell(0, 10, "fail", "by nobody <named>")}})]  # fmt: skip
    monkeypatch.setattr("grader.grading.report.rows", lambda *_: made)
    page = write(mini, mini.chapters[0]).read_text()
    assert page.count("<details ") == page.count('title="') == 1
    assert re.search(r"true derivative <span.*?</summary><p>[A-Z]", page)
    assert "by nobody &lt;named&gt;" in page


def test_what_is_behind_a_name_is_told_without_the_marks_of_code(mini, monkeypatch):
    made = [Row("a", {"twice": {"value": Cell(0, 10, "fail", "nothing returned")}})]
    monkeypatch.setattr("grader.grading.report.rows", lambda *_: made)
    page = write(mini, mini.chapters[0]).read_text()
    assert page.count("Your function returned None. Is a return missing?") == 2


def test_an_exercises_own_words_go_before_those_for_all(mini):
    exercise = mini.chapters[0].exercises()["twice"]
    own = replace(exercise, mistakes=(Mistake("sign", "`tf.sign`, that is.", pattern="sign"),))
    assert _says(own)["sign"] == "tf.sign, that is."
    assert _says(exercise)["sign"] != _says(own)["sign"]


def test_a_file_in_the_reports_way_is_said(taught):
    (taught.root / "report").write_text("mine")
    with pytest.raises(CourseError, match="report is no folder: move it away"):
        write(Course(taught.root), taught.chapter)


def test_a_fault_is_told_in_the_report_and_in_the_rows_until_it_is_mended(taught):
    course = Course(taught.root)
    (taught.root / "submitted/bob/01_sum/01_sum.ipynb").write_text("{")
    assert taught.grade_here().count("fault") == 1
    faults = {each.student: each.fault for each in rows(course, taught.chapter)}
    assert "01_sum.ipynb" in faults.pop("bob")
    assert set(faults.values()) == {""}
    page = write(course, taught.chapter).read_text()
    assert "Not graded as it should be" in page
    assert page.count("<td>bob</td>") == 2
    taught.submit(bob="def add(a, b): return b + a")
    assert taught.grade_here().count("fault") == 0
    assert {each.fault for each in rows(course, taught.chapter)} == {""}
    assert "Not graded" not in write(course, taught.chapter).read_text()
