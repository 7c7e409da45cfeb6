"""What is nobody's fault, or the instructor's, costs no student a point."""

import errno
import io
import json
from concurrent.futures import Future

import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.utils import compute_checksum

from grader.cli.watching import Watch
from grader.engine.batch import GradingError, grade
from grader.engine.journal import Journal

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.mark.parametrize("error", [SystemExit(1), UnicodeEncodeError("ascii", "é", 0, 1, "no")])
@pytest.mark.parametrize("again", [False, True])
def test_a_display_that_fails_ends_no_run_and_costs_nobody_a_point(tiny, error, again):
    for name in ("ann", "bob", "cat"):
        tiny.submit(name)
    if again:
        tiny.grade()

    def watch(outcome):
        raise error

    run = grade(tiny.root, "ps", watch=watch)
    assert [each.state for each in run.outcomes] == ["skipped" if again else "graded"] * 3
    assert run.exit_code == 0
    assert type(error).__name__ in run.unseen
    assert {tiny.scores(name) for name in ("ann", "bob", "cat")} == {(9, False)}


NOSUCH, NO_POINTS = 'check("nosuch", add)', 'partial_credit("nosuch", add, points="ten")'
BROKEN = {
    "no such exercise": ("", NOSUCH, "'nosuch'"),
    "no number of points": ("", NO_POINTS, "a number of points"),
    "a reference that cannot be imported": ("def x(:\n", NOSUCH, "reference.py: SyntaxError"),
    "a reference without exercises": ("pass\n", NOSUCH, "reference.py has no list EXERCISES"),
    "a reference that breaks": ("EXERCISES = [1 / 0]", NOSUCH, "reference.py, line 1: ZeroDiv"),
}


def _master(tiny, source):
    """Put another text into the master copy of a test; the text it had."""
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        cell = book.find_source_cell("test_add", "p1", "ps")
        before, cell.source = cell.source, source
        meta = {"grade_id": "test_add", "grade": True, "points": 2.0}
        plain = new_code_cell(source, metadata={"nbgrader": meta})
        cell.checksum = compute_checksum(plain)
        book.db.commit()
    return before


@pytest.mark.parametrize(("reference", "source", "says"), BROKEN.values(), ids=BROKEN)
def test_a_check_that_cannot_be_judged_stops_the_run_and_changes_no_score(
    tiny, reference, source, says
):
    tiny.submit("ann")
    tiny.submit("bob")
    tiny.grade()
    if reference:
        chapter = tiny.root / "solutions/01_one"
        chapter.mkdir(parents=True)
        (chapter / "01_one.md").write_text("# One\n")
        (chapter / "reference.py").write_text(reference)
    kept = _master(tiny, source)
    with pytest.raises(GradingError) as stopped:
        tiny.grade(force=True)
    assert says in str(stopped.value)
    assert tiny.scores("ann") == tiny.scores("bob") == (9, False)
    _master(tiny, kept)
    assert {each.state for each in tiny.grade(force=True).values()} == {"graded"}


def test_a_second_run_tells_the_faults_of_the_first(tiny):
    tiny.submit("ann")
    tiny.submit("died", mul="import os\ndef mul(a, b):\n    os._exit(1)")
    first = tiny.grade()["died"]
    run = grade(tiny.root, "ps")
    second = {each.student: each for each in run.outcomes}
    assert run.exit_code == 1
    assert second["ann"].state == "skipped"
    for name in ("state", "kind", "reason", "score", "most"):
        assert getattr(second["died"], name) == getattr(first, name)
    assert any("--force" in note for note in second["died"].notes)
    tiny.submit("died")
    assert tiny.grade(force=True)["died"].state == "graded"
    assert grade(tiny.root, "ps").exit_code == 0


def test_old_feedback_does_not_outlive_its_scores(tiny):
    pages = tiny.root / "feedback/m-odd/ps"
    pages.mkdir(parents=True)
    folder = tiny.submit("m-odd")
    tiny.grade()
    for name in ("p1.html", "p2.html", "by hand.html"):
        (pages / name).write_text("Score: 3.0 / 3.0")
    (folder / "p1.ipynb").write_text("broken")
    tiny.grade(force=True)
    assert {path.name for path in pages.iterdir()} == {"p2.html", "by hand.html"}
    (folder / "p2.ipynb").unlink()
    tiny.grade(force=True)
    assert {path.name for path in pages.iterdir()} == {"by hand.html"}


ESCAPES = "\x1b]0;owned\x07\x1b[2Kgraded  everybody\n"


