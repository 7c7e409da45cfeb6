"""Which submissions are graded, and what about one of them must not keep the others waiting."""

import os
import shutil
import sqlite3

import nbformat
import pytest
from nbgrader.api import Gradebook

from grader.course import CourseError
from grader.engine import preflight
from grader.engine.batch import GradingError
from grader.engine.journal import Journal

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


def test_a_name_that_reads_as_a_pattern_is_a_name(tiny):
    tiny.submit("[b]", sq="def sq(a): return 0")
    assert tiny.grade()["[b]"].score == 5
    tiny.submit("b")
    assert {name: each.score for name, each in tiny.grade(force=True).items()} == {"[b]": 5, "b": 9}
    for path in (tiny.root / "submitted/[b]/ps").iterdir():
        path.unlink()
    assert tiny.grade(force=True)["[b]"].kind == "missing"  # b's notebooks are b's


def test_a_name_of_two_lines_stops_nobody_else(alongside, tiny):
    tiny.submit("new\nline")
    alongside("new\nline")
    states = {name: each.state for name, each in tiny.grade().items()}
    assert states.items() >= {"a-good": "skipped", "z-good": "skipped"}.items()


def test_a_time_of_submission_that_is_a_pipe_is_not_opened_after_a_grading_either(tiny):
    folder = tiny.submit("m-odd")
    (folder / "timestamp.txt").write_text("2026-01-01 00:00:00 UTC")
    assert tiny.grade()["m-odd"].score == 9
    (folder / "timestamp.txt").unlink()
    os.mkfifo(folder / "timestamp.txt")
    odd = tiny.grade()["m-odd"]  # and does not wait for ever
    assert (odd.state, odd.reason) == ("fault", "timestamp.txt is a FIFO")
    assert tiny.scores("m-odd") == (0, True)  # the old ones were for what is no more
    assert not (tiny.root / "autograded/m-odd/ps").exists()


@pytest.mark.parametrize("told", ["", "2026-01-01 00:00:00 UTC"])
@pytest.mark.parametrize("made", ["no date", "2020-01-01 00:00:00 UTC"])
def test_a_time_of_submission_that_a_cell_writes_is_none(tiny, told, made):
    """nbgrader compares the one in autograded/ with the one that was handed in."""
    writes = f"open('timestamp.txt', 'w').write({made!r})\ndef add(a, b): return a + b"
    (tiny.submit("ann", add=writes) / "timestamp.txt").write_text(told)
    assert tiny.grade()["ann"].score == 9
    assert tiny.grade()["ann"].state == "skipped"
    assert (tiny.root / "autograded/ann/ps/timestamp.txt").read_text() == told


def test_what_is_handed_in_anew_is_graded_anew(tiny):
    """Without a timestamp.txt on both sides nbgrader keeps the old scores."""
    for name in ("ann", "bob", "cat", "dan"):
        tiny.submit(name, **({"sq": "def sq(a): return 0"} if name == "bob" else {}))
    tiny.grade()
    tiny.submit("ann", sq="def sq(a): return 0")
    tiny.submit("bob")
    (tiny.root / "submitted/cat/ps/timestamp.txt").write_text("2026-01-01 00:00:00 UTC")
    states = {name: (each.state, each.score) for name, each in tiny.grade().items()}
    assert states == {"ann": ("graded", 5), "bob": ("graded", 9), "cat": ("graded", 9),
                      "dan": ("skipped", 0)}  # fmt: skip
    assert [tiny.scores(name)[0] for name in ("ann", "bob", "cat", "dan")] == [5, 9, 9, 9]
    assert {each.state for each in tiny.grade().values()} == {"skipped"}


def test_a_file_beside_the_notebooks_is_part_of_what_is_handed_in(tiny):
    folder = tiny.submit("ann", add="from helper import add")
    (folder / "helper.py").write_text("def add(a, b): return a - b")
    assert tiny.grade()["ann"].score == 7
    (folder / "helper.py").write_text("def add(a, b): return a + b")
    assert tiny.grade()["ann"].score == 9
    assert tiny.grade()["ann"].state == "skipped"


