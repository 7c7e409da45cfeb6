"""Feedback is written for those whose page is missing or no longer true, and for nobody else."""

import multiprocessing
import os
import signal

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from grader.course import Course, CourseError
from grader.engine import pages
from grader.grading import feedback


def _book(taught):
    return Gradebook(f"sqlite:///{taught.root}/gradebook.db", "gradients")


def test_what_is_true_is_not_written_again(taught):
    before = {name: taught.page(name).stat().st_ino for name in ("ann", "bob", "cat")}
    assert taught.told() == 0
    assert {name: taught.page(name).stat().st_ino for name in before} == before


@pytest.mark.parametrize("how", ["missing", "cut short", "an older notebook's"])
def test_a_page_that_is_not_the_notebooks_is_written(taught, how):
    page = taught.page("bob")
    whole = page.read_text()
    if how == "an older notebook's":
        book = taught.root / "autograded/bob/01_sum/01_sum.ipynb"
        os.utime(book, (book.stat().st_atime, book.stat().st_mtime + 1))
    page.unlink() if how == "missing" else page.write_text(whole[:2000])
    assert taught.told() == 1
    assert page.read_text() == whole
    assert taught.told() == 0


def test_a_template_of_the_courses_own_is_used(taught):
    """As `nbgrader generate_feedback` does."""
    template = taught.root / "looks/mine"
    template.mkdir(parents=True)
    (template / "conf.json").write_text('{"base_template": "base"}')
    (template / "index.html.j2").write_text("{{ resources.nbgrader.score }} points, says Bob's")
    with (taught.root / "nbgrader_config.py").open("a") as file:
        file.write("\nc.HTMLExporter.template_name = 'mine'\n")
        file.write(f"c.HTMLExporter.extra_template_basedirs = [{str(template.parent)!r}]\n")
    assert taught.told(force=True) == 3
    assert taught.page("ann").read_text() == "3.0 points, says Bob's"


def test_who_is_graded_again_gets_a_new_page(taught):
    assert taught.told(force=True) == 3
    assert "Score: 0.0 / 3.0" in taught.page("bob").read_text()


@pytest.mark.parametrize("what", ["score", "extra credit", "comment"])
def test_a_mark_by_hand_is_shown_and_taken_back(taught, what):
    words = {"score": "Score: 2.0 / 3.0", "extra credit": "Score: 1.5 / 3.0",
             "comment": "well tried"}[what]  # fmt: skip

    def mark(score, credit, comment):
        with _book(taught) as book:
            grade = book.find_grade("test", "01_sum", "01_sum", "bob")
            if what == "comment":
                book.find_comment("add", "01_sum", "01_sum", "bob").manual_comment = comment
            else:
                grade.manual_score = score if what == "score" else None
                grade.extra_credit = credit if what == "extra credit" else None
            book.db.commit()

    mark(2.0, 1.5, "well tried")
    assert taught.told() == 1
    assert words in taught.page("bob").read_text()
    assert taught.told() == 0
    mark(None, None, None)
    assert taught.told() == 1
    assert words not in taught.page("bob").read_text()
    assert taught.told() == 0


def test_what_else_lies_beside_a_page_stays(taught):
    letter = taught.page("ann").with_name("letter.pdf")
    letter.write_text("to Ann")
    taught.told(force=True)
    assert letter.read_text() == "to Ann"


def test_a_name_that_reads_as_a_pattern_gets_a_page(taught):
    taught.submit(**{"[b]": "def add(a, b): return 0"})
    assert taught.told() == 1
    assert "Score: 0.0 / 3.0" in taught.page("[b]").read_text()


def test_several_processes_write_what_one_writes(taught, monkeypatch):
    one = {name: taught.page(name).read_text() for name in ("ann", "bob", "cat")}
    for name in one:
        taught.page(name).unlink()
    monkeypatch.setattr(pages, "WORTH", 1)
    heard = []
    course = Course(taught.root)
    assert feedback.write(course, taught.chapter, [*one], 2, lambda *n: heard.append(n)) == []
    assert heard == [(1, 3), (2, 3), (3, 3)]
    assert {name: taught.page(name).read_text() for name in one} == one