def test_no_name_or_text_of_a_student_gets_at_the_terminal(alongside, tiny):
    folder = tiny.submit("m-odd", add=f"raise ValueError({ESCAPES!r} + chr(0xd800))")
    (folder / ESCAPES).symlink_to("/etc/passwd")
    (folder / "\udcff").symlink_to("/etc/passwd")
    page = io.StringIO()
    from rich.console import Console

    with Watch(3, Console(file=page)) as watch:
        odd = alongside(watch=watch.hear)
    said = page.getvalue()
    assert len([note for note in odd.notes if "is a symlink" in note]) == 2
    assert len(said.splitlines()) == 3
    assert "\x1b" not in said + "".join(odd.notes)
    said.encode()
    assert Journal(tiny.root).state["ps", "m-odd"]["event"] == "done"


def test_a_notebook_that_begins_with_a_mark_is_read(alongside, tiny):
    path = tiny.submit("m-odd") / "p1.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert alongside().score == 9


def test_a_notebook_whose_cells_have_no_ids_is_graded_without_a_word(alongside, tiny):
    path = tiny.submit("m-odd") / "p1.ipynb"
    nb = json.loads(path.read_text())
    for cell in nb["cells"]:
        del cell["id"]
    path.write_text(json.dumps(nb))
    assert (nb["nbformat_minor"], alongside().score) == (5, 9)


def test_a_renamed_notebook_is_named(alongside, tiny):
    folder = tiny.submit("m-odd")
    (folder / "p1.ipynb").rename(folder / "my p1.ipynb")
    assert "no p1.ipynb; there is: my p1.ipynb" in alongside().notes
    (folder / "p2.ipynb").unlink()
    odd = tiny.grade("m-odd", force=True)["m-odd"]
    assert odd.reason == "no p1.ipynb or p2.ipynb; there is: my p1.ipynb"
    assert json.loads((tiny.root / ".grader/journal.jsonl").read_text().splitlines()[-1])


def test_a_second_notebook_beside_the_right_ones_is_named(alongside, tiny):
    folder = tiny.submit("m-odd")
    (folder / "p1-Copy1.ipynb").write_bytes((folder / "p1.ipynb").read_bytes())
    odd = alongside()
    assert odd.score == 9
    assert "not graded, as it is no notebook of the assignment: p1-Copy1.ipynb" in odd.notes


def test_points_lost_for_lateness_are_noted(tiny):
    with open(tiny.config_file(), "a") as file:
        file.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment("ps", duedate="2026-01-01 00:00:00 UTC")
    for name, day in (("late", "2026-02-01"), ("soon", "2025-12-01")):
        (tiny.submit(name) / "timestamp.txt").write_text(f"{day} 00:00:00 UTC")
    outcomes = tiny.grade()
    assert (outcomes["late"].score, outcomes["late"].notes) == (9, ["late: 9 points off"])
    assert outcomes["soon"].notes == []


@pytest.mark.parametrize("broken", [True, False])
def test_what_one_notebook_lost_for_lateness_is_not_taken_off_another(tiny, broken):
    with open(tiny.config_file(), "a") as file:
        file.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment("ps", duedate="2026-01-01 00:00:00 UTC")
    folder = tiny.submit("late")
    (folder / "timestamp.txt").write_text("2026-02-01 00:00:00 UTC")
    tiny.grade()
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        book.grant_extension("ps", "late", weeks=8)
    if broken:
        (folder / "p1.ipynb").write_text("{")
    else:
        (folder / "p1.ipynb").unlink()
    tiny.grade()
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        found = book.find_submission("ps", "late").notebooks
        assert {nb.name: (nb.score, nb.late_submission_penalty) for nb in found} == {
            "p1": (0, None), "p2": (4, None),
        }  # fmt: skip


class Lost:
    """An executor whose way to its workers breaks, with an error that a student's file could make
    as well."""

    jobs, killed = 1, False

    def submit(self, jobs):
        future = Future()
        future.set_exception(FileNotFoundError(errno.ENOENT, "the scheduler's address"))
        return future

    def close(self, now=False):
        self.killed = now


def test_a_lost_way_to_the_workers_stops_the_run_and_is_no_students_fault(tiny):
    tiny.submit("ann")
    tiny.grade()
    lost = Lost()
    with pytest.raises(GradingError, match="the scheduler's address"):
        tiny.grade(executor=lost, force=True)
    assert lost.killed
    assert tiny.scores("ann") == (9, False)
    assert tiny.grade()["ann"].state == "graded"  # it had begun
