"""`grader grade` as a program: exit codes, Ctrl-C, two at once, a gradebook out of reach.

The course has no TensorFlow in it, so that a run starts at once.
"""

import json
import os
import signal
import sqlite3

import pytest

from grader.cli import running
from grader.course import Course
from tests.cli.conftest import ANSWER, SLEEPS


def test_exit_codes_tell_all_graded_from_a_fault(pupils):
    pupils.submit(ann=ANSWER, bob="def add(a, b): return 0")
    code, out, err = pupils.grade()
    assert (code, pupils.scores()) == (0, {"ann": 3, "bob": 0}), err
    assert "2 graded, 0 with a fault" in out
    pupils.submit(cat="import os; os._exit(1)")
    code, out, err = pupils.grade("--json")
    assert code == 1, err
    last = [json.loads(line) for line in out.splitlines()]
    states = {row["student"]: row["state"] for row in last if row.get("state") != "started"
              and "student" in row}  # fmt: skip
    assert states == {"ann": "skipped", "bob": "skipped", "cat": "fault"}


def test_two_at_once_and_ctrl_c(pupils):
    """The second says that the first is at work; the first keeps what is done when stopped."""
    pupils.submit(ann=ANSWER, bob=SLEEPS, cat=SLEEPS)
    with pupils.start("--json") as first:
        while '"graded"' not in (line := first.stdout.readline()):
            assert line, first.stderr.read()
        code, _, err = pupils.grade("--force")
        assert code == 2
        assert f"another run is grading this course (process {first.pid})" in " ".join(err.split())
        assert pupils.scores()["ann"] == 3
        os.killpg(first.pid, signal.SIGINT)
        _, err = first.communicate(timeout=300)  # the cells would sleep ten times as long
    assert first.returncode == 1, err
    assert "stopped; what is done is kept" in err
    assert "Traceback" not in err
    pupils.submit(bob=ANSWER, cat=ANSWER)
    code, out, err = pupils.grade()
    assert code == 0, err
    assert "2 graded, 0 with a fault, 1 already done" in out
    assert pupils.scores() == {"ann": 3, "bob": 3, "cat": 3}


def test_the_gradebook_is_where_the_course_says(pupils):
    """As with PostgreSQL: c.CourseDirectory.db_url, for reading the scores as well."""
    with open(pupils.root / "nbgrader_config.py", "a") as file:
        file.write(f'c.CourseDirectory.db_url = "sqlite:///{pupils.root}/elsewhere.db"\n')
    (pupils.root / "gradebook.db").unlink()
    pupils.submit(ann=ANSWER)
    code, out, err = pupils.grade()
    assert code == 0, err
    table = out[out.index("students × exercises") :]
    assert "ann" in table
    assert not (pupils.root / "gradebook.db").exists()


def test_who_is_to_be_left_out_is_told_as_such(pupils):
    """Whether graded before, with a fault, or never."""
    pupils.submit(ann=ANSWER, bob="import os; os._exit(1)")
    assert pupils.grade()[0] == 1
    pupils.submit(ann="def add(a, b): return 0", cat=ANSWER, dan=ANSWER)
    with open(pupils.root / "nbgrader_config.py", "a") as file:
        file.write('c.CourseDirectory.student_id_exclude = "ann,bob,cat"\n')
    code, out, err = pupils.grade()
    assert code == 0, err
    assert "1 graded, 0 with a fault, 3 left out" in out
    assert out.count("left out by c.CourseDirectory.student_id_exclude") == 3
    assert pupils.scores() == {"ann": 3, "bob": 0, "dan": 3}


def test_a_locked_gradebook_is_said_plainly(pupils):
    pupils.submit(ann=ANSWER)
    other = sqlite3.connect(pupils.root / "gradebook.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    code, _, err = pupils.grade()
    other.rollback()
    other.close()
    assert code == 2
    last = err.splitlines()[-1]  # after nbgrader's own log
    assert last.startswith("error: the gradebook is locked by another program")
    assert pupils.grade()[0] == 0
    assert pupils.scores() == {"ann": 3}


@pytest.mark.filterwarnings("ignore")  # distributed's own
def test_a_cluster_grades_and_is_let_go_of(pupils):
    distributed = pytest.importorskip("distributed")
    pupils.submit(ann=ANSWER, bob="def add(a, b): return 0")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as one:
        code, out, err = pupils.grade("--scheduler", one.scheduler_address)
    assert code == 0, err
    assert "sandbox: each worker's own" in out
    assert "2 graded, 0 with a fault" in out
    assert "never retrieved" not in err
    assert pupils.scores() == {"ann": 3, "bob": 0}


@pytest.mark.filterwarnings("ignore")  # distributed's own
@pytest.mark.parametrize("workers", [0, 1])
def test_a_cluster_that_has_no_worker_yet_is_said_to_be_waited_for(pupils, capsys, workers):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as few,
        running.cluster(few.scheduler_address, Course(pupils.root)) as executor,
    ):
        assert executor.jobs == 1
    told = f"no worker has joined the cluster at {few.scheduler_address} yet: waiting\n"
    assert capsys.readouterr().err == ("" if workers else told)


def test_where_no_scheduler_answers_is_said(pupils):
    pupils.submit(ann=ANSWER)
    code, _, err = pupils.grade("--scheduler", "nonsense://127.0.0.1:1")
    assert code == 2
    assert "no Dask scheduler answers at nonsense://127.0.0.1:1" in " ".join(err.split())
