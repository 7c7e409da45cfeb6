"""What the machine does to a run: it stops, says why, and the next run carries on.

A full disk and read-only places are real ones, mounted in a namespace of their own.
"""

import copy
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from nbgrader.api import Gradebook, InvalidEntry
from sqlalchemy.exc import ArgumentError, DataError, OperationalError, ProgrammingError

from grader.engine import ledger, trouble
from grader.engine.batch import GradingError
from grader.engine.host import ZygoteError
from grader.engine.work import Unsafe
from tests.engine.mounts import READ_ONLY, SMALL_DISK, mounted

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
STUDENTS = {"ann": {}, "bob": {"sq": "def sq(a): return 0"}, "cat": {}, "dan": {"mul": "1 / 0"}}
SCORES = {"ann": 9, "bob": 5, "cat": 9, "dan": 6}


@pytest.fixture
def course(tiny):
    """The course with its class, not graded yet."""
    for name, answers in STUDENTS.items():
        tiny.submit(name, **answers)
    return tiny


@pytest.fixture(scope="module")
def book(tiny_master, tmp_path_factory):
    """The gradebook that an undisturbed run makes."""
    quiet = copy.copy(tiny_master)
    quiet.root = tmp_path_factory.mktemp("quiet") / "tiny"
    shutil.copytree(tiny_master.root, quiet.root)
    for name, answers in STUDENTS.items():
        quiet.submit(name, **answers)
    quiet.grade()
    with Gradebook(f"sqlite:///{quiet.root}/gradebook.db", "tiny") as gradebook:
        found = sorted(
            [submission.student.id, nb.name, grade.name, grade.auto_score, grade.manual_score,
             grade.needs_manual_grade, nb.score]
            for submission in gradebook.assignment_submissions("ps")
            for nb in submission.notebooks for grade in nb.grades)  # fmt: skip
    assert len(found) == 3 * len(STUDENTS)
    return found


def test_words_of_our_own_are_final():
    """They may quote the kernel, whose words elsewhere mean that a file cannot be written."""
    for kind in (Unsafe, ZygoteError, GradingError):
        said = "sandbox: mount: OFF (unshare: Operation not permitted). Use --allow-unsandboxed"
        assert trouble.advice(kind(said)) == said


def test_a_full_disk_stops_the_run_and_the_next_one_carries_on(course, book, tmp_path):
    for name in STUDENTS:  # a copy goes to autograded/
        (course.root / f"submitted/{name}/ps/data.bin").write_bytes(b"x" * 65536)
    told = mounted(SMALL_DISK, course.root, tmp_path / "disk", 0, 12, 44, 124, 188, 252)
    stages = set()
    for each in told:
        assert each["error"].startswith("the disk is full"), each
        assert "then grade again" in each["error"]
        assert each["later"] == ""
        assert {student for student, _ in each["again"]} == set(STUDENTS)
        assert each["book"] == book, each["free"]
        stages.add(sum(state == "skipped" for _, state in each["again"]))
    assert len(stages) > 1  # some stopped before the first was done, some after


def test_what_may_not_be_written_stops_the_run_and_the_next_one_carries_on(course, book, tmp_path):
    told = mounted(READ_ONLY, course.root, tmp_path / "place")
    assert [each["name"] for each in told] == ["gradebook.db", ".grader", "autograded", "."]
    for each in told:
        assert each["error"].startswith("no right to write"), each
        assert each["later"] == ""
        assert each["again"] == [[name, "graded"] for name in STUDENTS]
        assert each["book"] == book, each["name"]


def _totals(tiny):
    return {name: tiny.scores(name)[0] for name in STUDENTS}


def test_a_gradebook_that_others_lock_in_mid_run(course, monkeypatch):
    monkeypatch.setattr(ledger, "BUSY_SECONDS", 0.2)
    other = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)

    def lock(outcome):
        if outcome.state == "graded" and not other.in_transaction:
            other.execute("BEGIN IMMEDIATE")

    with pytest.raises(GradingError, match=r"locked by another program.*then grade again"):
        course.grade(watch=lock, jobs=1)
    other.rollback()
    other.close()
    states = [each.state for each in course.grade().values()]
    assert "skipped" in states
    assert "graded" in states
    assert _totals(course) == SCORES


# What nbgrader's last two migrations do, undone.
OLDER = """
CREATE TABLE older (id VARCHAR(32) NOT NULL, name VARCHAR(128) NOT NULL, duedate DATETIME,
                    PRIMARY KEY (id), UNIQUE (name));
INSERT INTO older SELECT id, name, duedate FROM assignment;
DROP TABLE assignment;
ALTER TABLE older RENAME TO assignment;
DROP TABLE course;
ALTER TABLE student DROP COLUMN lms_user_id;
UPDATE alembic_version SET version_num = '167914646830';
"""


def test_a_gradebook_of_an_older_nbgrader_can_be_brought_up_to_date(course):
    with closing(sqlite3.connect(course.root / "gradebook.db")) as book:
        book.executescript(OLDER)
    with pytest.raises(GradingError, match=r"made by another version .*`nbgrader db upgrade`"):
        course.grade()
    command = [sys.executable, "-m", "nbgrader", "db", "upgrade"]
    subprocess.run(command, cwd=course.root, check=True, capture_output=True)
    course.grade()
    assert _totals(course) == SCORES


