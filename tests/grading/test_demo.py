import shutil

import nbformat

from grader.grading import demo
from grader.grading.demo import choices, make_class, roster


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
    for student, given in made.items():
        path = mini.root / "submitted" / student / chapter.name / chapter.notebook.name
        book = nbformat.read(path, as_version=4)
        assert [c.id for c in book.cells] == [c.id for c in released.cells]
        for cell in book.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in given:
                text = demo.text_of(choices(chapter), name, given[name])
                assert text is None or cell.source == text.strip()


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