def test_a_process_that_is_killed_is_said_and_the_next_run_carries_on(taught, monkeypatch):
    for name in ("ann", "bob", "cat"):
        taught.page(name).unlink()
    monkeypatch.setattr(pages, "WORTH", 1)
    course = Course(taught.root)

    def kill(done, of):
        for child in multiprocessing.active_children():
            child.kill()

    monkeypatch.setattr(pages, "_write", _slowly)
    with pytest.raises(CourseError, match=r"was killed.*then grade again: what is done is kept"):
        feedback.write(course, taught.chapter, ["ann"], 2, kill)
    monkeypatch.undo()
    assert taught.told() in (1, 2)
    assert all(taught.page(name).is_file() for name in ("ann", "bob", "cat"))


def _slowly(student):
    if student == "cat":
        signal.pause()
    return pages._writer.write(student)


def test_ctrl_c_keeps_what_is_written(taught):
    for name in ("ann", "bob", "cat"):
        taught.page(name).unlink()

    def stop(done, of):
        raise KeyboardInterrupt

    run = taught.grade_here(tell=stop)
    assert (run.interrupted, run.exit_code) == (True, 1)
    assert taught.told() == 2


def test_a_notebook_that_has_no_page_is_named(taught):
    (taught.root / "autograded/bob/01_sum/01_sum.ipynb").write_text("{")
    run = taught.grade_here()
    assert run.warnings == ["01_sum: 1 without feedback (bob)"]
    assert not taught.page("bob").exists()


@pytest.mark.parametrize("text", ["[1", "[]", '{"01_sum": [1]}'])
def test_a_record_that_cannot_be_read_costs_a_page_and_no_more(taught, text):
    with _book(taught) as book:
        book.find_grade("test", "01_sum", "01_sum", "bob").manual_score = 2.0
        book.db.commit()
    assert taught.told() == 1
    (taught.root / ".grader/feedback.json").write_text(text)
    assert taught.told() == 1
    assert taught.told() == 0


def test_a_score_by_hand_that_outlives_the_answer_is_said(taught):
    with _book(taught) as book:
        book.find_grade("test", "01_sum", "01_sum", "ann").manual_score = 1.0
        book.db.commit()
    taught.submit(ann="def add(a, b): return b + a")
    outcomes = {each.student: each for each in taught.grade_here().outcomes}
    assert outcomes["ann"].score == 3
    assert outcomes["ann"].notes == ["scores given by hand stay, look again: 1"]
    assert "Score: 1.0 / 3.0" in taught.page("ann").read_text()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms on this system")
def test_a_page_that_takes_too_long_holds_nobody_up(taught, monkeypatch):
    path = taught.root / "autograded/bob/01_sum/01_sum.ipynb"
    nb = nbformat.read(path, 4)
    nb.cells.append(new_markdown_cell("a" + " " * 300_000 + "b"))  # minutes in nbconvert
    nbformat.write(nb, path)
    taught.page("cat").unlink()
    monkeypatch.setattr(pages, "SECONDS", 3.0)
    run = taught.grade_here()
    said = "01_sum: 1 without feedback (bob); 1 took more than 3 s and was given up"
    assert (run.warnings, run.exit_code) == ([said], 1)
    assert not taught.page("bob").exists()
    assert "Score: 3.0 / 3.0" in taught.page("cat").read_text()


@pytest.mark.parametrize("place", ["feedback", "feedback/bob", ".grader/feedback.new"])
def test_what_lies_in_the_way_of_feedback_is_said_and_the_scores_are_there(taught, place):
    path = taught.root / place
    if path.is_dir():
        path.rename(taught.root / "old")
    if place.startswith("."):
        path.mkdir()  # where the record of marks is written to
        with _book(taught) as book:
            book.find_grade("test", "01_sum", "01_sum", "bob").manual_score = 2.0
            book.db.commit()
    else:
        path.write_text("")
        (taught.root / "submitted/bob/01_sum/01_sum.ipynb").write_text("{")
    with pytest.raises(CourseError, match="all is graded, but feedback is missing: .*" + place):
        taught.grade_here()
    assert taught.scores() == {"ann": 3, "bob": 2 if place.startswith(".") else 0, "cat": 3}


@pytest.mark.parametrize(("count", "ends"), [(5, "s4)"), (6, "s4, …)")])
def test_of_many_without_feedback_five_are_named(taught, monkeypatch, count, ends):
    monkeypatch.setattr(feedback, "_write", lambda *given: 0)
    monkeypatch.setattr(feedback, "_current", lambda *given: False)
    names = [f"s{number}" for number in range(count)]
    (said,) = feedback.write(Course(taught.root), taught.chapter, names)
    assert said == f"01_sum: {count} without feedback (s0, s1, s2, s3, {ends}"
