import shutil

import nbformat
import pytest

from grader.build.cells import read
from grader.course import Course, CourseError
from grader.grading.demo import choices, make_class, roster

RAISES = 'raise ValueError("no idea")'


def test_the_first_knows_all_the_second_nothing_the_third_raises(mini):
    made = roster(mini.chapters[0], 12)
    assert len(made) == 12
    firsts = [set(given.values()) for given in list(made.values())[:3]]
    assert firsts == [{"the solution"}, {"not attempted"}, {"raising"}]


def test_a_class_of_that_size_gives_every_answer_once(mini):
    chapter = mini.chapters[0]
    given = {(e, what) for row in roster(chapter, 16).values() for e, what in row.items()}
    assert {(e, what) for e, answers in choices(chapter).items() for what in answers} <= given


def test_submissions_are_the_released_notebooks_with_answers_put_in(mini):
    chapter = mini.chapters[0]
    made = make_class(mini, chapter, 4)
    released = nbformat.read(chapter.notebook, as_version=4)
    solved = read(chapter).cells
    texts = {c.metadata.answer: c.source.strip() for c in solved if "answer" in c.metadata}
    expected = (texts, {}, {name: f"{name} = None\n{RAISES}" for name in texts})
    for student, replaced in zip(made, expected, strict=False):  # the fourth's are of answers.py
        path = mini.root / "submitted" / student / chapter.name / chapter.notebook.name
        book = nbformat.read(path, as_version=4)
        assert [c.id for c in book.cells] == [c.id for c in released.cells]
        for cell, starter in zip(book.cells, released.cells, strict=True):
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            assert cell.source == replaced.get(name, starter.source)


def test_the_fourth_gives_answers_of_the_chapters_own_list(mini):
    chapter = mini.chapters[0]
    given = make_class(mini, chapter, 4)["demo-04"]
    path = mini.root / "submitted" / "demo-04" / chapter.name / chapter.notebook.name
    cells = {c.metadata.nbgrader.grade_id: c.source
             for c in nbformat.read(path, as_version=4).cells if "nbgrader" in c.metadata}  # fmt: skip
    written = chapter.load("answers").ANSWERS
    theirs = {name: what for name, what in given.items() if what in written[name]}
    assert theirs
    assert {n: cells[n] for n in theirs} == {n: written[n][w].strip() for n, w in theirs.items()}


def test_what_a_demo_student_handed_in_for_another_chapter_stays(mini):
    other = mini.root / "submitted/demo-03/02_other/work.txt"
    other.parent.mkdir(parents=True)
    other.write_text("work")
    make_class(mini, mini.chapters[0], 4)
    make_class(mini, mini.chapters[0], 2)
    assert other.read_text() == "work"
    shutil.rmtree(mini.root / "submitted")


def test_only_demo_students_are_replaced(mini):
    chapter = mini.chapters[0]
    names = ("ann", "demo-anna", "demo-1", "demo-12b")
    work = [mini.root / "submitted" / name / chapter.name / "mine.txt" for name in names]
    for real in work:
        real.parent.mkdir(parents=True)
        real.write_text("work")
    make_class(mini, chapter, 4)
    make_class(mini, chapter, 2)
    assert [real.read_text() for real in work] == ["work"] * len(work)
    students = {p.parent.name for p in (mini.root / "submitted").glob("*/01_mini")}
    assert students == {"demo-01", "demo-02", *names}
    assert not (mini.root / "submitted/demo-03").exists()
    shutil.rmtree(mini.root / "submitted")


def test_a_chapter_that_was_not_built_gets_no_class(mini, tmp_path):
    shutil.copytree(mini.root, tmp_path, dirs_exist_ok=True)
    course = Course(tmp_path)
    course.chapters[0].notebook.unlink()
    with pytest.raises(CourseError, match=r"01_mini.ipynb is missing: grader build 01 makes it"):
        make_class(course, course.chapters[0])
    assert not (tmp_path / "submitted").exists()


def test_answers_without_their_dictionary_are_said_to_be_so(mini, tmp_path):
    shutil.copytree(mini.root, tmp_path, dirs_exist_ok=True)
    course = Course(tmp_path)
    (course.chapters[0].folder / "answers.py").write_text("ANSWERS = []\n")
    with pytest.raises(CourseError, match=r"01_mini: answers.py has no dictionary ANSWERS"):
        make_class(course, course.chapters[0])
