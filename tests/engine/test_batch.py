"""Faults: each ends as that student's recorded outcome; the others are graded."""

import os

import pytest

from grader.engine.batch import GradingError

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
DIES = "import os\ndef add(a, b):\n    os._exit(1)"


def test_right_wrong_and_partly_right(tiny):
    tiny.submit("right")
    tiny.submit("half", add="def add(a, b):\n    return 3")  # passes the visible test only
    tiny.submit("warns", mul="import warnings\ndef mul(a, b):\n    return a * b")
    outcomes = tiny.grade()
    assert outcomes["right"].score == 9
    assert outcomes["half"].score == 7
    assert tiny.scores("half") == (7, False)
    assert tiny.grade()["right"].state == "skipped"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "unreadable"), (b"[1, 2]", "unreadable"), (b"{not json", "unreadable"),
        (b"\xff\xfe\x00", "unreadable"), (b'{"nbformat": 5, "cells": []}', "unreadable"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 7}', "unreadable"),
    ],
)  # fmt: skip
def test_an_unreadable_notebook_costs_that_notebook(alongside, tiny, content, kind):
    folder = tiny.submit("m-odd")
    (folder / "p1.ipynb").write_bytes(content)
    odd = alongside()
    assert (odd.state, odd.kind, odd.score) == ("fault", kind, 4)  # p2 is graded all the same
    assert tiny.scores("m-odd") == (4, True)


def test_a_process_that_dies_keeps_what_it_had_earned(alongside, tiny):
    tiny.submit("m-odd", mul="import os\ndef mul(a, b):\n    os._exit(1)")
    odd = alongside()
    assert (odd.state, odd.kind, odd.score) == ("fault", "died", 6)
    assert tiny.scores("m-odd")[0] == 6
    shown = str(tiny.autograded("m-odd").cells[3].outputs)
    assert "the process ended" in shown


@pytest.mark.parametrize("files", [(), ("notes.txt",)])
def test_no_notebook_at_all(alongside, tiny, files):
    folder = tiny.root / "submitted/m-odd/ps"
    folder.mkdir(parents=True)
    for name in files:
        (folder / name).write_text("x")
    odd = alongside()
    assert odd.state == "fault"
    assert tiny.scores("m-odd")[0] == 0


def test_a_missing_or_renamed_notebook_scores_zero(alongside, tiny):
    folder = tiny.submit("m-odd")
    (folder / "p1.ipynb").rename(folder / "my p1.ipynb")
    assert alongside().score == 4
    assert tiny.scores("m-odd")[0] == 4


def test_links_pipes_and_giants_are_refused(alongside, tiny):
    folder = tiny.submit("m-odd")
    secret = tiny.root / "secret.txt"
    secret.write_text("SECRET")
    (folder / "leak.txt").symlink_to(secret)
    (folder / "leak-dir").symlink_to(tiny.root / "source")
    os.mkfifo(folder / "pipe")
    with open(folder / "giant.bin", "wb") as file:
        file.truncate(1 << 30)
    odd = alongside()
    assert odd.score == 9
    copied = {path.name for path in (tiny.root / "autograded/m-odd/ps").rglob("*")}
    assert not copied & {"leak.txt", "leak-dir", "pipe", "giant.bin"}
    assert len([note for note in odd.notes if "is a" in note or "MiB" in note]) == 4
    assert (folder / "giant.bin").exists()  # nothing of the student's is ever deleted


def test_a_notebook_that_links_to_the_solution_scores_nothing(alongside, tiny):
    folder = tiny.submit("m-odd", p1=None)
    (folder / "p1.ipynb").symlink_to(tiny.root / "source/ps/p1.ipynb")
    odd = alongside()
    assert (odd.state, odd.score) == ("fault", 4)
    assert tiny.scores("m-odd")[0] == 4