def test_who_was_asked_something_else_is_graded_anew(tiny):
    tiny.submit("ann")
    tiny.grade()
    path = tiny.root / "source/ps/p1.ipynb"
    nb = nbformat.read(path, 4)
    nb.cells[1].metadata.nbgrader.points = 12
    nbformat.write(nb, path)
    tiny.nbgrader("generate_assignment", "ps", "--force")
    assert tiny.grade()["ann"].score == 19
    assert tiny.scores("ann") == (19, False)
    folder = tiny.root / "solutions/ps"
    folder.mkdir(parents=True)
    (folder / "reference.py").write_text("EXERCISES = []\n")
    assert tiny.grade()["ann"].state == "graded"
    assert tiny.grade()["ann"].state == "skipped"


def test_without_the_journal_nobody_knows_what_was_graded(tiny):
    tiny.submit("ann")
    tiny.grade()
    shutil.rmtree(tiny.root / ".grader")
    tiny.submit("ann", sq="def sq(a): return 0")
    assert tiny.grade()["ann"].score == 5


def test_a_gradebook_from_a_backup_gets_the_later_scores(tiny):
    tiny.submit("ann", sq="def sq(a): return 0")
    tiny.grade()
    shutil.copy(tiny.root / "gradebook.db", tiny.root / "backup.db")
    tiny.submit("ann")
    assert tiny.grade()["ann"].score == 9
    shutil.copy(tiny.root / "backup.db", tiny.root / "gradebook.db")
    assert tiny.scores("ann")[0] == 5
    assert tiny.grade()["ann"].score == tiny.scores("ann")[0] == 9
    assert tiny.grade()["ann"].state == "skipped"


def test_what_a_killed_run_had_begun_is_graded(tiny):
    """The gradebook holds the scores of what was handed in before."""
    tiny.submit("ann")
    tiny.grade()
    tiny.submit("ann", sq="def sq(a): return 0")
    journal = Journal(tiny.root)
    with journal.locked():
        journal.add("ps", "ann", "begun")
    (tiny.root / "autograded/ann/ps/left").write_text("")
    assert tiny.grade()["ann"].score == 5
    assert not (tiny.root / "autograded/ann/ps/left").exists()


def test_a_fault_that_was_mended_is_graded(tiny):
    (tiny.submit("ann") / "p1.ipynb").write_text("{")
    assert tiny.grade()["ann"].state == "fault"
    assert tiny.grade()["ann"].state == "fault"
    tiny.submit("ann")
    assert tiny.grade()["ann"].score == 9


def test_scores_that_the_gradebook_has_lost_are_made_again(tiny):
    tiny.submit("ann")
    tiny.submit("bob", sq="def sq(a): return 0")
    tiny.grade()
    with sqlite3.connect(tiny.root / "gradebook.db") as book:
        book.execute("UPDATE grade SET auto_score = NULL, needs_manual_grade = 0 WHERE notebook_id"
                     " IN (SELECT n.id FROM submitted_notebook n JOIN submitted_assignment a ON"
                     " n.assignment_id = a.id WHERE a.student_id = 'bob')")  # fmt: skip
    book.close()
    outcomes = tiny.grade()
    assert [outcomes[name].state for name in ("ann", "bob")] == ["skipped", "graded"]
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        for name in ("ann", "bob"):
            book.remove_submission("ps", name)
    outcomes = tiny.grade()
    assert [outcomes[name].state for name in ("ann", "bob")] == ["graded", "graded"]
    assert [tiny.scores(name) for name in ("ann", "bob")] == [(9, False), (5, False)]
    assert {each.state for each in tiny.grade().values()} == {"skipped"}


@pytest.mark.parametrize("place", ["autograded", "autograded/ann"])
def test_a_file_in_the_place_of_autograded_is_no_students_fault(tiny, place):
    tiny.submit("ann")
    tiny.grade()
    os.rename(tiny.root / "autograded", tiny.root / "old")
    (tiny.root / place).parent.mkdir(exist_ok=True)
    (tiny.root / place).write_text("")
    for force in (False, True):
        with pytest.raises(GradingError, match=f"{place} is no folder"):
            tiny.grade(force=force)
        assert tiny.scores("ann") == (9, False)
    (tiny.root / place).unlink()
    assert tiny.grade()["ann"].score == 9


