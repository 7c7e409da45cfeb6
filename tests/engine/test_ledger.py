"""One transaction per submission: all of it reaches the disk, or nothing does."""

from contextlib import suppress

import nbgrader.converters.autograde as user
import pytest
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry

from grader.course import CourseError
from grader.engine.ledger import Ledger

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def url(empty_book):
    """A gradebook of one assignment with two notebooks, a grade of 2 points in each."""
    with Gradebook(empty_book, "c") as book:
        book.add_assignment("ps", course_id="c")
        for name in ("p1", "p2"):
            book.add_notebook(name, "ps")
            book.add_grade_cell("test", name, "ps", max_score=2, cell_type="code")
            book.add_solution_cell("answer", name, "ps")
    return empty_book


@pytest.fixture
def ledger(url):
    ledger = Ledger(url, "c")
    with ledger.installed():
        yield ledger
    ledger.close()


def _submit(ledger, student, score):
    """As nbgrader does it: open, write, commit, close, again and again."""
    for name in ("p1", "p2"):
        with user.Gradebook(ledger.db_url, "c") as book:
            book.update_or_create_student(student)
            book.update_or_create_submission("ps", student)
            grade = book.find_grade("test", name, "ps", student)
            grade.auto_score, grade.needs_manual_grade = score, False
            book.db.commit()


def _scores(url, student):
    with Gradebook(url, "c") as book:
        submission = book.find_submission("ps", student)
        grades = [nb.grades[0] for nb in sorted(submission.notebooks, key=lambda nb: nb.name)]
        return [(grade.auto_score, grade.needs_manual_grade) for grade in grades]


def test_nothing_is_on_disk_before_the_commit_and_all_of_it_after(ledger, url):
    _submit(ledger, "ann", 2)
    with pytest.raises(MissingEntry):
        _scores(url, "ann")
    ledger.commit()
    assert _scores(url, "ann") == [(2, False), (2, False)]


def test_a_rollback_forgets_one_submission_and_not_those_before(ledger, url):
    _submit(ledger, "ann", 2)
    ledger.commit()
    _submit(ledger, "ann", 0)
    _submit(ledger, "bob", 1)
    ledger.rollback()
    assert _scores(url, "ann") == [(2, False), (2, False)]
    with pytest.raises(MissingEntry):
        _scores(url, "bob")
    _submit(ledger, "bob", 1)  # and the session can go on
    ledger.commit()
    assert _scores(url, "bob") == [(1, False), (1, False)]
    assert _scores(url, "ann") == [(2, False), (2, False)]  # nor is it written by a later commit


def test_a_row_that_cannot_be_is_refused_at_once(ledger):
    with user.Gradebook(ledger.db_url, "c") as book:
        book.add_student("ann")
        with pytest.raises(InvalidEntry):
            book.add_student("ann")
    ledger.rollback()


def test_only_an_assignment_that_is_named_has_to_be_known(ledger):
    for known in ("ps", "*", "p*"):
        ledger.check_assignment(known)
    with pytest.raises(CourseError, match="no assignment none in the gradebook"):
        ledger.check_assignment("none")


def test_what_was_not_committed_is_lost_with_the_process(url):
    ledger = Ledger(url, "c")
    with ledger.installed():
        _submit(ledger, "ann", 2)
    ledger.close()
    with pytest.raises(MissingEntry):
        _scores(url, "ann")


@pytest.mark.parametrize(
    ("notebook", "after"), [(None, [(0, True), (0, True)]), ("p2", [(2, False), (0, True)])]
)
def test_a_failure_leaves_no_old_score_and_says_why(ledger, url, notebook, after):
    _submit(ledger, "ann", 2)
    ledger.commit()
    ledger.fail("ps", "ann", notebook, "it was no notebook")
    ledger.commit()
    assert _scores(url, "ann") == after
    with Gradebook(url, "c") as book:
        comment = book.find_comment("answer", "p2", "ps", "ann")
        assert comment.auto_comment == "Not graded: it was no notebook"


def test_a_student_never_seen_before_can_fail(ledger, url):
    ledger.fail("ps", "new", None, "nothing was there")
    ledger.commit()
    assert _scores(url, "new") == [(0, True), (0, True)]


def test_nbgrader_gets_its_gradebook_back_even_after_an_error(url):
    original = user.Gradebook
    ledger = Ledger(url, "c")
    with suppress(RuntimeError), ledger.installed():
        assert user.Gradebook is not original
        raise RuntimeError
    assert user.Gradebook is original
    ledger.close()


def test_marks_by_hand_are_counted_for_one_student(ledger, url):
    for name in ("ann", "bob"):
        _submit(ledger, name, 2)
    ledger.commit()
    with Gradebook(url, "c") as book:
        book.find_grade("test", "p1", "ps", "ann").manual_score = 1
        book.db.commit()
    assert [ledger.by_hand("ps", name) for name in ("ann", "bob")] == [1, 0]


def test_scores_are_known_unless_the_gradebook_has_lost_them(ledger):
    """Work that is to be marked by hand has no score of its own, and is no loss."""
    assert not ledger.scored("ps", "ann")
    known = {(2, False): True, (None, True): True, (0, False): True, (None, False): False}
    for (score, by_hand), there in known.items():
        _submit(ledger, "ann", score)
        for name in ("p1", "p2"):
            with user.Gradebook(ledger.db_url, "c") as book:
                book.find_grade("test", name, "ps", "ann").needs_manual_grade = by_hand
        assert ledger.scored("ps", "ann") is there, (score, by_hand)


def test_scores_that_are_not_what_the_run_told_are_another_backups(ledger):
    _submit(ledger, "ann", 2)
    told = {None: True, 4.0: True, 4.0 + 1e-9: True, 3.0: False, 4.5: False}
    assert {score: ledger.scored("ps", "ann", score) for score in told} == told


def test_of_a_notebook_that_failed_no_penalty_is_left_to_be_taken_off_another(ledger):
    _submit(ledger, "ann", 2)
    with user.Gradebook(ledger.db_url, "c") as book:
        for each in book.find_submission("ps", "ann").notebooks:
            each.late_submission_penalty = 1.0
    assert ledger.penalty("ps", "ann") == 2
    assert ledger.fail("ps", "ann", "p1", "it was no notebook") == ["p1"]
    assert ledger.penalty("ps", "ann") == 1


def test_only_what_a_missing_notebook_lost_for_lateness_is_taken_back(ledger):
    _submit(ledger, "ann", 2)
    with user.Gradebook(ledger.db_url, "c") as book:
        for each in book.find_submission("ps", "ann").notebooks:
            each.late_submission_penalty = {"p1": 1.0, "p2": 0.5}[each.name]
    ledger.forgive("ps", "ann", {"p1"})
    assert ledger.penalty("ps", "ann") == 0.5


def test_where_no_cell_is_graded_there_is_no_score_to_be_lost(ledger, url):
    with Gradebook(url, "c") as book:
        book.add_assignment("text", course_id="c")
        book.add_notebook("p1", "text")
    with user.Gradebook(ledger.db_url, "c") as book:
        book.update_or_create_student("ann")
        book.update_or_create_submission("text", "ann")
    assert ledger.scored("text", "ann", 0.0)
