"""The shared gradebook must say what nbgrader's own says, in fewer queries."""

import pytest
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy import event

from grader.engine.ledger import Ledger

# nbgrader's own add_submission makes SQLAlchemy warn.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
CELLS = [f"cell-{i}" for i in range(5)]


@pytest.fixture
def url(empty_book):
    """Two assignments with cells of the same names, two students who handed in."""
    with Gradebook(empty_book) as book:
        for assignment in ("a", "b"):
            book.add_assignment(assignment)
            book.add_notebook("n", assignment)
            for i, name in enumerate(CELLS):
                more = {"max_score": i + (assignment == "b"), "cell_type": "code"}
                book.add_grade_cell(name, "n", assignment, **more)
                book.add_solution_cell(f"{name}-s", "n", assignment)
                book.add_source_cell(
                    name, "n", assignment, cell_type="code", source=f"{assignment}{i}"
                )
            book.add_task_cell("task", "n", assignment, max_score=9, cell_type="markdown")
        for student in ("x", "y"):
            book.add_student(student)
            for assignment in ("a", "b"):
                book.add_submission(assignment, student)
    return empty_book


@pytest.fixture
def ledger(url):
    ledger = Ledger(url, "default_course")
    yield ledger
    ledger.close()


def shared(ledger):
    import nbgrader.preprocessors.saveautogrades as user

    return user.Gradebook(ledger.db_url)


def test_every_cell_grade_and_comment_is_nbgraders_own(url, ledger):
    with Gradebook(url) as plain, ledger.installed():
        book = shared(ledger)
        for a in ("a", "b"):
            for name in CELLS:
                assert book.find_source_cell(name, "n", a).source == (
                    plain.find_source_cell(name, "n", a).source
                )
                assert book.find_graded_cell(name, "n", a).id == (
                    plain.find_graded_cell(name, "n", a).id
                )
                for s in ("x", "y"):
                    assert book.find_grade(name, "n", a, s).id == (
                        plain.find_grade(name, "n", a, s).id
                    )
                    assert book.find_comment(f"{name}-s", "n", a, s).id == (
                        plain.find_comment(f"{name}-s", "n", a, s).id
                    )
            assert book.find_graded_cell("task", "n", a).max_score == 9
            assert (
                book.find_grade("task", "n", a, "x").id == plain.find_grade("task", "n", a, "x").id
            )


def test_what_is_not_there_is_missing(ledger):
    with ledger.installed():
        book = shared(ledger)
        for find, given in ((book.find_source_cell, ()), (book.find_graded_cell, ()),
                            (book.find_grade, ("x",)), (book.find_comment, ("x",))):  # fmt: skip
            with pytest.raises(MissingEntry):
                find("no such cell", "n", "a", *given)
            with pytest.raises(MissingEntry):
                find(CELLS[0], "no such notebook", "a", *given)


def test_one_query_serves_all_cells_of_a_notebook(ledger):
    asked = []
    with ledger.installed():
        book = shared(ledger)
        event.listen(ledger.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
        for name in CELLS:
            book.find_grade(name, "n", "a", "x").auto_score = 1
            book.db.commit()
    assert len([text for text in asked if text.startswith("SELECT")]) == 1


def test_scores_wait_for_the_ledger_and_then_are_there(url, ledger):
    with ledger.installed():
        book = shared(ledger)
        for name in CELLS:
            book.find_grade(name, "n", "a", "x").auto_score = 0.5
            book.db.commit()
        with Gradebook(url) as plain:
            assert plain.find_grade(CELLS[1], "n", "a", "x").auto_score is None
        ledger.commit()
        with Gradebook(url) as plain:
            assert plain.find_submission("a", "x").score == 2.5
            assert plain.find_submission("a", "y").score == 0
        book.find_grade(CELLS[1], "n", "a", "x").auto_score = 7
        ledger.rollback()
        assert book.find_grade(CELLS[1], "n", "a", "x").auto_score == 0.5


def test_what_another_program_changed_is_seen_after_a_commit(url, ledger):
    with ledger.installed():
        book = shared(ledger)
        assert book.find_grade(CELLS[1], "n", "a", "x").manual_score is None
        ledger.commit()
        with Gradebook(url) as plain:
            plain.find_grade(CELLS[1], "n", "a", "x").manual_score = 3
            plain.db.commit()
        assert book.find_grade(CELLS[1], "n", "a", "x").manual_score == 3
