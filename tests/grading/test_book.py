import html
import json
import os
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from grader.course import Course
from grader.display.show import VERDICT
from grader.engine.journal import Journal
from grader.grading import book, report
from grader.grading.book import Cell, Row, rows, verdicts
from tests.cli.conftest import ANSWER


def _written(path, *said):
    outputs = [new_output("display_data", data={VERDICT: each}) for each in said]
    meta = {"nbgrader": {"grade_id": "f-value"}}
    nbformat.write(new_notebook(cells=[new_code_cell("", metadata=meta, outputs=outputs)]), path)
    return path


@pytest.mark.parametrize(
    "said", [5, [1], "x", {}, {"outcome": {}}, {"outcome": "won", "mistake": None}]
)
def test_what_no_judge_says_is_passed_over(tmp_path, said):
    real = {"outcome": "fail", "mistake": "sign"}
    path = _written(tmp_path / "a.ipynb", real, said)
    assert verdicts(path) == {"f-value": ("fail", "sign")}
    assert verdicts(_written(tmp_path / "b.ipynb", said)) == {}


@pytest.mark.parametrize(
    ("mistake", "kept"), [(["a"], None), ({}, None), ("two\nlines", "two lines"),
                          ("x" * 500, "x" * 79 + "…")]
)  # fmt: skip
def test_a_mistake_is_a_short_word(tmp_path, mistake, kept):
    path = _written(tmp_path / "a.ipynb", {"outcome": "fail", "mistake": mistake})
    assert verdicts(path) == {"f-value": ("fail", kept)}


@pytest.mark.parametrize("text", ["{oops", "[]", json.dumps({"cells": 7})])
def test_a_broken_notebook_has_said_nothing(tmp_path, text):
    (tmp_path / "a.ipynb").write_text(text)
    assert verdicts(tmp_path / "a.ipynb") == {}
    assert verdicts(tmp_path / "none.ipynb") == {}


def test_a_penalty_is_taken_off_and_never_below_nothing():
    cells = {"f": {"value": Cell(2, 3), "gradient": Cell(1, 3)}}
    assert [Row("ann", cells, penalty=lost).score for lost in (0, 1, 5)] == [3, 2, 0]


def test_to_look_makes_no_gradebook(mini):
    assert rows(mini, mini.chapters[0]) == []
    assert not (mini.root / "gradebook.db").exists()


def test_only_those_asked_for_are_read(taught, monkeypatch):
    read = []
    monkeypatch.setattr(book, "verdicts", lambda path: read.append(path) or {})
    course = Course(taught.root)
    assert [(row.student, row.score) for row in rows(course, taught.chapter, ["cat", "no"])] == [
        ("cat", 3.0)
    ]
    assert len(read) == 1


def test_who_was_begun_when_the_run_was_stopped_has_no_plain_zero(taught):
    Journal(taught.root).add(taught.chapter.name, "bob", "begun")
    faults = {row.student: row.fault for row in rows(Course(taught.root), taught.chapter)}
    assert "stopped before its end" in faults.pop("bob")
    assert set(faults.values()) == {""}


def test_graded_notebooks_are_where_the_course_has_them(taught, monkeypatch):
    read = []
    monkeypatch.setattr(book, "verdicts", lambda path: read.append(path) or {})
    with (taught.root / "nbgrader_config.py").open("a") as file:
        file.write('c.CourseDirectory.autograded_directory = "marked"\n')
    rows(Course(taught.root), taught.chapter, ["cat"])
    assert read == [taught.root / "marked/cat/01_sum/01_sum.ipynb"]


def test_what_the_run_noted_stands_beside_the_scores_and_in_the_report(taught):
    taught.submit(bob="def add(a, b): return 0")
    path = taught.root / "submitted/bob/01_sum/01_sum.ipynb"
    nb = nbformat.read(path, 4)
    nb.cells[1].metadata["tags"] = ["skip-execution"]
    nbformat.write(nb, path)
    taught.grade_here()
    course = Course(taught.root)
    notes = {row.student: row.notes for row in rows(course, taught.chapter)}
    said = "tampering: cell 'test' carried the tag skip-execution"
    assert notes == {"ann": [], "bob": [said], "cat": []}
    page = html.unescape(report.write(course, taught.chapter).read_text())
    assert page.count(said) == 1


def test_points_off_for_lateness_are_the_gradebooks(taught):
    with Gradebook(f"sqlite:///{taught.root}/gradebook.db", "gradients") as gradebook:
        (notebook,) = gradebook.find_submission("01_sum", "ann").notebooks
        notebook.late_submission_penalty = 2
        gradebook.db.commit()
    found = {
        row.student: (row.penalty, row.score) for row in rows(Course(taught.root), taught.chapter)
    }
    assert (found["ann"], found["cat"]) == ((2, 1), (0, 3))


def test_the_last_verdict_of_a_cell_counts(tmp_path):
    """The hidden check, on fresh inputs, comes after the visible one."""
    visible, hidden = ({"outcome": "pass", "mistake": None}, {"outcome": "fail", "mistake": "sign"})
    assert verdicts(_written(tmp_path / "a.ipynb", visible, hidden)) == {
        "f-value": ("fail", "sign")
    }


def test_notebooks_of_one_chapter_may_give_their_cells_the_same_names(taught):
    folder = taught.root / "solutions/01_sum"
    taught.submit(dan=ANSWER)
    for place in (folder, taught.root / "submitted/dan/01_sum"):
        shutil.copy(place / "01_sum.ipynb", place / "extra.ipynb")
    with Gradebook(f"sqlite:///{taught.root}/gradebook.db", "gradients") as gradebook:
        gradebook.remove_assignment("01_sum")  # nbgrader adds no notebook to what is graded
    taught.grade_here("dan")
    graded = taught.root / "autograded/dan/01_sum"
    for name, mistake in (("01_sum", "sign"), ("extra", "factor")):
        nb = nbformat.read(graded / f"{name}.ipynb", 4)
        said = {VERDICT: {"outcome": "fail", "mistake": mistake}}
        nb.cells[1].outputs = [new_output("display_data", data=said)]
        os.chmod(graded / f"{name}.ipynb", 0o644)
        nbformat.write(nb, graded / f"{name}.ipynb")
    (row,) = rows(Course(taught.root), taught.chapter)
    assert (row.score, row.of("")) == (taught.scores()["dan"], (6, 6))
    assert sorted(row.mistakes("")) == ["factor", "sign"]


def test_whose_name_no_gradebook_takes_is_not_left_out(taught):
    folders = [taught.root / "submitted" / name / "01_sum" for name in ("j\udcf6rg", "new\nline")]
    for folder in folders:
        folder.mkdir(parents=True)
        shutil.copy(taught.root / "submitted/ann/01_sum/01_sum.ipynb", folder)
    assert taught.grade_here("j\udcf6rg", "new\nline").exit_code == 1
    course = Course(taught.root)
    faults = {row.student: row.fault for row in rows(course, taught.chapter) if row.fault}
    said = "the name of the student's folder "
    assert faults == {"j\udcf6rg": f"{said}is not UTF-8: rename it",
                      "new\nline": f"{said}has two lines: rename it"}  # fmt: skip
    assert [row.student for row in rows(course, taught.chapter, ["ann"])] == ["ann"]
    page = html.unescape(report.write(course, taught.chapter).read_text())
    assert page.count(f"j\\udcf6rg</td><td>{said}") == 1
    shutil.rmtree(folders[0].parent)  # renamed, as the reason has it
    assert "j\udcf6rg" not in {row.student for row in rows(course, taught.chapter)}