def test_a_lock_that_is_soon_let_go_of_stops_nothing(course):
    url = course.root / "gradebook.db"
    other = sqlite3.connect(url, isolation_level=None, check_same_thread=False)
    let_go = threading.Timer(1.5, other.rollback)

    def lock(outcome):
        if outcome.state == "graded" and not let_go.ident:
            other.execute("BEGIN IMMEDIATE")
            let_go.start()

    outcomes = course.grade(watch=lock, jobs=1)
    let_go.join()
    other.close()
    assert {each.state for each in outcomes.values()} == {"graded"}
    assert _totals(course) == SCORES


def test_of_two_runs_at_once_the_second_says_so_and_the_first_is_not_disturbed(course):
    seen = []

    def second(outcome):
        if outcome.state == "graded" and not seen:
            done = subprocess.run(
                [sys.executable, "-m", "nbgrader", "autograde", "ps", "--force"],
                cwd=course.root, capture_output=True, text=True,
            )  # fmt: skip
            seen.append((done.returncode, done.stderr))

    outcomes = course.grade(watch=second, jobs=1)
    assert {each.state for each in outcomes.values()} == {"graded"}
    ((code, said),) = seen
    assert code == 1
    assert f"another run is grading this course (process {os.getpid()})" in said
    assert _totals(course) == SCORES


def test_what_one_student_does_to_files_stops_nobody_else(tiny):
    """Names that no directory or database takes, and files where a folder is to be."""
    tiny.submit("ann")
    folder = tiny.submit(
        "bob", add="import os; os.remove('out'); os.mkdir('out'); open('out/x', 'w').write('x')\n"
        "def add(a, b): return a + b",
    )  # fmt: skip
    (folder / "out").write_text("a file")
    odd = os.fsencode(tiny.root / "submitted") + b"/m\xff"
    os.makedirs(odd + b"/ps")
    tiny.submit("zoe")
    outcomes = tiny.grade()
    assert [outcomes[name].score for name in ("ann", "bob", "zoe")] == [9, 9, 9]
    assert any("not every file" in note for note in outcomes["bob"].notes)
    assert [each.state for each in outcomes.values()].count("fault") == 1
    assert tiny.scores("zoe")[0] == 9


def _sql(kind, text):
    return kind("UPDATE grade", {}, sqlite3.OperationalError(text))


@pytest.mark.parametrize(
    ("error", "stops", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "autograded/ann"), True, "disk is full"),
        (OSError(errno.EROFS, "Read-only file system"), True, "no right to write"),
        (OSError("Timed out during handshake"), True, "handshake"),
        (FileNotFoundError(errno.ENOENT, "No such file"), False, "No such file"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory"), False, "Not a directory"),
        (_sql(OperationalError, "database is locked"), True, "locked by another program"),
        (_sql(OperationalError, "database or disk is full"), True, "make room"),
        (_sql(OperationalError, "attempt to write a readonly database"), True, "no right to write"),
        (_sql(OperationalError, "no such column: student.lms_user_id"), True, "db upgrade"),
        (_sql(ProgrammingError, 'relation "course" does not exist LINE 1'), True, "db upgrade"),
        (_sql(OperationalError, "server closed the connection"), True, "db_url"),
        (_sql(DataError, "text fields cannot contain NUL"), False, "NUL"),
        (ZygoteError("did not start"), True, "did not start"),
        (ValueError("bad notebook"), False, "bad notebook"),
        (ValueError(), False, "ValueError"),
        (ValueError("Cannot add or remove cells for notebook p1"), False, "adds and removes no c"),
        (ArgumentError("Could not parse URL"), False, "db_url names no database: Could not"),
        (Unsafe("seccomp: OFF (Permission denied)"), True, "seccomp: OFF (Permission denied)"),
    ],
)
def test_errors_of_the_machine_and_of_a_submission(error, stops, says):
    assert trouble.stops(error) is stops
    assert says in trouble.advice(error)
    assert ("no right" in trouble.advice(error)) is ("no right" in says)
    assert "\n" not in trouble.advice(error)


def test_nbgrader_wraps_what_the_database_says():
    def wrapping():
        try:
            raise _sql(OperationalError, "database is locked")
        except OperationalError as error:
            raise InvalidEntry(*error.args)  # noqa: B904  (as nbgrader does)

    with pytest.raises(InvalidEntry) as wrapped:
        wrapping()
    assert trouble.stops(wrapped.value)
    assert "close what has it open" in trouble.advice(wrapped.value)
    assert not trouble.stops(InvalidEntry("no such cell"))


def test_what_somebody_dealt_with_before_is_no_cause():
    """A submission's own error, raised while one of the machine's was caught, is the submission's;
    and of errors that are each other's cause each is looked at once."""
    first, second = ValueError("bad notebook"), ValueError("worse")
    first.__context__ = OSError(errno.ENOSPC, "No space left on device")
    assert not trouble.stops(first)
    assert trouble.advice(first) == "bad notebook"
    first.__cause__, second.__cause__ = second, first
    assert list(trouble.chain(first)) == [first, second]


def test_a_reason_can_be_written_anywhere():
    said = trouble.reason(ValueError("a\0b \udcff " + "x" * 1000))
    assert said.startswith("ValueError: a\\x00b \\udcff x")
    assert "\0" not in said
    said.encode()
    assert len(said) == 300