def test_a_folder_that_is_a_link_is_refused(alongside, tiny):
    tiny.submit("other")
    (tiny.root / "submitted/m-odd").symlink_to(tiny.root / "submitted/other")
    odd = alongside()
    assert (odd.state, odd.score) == ("fault", 0)


@pytest.mark.parametrize("stamp", ["not a date", None])
def test_a_bad_timestamp_is_a_fault_not_a_stop(alongside, tiny, stamp):
    folder = tiny.submit("m-odd")
    if stamp is None:
        os.mkfifo(folder / "timestamp.txt")
    else:
        (folder / "timestamp.txt").write_text(stamp)
    odd = alongside()
    assert odd.state == "fault"
    assert "timestamp" in odd.reason
    assert tiny.scores("m-odd") == (0, True)


def test_an_old_score_does_not_survive_a_failed_regrade(tiny):
    folder = tiny.submit("m-odd")
    assert tiny.grade()["m-odd"].score == 9
    (folder / "p1.ipynb").write_text("broken")
    (folder / "p2.ipynb").write_text("broken")
    odd = tiny.grade(force=True)["m-odd"]
    assert (odd.state, odd.score) == ("fault", 0)
    assert tiny.scores("m-odd") == (0, True)
    deleted = tiny.answered("p1", add=DIES)
    del deleted.cells[1]  # its test
    tiny.submit("m-odd", p1=deleted, p2=None)
    tiny.grade(force=True)
    assert tiny.scores("m-odd")[0] == 0


def test_an_unknown_assignment_runs_nothing(tiny):
    from grader.engine.batch import grade

    with pytest.raises(GradingError):
        grade(tiny.root, "no-such")


@pytest.mark.parametrize(
    ("line", "says"),
    [("1 / 0", "ZeroDivisionError"), ("def x(:", "SyntaxError"),
     ("c.NbGrader.log_level = []", "TraitError: The 'log_level' trait")],
)  # fmt: skip
def test_a_configuration_that_cannot_be_read_runs_nothing_and_is_named(tiny, line, says):
    tiny.submit("ann")
    before = os.getcwd()
    with open(tiny.config_file(), "a") as file:
        file.write(line)
    with pytest.raises(GradingError, match=f"^nbgrader_config.py: {says}"):
        tiny.grade()
    assert os.getcwd() == before
    assert not (tiny.root / "autograded").exists()


def test_only_those_asked_for_are_graded(tiny):
    for name in ("ann", "bob", "eve"):
        tiny.submit(name)
    assert set(tiny.grade("ann", "eve")) == {"ann", "eve"}


def test_a_read_only_gradebook_stops_the_run_with_a_clear_error(tiny):
    import sqlite3

    tiny.submit("ann")
    locker = sqlite3.connect(tiny.root / "gradebook.db")
    import grader.engine.ledger as ledger

    before, ledger.BUSY_SECONDS = ledger.BUSY_SECONDS, 0.2
    try:
        locker.execute("BEGIN EXCLUSIVE")
        with pytest.raises(GradingError, match="locked"):
            tiny.grade()
    finally:
        ledger.BUSY_SECONDS = before
        locker.rollback()
        locker.close()
    assert tiny.grade()["ann"].score == 9
    assert tiny.scores("ann") == (9, False)


def test_files_that_a_cell_writes_lie_beside_the_graded_notebook(tiny):
    tiny.submit("ann", add="open('made.txt', 'w').write('made')\ndef add(a, b):\n    return a + b")
    tiny.grade()
    assert (tiny.root / "autograded/ann/ps/made.txt").read_text() == "made"


def test_what_nbgraders_command_does_is_the_same(tiny):
    tiny.submit("right")
    tiny.submit("wrong", sq="def sq(a): return 1")
    tiny.nbgrader("autograde", "ps")
    assert tiny.scores("right") == (9, False)
    assert tiny.scores("wrong") == (5, False)
    assert (tiny.root / ".grader/journal.jsonl").exists()