@pytest.mark.parametrize(
    ("limits", "says"), [("{'start': -1}", "'start'"), ("{'totl': 5}", "no such"), ("5", "dict")]
)
def test_limits_that_cannot_be_are_said_before_anything_is_touched(tiny, limits, says):
    tiny.submit("ann")
    tiny.grade()
    with open(tiny.config_file(), "a") as file:
        file.write(f"\nc.EngineExecute.limits = {limits}\n")
    with pytest.raises(GradingError, match=says):
        tiny.grade(force=True)
    assert tiny.scores("ann") == (9, False)
    assert tiny.autograded("ann")


def test_a_due_date_or_an_extension_that_is_set_after_grading_counts(tiny):
    with open(tiny.config_file(), "a") as file:
        file.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    for name in ("ann", "bob"):
        (tiny.submit(name) / "timestamp.txt").write_text("2026-02-01 00:00:00 UTC")
    assert [each.notes for each in tiny.grade().values()] == [[], []]
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment("ps", duedate="2026-01-01 00:00:00 UTC")
    late = ["late: 9 points off"]
    assert [each.notes for each in tiny.grade().values()] == [late, late]
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        book.grant_extension("ps", "ann", weeks=8)
    again = tiny.grade()
    assert (again["ann"].state, again["ann"].notes) == ("graded", [])
    assert again["bob"].state == "skipped"
    assert tiny.grade()["ann"].state == "skipped"


def test_another_penalty_for_lateness_counts_where_a_date_is_due(tiny):
    (tiny.submit("ann") / "timestamp.txt").write_text("2026-02-01 00:00:00 UTC")
    tiny.grade()

    def method(name):
        with open(tiny.config_file(), "a") as file:
            file.write(f'\nc.LateSubmissionPlugin.penalty_method = "{name}"\n')

    method("zero")
    assert tiny.grade()["ann"].state == "skipped"
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment("ps", duedate="2026-01-01 00:00:00 UTC")
    assert tiny.grade()["ann"].notes == ["late: 9 points off"]
    assert tiny.grade()["ann"].state == "skipped"
    method("none")
    again = tiny.grade()["ann"]
    assert (again.state, again.notes) == ("graded", [])


def test_another_text_of_a_graded_cell_and_other_probes_are_asked_anew(tiny):
    tiny.submit("ann")
    tiny.grade()
    path = tiny.root / "source/ps/p2.ipynb"
    nb = nbformat.read(path, 4)
    nb.cells[1].source = "assert sq(3) == 10"
    nbformat.write(nb, path)
    tiny.nbgrader("generate_assignment", "ps", "--force")
    assert tiny.grade()["ann"].score == 5
    folder = tiny.root / "solutions/ps"
    folder.mkdir(parents=True)
    for text in ("PROBES = {}\n", "PROBES = {'own': None}\n"):
        (folder / "probes.py").write_text(text)
        assert tiny.grade()["ann"].state == "graded"
        assert tiny.grade()["ann"].state == "skipped"


def test_a_course_that_submissions_cannot_read_is_said_before_anything_is_touched(
    tiny, monkeypatch
):
    tiny.submit("ann")
    tiny.grade()
    (tiny.root / "data").mkdir()

    def closed(folders):
        raise CourseError(f"closed: {folders}")

    monkeypatch.setattr(preflight, "check_public", closed)
    with pytest.raises(GradingError, match=f"closed: .*{tiny.root}/data"):
        tiny.grade(force=True)
    assert tiny.scores("ann") == (9, False)
    assert tiny.autograded("ann")


def test_a_file_that_was_taken_back_is_not_there_any_more(tiny):
    folder = tiny.submit("ann", add="from helper import add")
    (folder / "helper.py").write_text("def add(a, b): return a + b")
    assert tiny.grade()["ann"].score == 9
    (folder / "helper.py").unlink()
    assert tiny.grade()["ann"].score == 7
    assert not (tiny.root / "autograded/ann/ps/helper.py").exists()


def test_what_a_link_leads_to_is_nobodys_to_remove(tiny, tmp_path):
    """Somebody has autograded/ on another disk, say."""
    tiny.submit("ann", sq="def sq(a): return 0")
    tiny.grade()
    place, other = tiny.root / "autograded/ann/ps", tmp_path / "other"
    shutil.rmtree(place)
    other.mkdir()
    (other / "kept").write_text("")
    place.symlink_to(other)
    tiny.submit("ann")
    assert tiny.grade()["ann"].score == 9
    assert {path.name for path in other.iterdir()} == {"kept", "p1.ipynb", "p2.ipynb"}
    assert place.is_symlink()
