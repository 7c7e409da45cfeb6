import errno
import os
import subprocess
import sys

import pytest

from grader.engine.journal import Busy, Journal


def test_a_submission_is_unfinished_until_its_end_is_on_disk(tmp_path):
    journal = Journal(tmp_path)
    journal.add("ch", "ann", "begun")
    assert Journal(tmp_path).unfinished("ch", "ann")
    journal.add("ch", "ann", "done", score=1.0)
    assert not Journal(tmp_path).unfinished("ch", "ann")
    assert not Journal(tmp_path).unfinished("ch", "bob")


def test_a_torn_last_line_costs_nothing_else(tmp_path):
    journal = Journal(tmp_path)
    journal.add("ch", "ann", "begun")
    with open(journal.path, "a") as file:
        file.write('{"assignment": "ch", "stud')
    journal = Journal(tmp_path)
    journal.add("ch", "bob", "begun")
    assert set(Journal(tmp_path).state) == {("ch", "ann"), ("ch", "bob")}


def test_the_lock_is_one_runs_own_and_dies_with_it(tmp_path):
    code = (
        "import sys, pathlib; from grader.engine.journal import Journal\n"
        "with Journal(pathlib.Path(sys.argv[1])).locked(): print('held', flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdout.readline() == "held\n"
    with pytest.raises(Busy, match=str(other.pid)), Journal(tmp_path).locked():
        pass
    other.kill()
    other.communicate()
    with Journal(tmp_path).locked():
        assert (tmp_path / ".grader/lock").read_text() == f"process {os.getpid()}"


@pytest.mark.skipif(os.name != "posix", reason="locks are SQLite's there")
def test_a_file_system_without_locks_is_not_taken_for_another_run(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(OSError, match=f"{tmp_path}/.grader/lock") as raised:
        Journal(tmp_path).locked().__enter__()
    assert raised.value.errno == errno.ENOLCK


def test_without_fcntl_the_lock_is_one_runs_own_too(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (
        Journal(tmp_path).locked(),
        pytest.raises(Busy, match="another run"),
        Journal(tmp_path).locked(),
    ):
        pass
    with Journal(tmp_path).locked():
        pass


def test_lines_that_no_run_wrote_are_passed_over(tmp_path):
    journal = Journal(tmp_path)
    journal.add("ch", "ann", "done", state="graded")
    with open(journal.path, "ab") as file:
        file.write(b'{"assignment": [], "student": {}, "event": "done"}\n[1]\n5\n\xff\n')
    assert set(Journal(tmp_path).state) == {("ch", "ann")}


def test_what_has_ended_stays_a_fault_until_it_is_graded_again(tmp_path):
    journal = Journal(tmp_path)
    journal.add("ch", "ann", "done", state="fault", kind="died", reason="a\x1b", score=2, most=3,
                digest="abc")  # fmt: skip
    journal.add("ch", "bob", "done", state="graded", score=3)
    journal.add("ch", "all", "done", state="graded", score=3, digest="abc")
    scores = [journal.score("ch", name) for name in ("ann", "bob", "all", "new")]
    assert scores == [None, None, 3.0, None]  # bob's is of one notebook alone
    journal.add("ch", "odd", "done", state="fault", score=[], kind=None)
    ann = journal.ended("ch", "ann")
    assert (ann.state, ann.kind, ann.reason, ann.score) == ("fault", "died", "a\\x1b", 2)
    states = [journal.ended("ch", name).state for name in ("bob", "new", "odd")]
    assert states == ["skipped", "skipped", "fault"]
    journal.add("ch", "ann", "begun")
    assert journal.ended("ch", "ann").state == "skipped"


def test_only_another_digest_of_what_was_graded_is_a_change(tmp_path):
    journal = Journal(tmp_path)
    assert journal.changed("ch", "ann", "new")  # so it may be where nothing is known
    assert not journal.changed("ch", "ann", None)  # one notebook alone
    journal.add("ch", "ann", "done", digest="old")
    found = [journal.changed("ch", "ann", digest) for digest in ("new", "old", None)]
    assert found == [True, False, False]
    journal.add("ch", "ann", "done", digest=None)
    assert not journal.changed("ch", "ann", "new")
    journal.add("ch", "ann", "begun", digest="old")  # of which nobody knows how far it came
    assert not journal.changed("ch", "ann", "new")


def test_what_was_noted_is_told_and_steers_no_terminal(tmp_path):
    journal = Journal(tmp_path)
    assert journal.notes("ch", "ann") == []
    journal.add("ch", "ann", "done", notes=["late", "a\x1b[2J"])
    assert journal.notes("ch", "ann") == ["late", "a\\x1b[2J"]
    journal.add("ch", "ann", "done", notes="none")
    assert journal.notes("ch", "ann") == []
