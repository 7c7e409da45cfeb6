"""A gradebook in PostgreSQL, by nbgrader's own db_url, against a real server."""

import copy
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grader.engine.batch import GradingError

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

STUDENTS = {
    "ann": {}, "bob": {}, "cat": {"sq": "def sq(a): return 0"}, "dan": {"mul": "1 / 0"},
    "eve": {"add": "def add(a, b): return 3"}, "fay": {"add": "import os; os._exit(1)"},
}  # fmt: skip
SCORES = {"ann": 9, "bob": 9, "cat": 5, "dan": 6, "eve": 7, "fay": 4}
RUN = """
import sys, pathlib
from grader.engine.batch import grade
grade(pathlib.Path(sys.argv[1]), "ps", jobs=2,
      watch=lambda outcome: print(outcome.state, outcome.student, flush=True))
"""


def _program(name):
    found = shutil.which(name)
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return found or (str(places[0]) if places else None)


def _owner():
    """Options of subprocess: the server refuses to run as root."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    entry = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Server:
    """A throw-away server that listens on a socket in its own folder, and nowhere else."""

    def __init__(self, folder):
        self.folder, self.made = folder, 0
        self.log = open(folder / "log", "w+b")  # noqa: SIM115
        owner = _owner()
        if owner:
            os.chown(folder, owner["user"], owner["group"])
        both = {"stdout": self.log, "stderr": self.log, "cwd": folder, **owner}
        subprocess.run(
            [_program("initdb"), "-D", folder / "data", "-U", "grader", "-A", "trust", "-N",
             "-E", "UTF8", "--locale=C"], check=True, **both,
        )  # fmt: skip
        self.process = subprocess.Popen(
            [_program("postgres"), "-D", folder / "data", "-k", folder, "-F", "-c",
             "listen_addresses=", "-c", "lock_timeout=10s"], **both,
        )  # fmt: skip
        self._await()

    def _await(self):
        for _ in range(600):
            try:
                self.sql("SELECT 1")
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text())

    def sql(self, text, database="postgres"):
        with psycopg.connect(
            host=str(self.folder), user="grader", dbname=database, autocommit=True
        ) as connection:
            return connection.execute(text)

    def database(self, template="template1"):
        """A new database; its name and nbgrader's URL for it."""
        self.made += 1
        name = f"gradebook{self.made}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name, f"postgresql+psycopg://grader@/{name}?host={self.folder}"

    def close(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(60)
        self.log.close()


@pytest.fixture(scope="module")
def server():
    if _program("initdb") is None or _program("postgres") is None:
        pytest.skip("no PostgreSQL server here: Debian's package postgresql brings one")
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a socket's path must be short
    try:
        running = Server(folder)
        yield running
        running.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _use(course, url):
    with open(course.config_file(), "a") as file:
        file.write(f'c.CourseDirectory.db_url = "{url}"\n')
    (course.root / "gradebook.db").unlink()


@pytest.fixture(scope="module")
def registered(server, tiny_master, tmp_path_factory):
    """A database that knows the tiny course's assignment, and no submission."""
    course = copy.copy(tiny_master)
    course.root = tmp_path_factory.mktemp("registered") / "tiny"
    shutil.copytree(tiny_master.root, course.root)
    name, url = server.database()
    _use(course, url)
    course.nbgrader("generate_assignment", "ps", "--force")
    return name


@pytest.fixture
def on_postgres(tiny, server, registered):
    """The tiny course with its class, and with its gradebook in a database of its own."""
    tiny.database, tiny.url = server.database(registered)
    _use(tiny, tiny.url)
    _class(tiny)
    return tiny


def _class(tiny):
    for name, answers in STUDENTS.items():
        tiny.submit(name, **answers)
    (tiny.submit("odd") / "p1.ipynb").write_text("broken")


def _book(url):
    """All that the gradebook says of every submission."""
    with Gradebook(url, "tiny") as book:
        return {
            (submission.student.id, nb.name, grade.name): (
                grade.auto_score, grade.manual_score, grade.max_score, grade.needs_manual_grade,
                nb.score, submission.score, nb.late_submission_penalty,
            )
            for submission in book.assignment_submissions("ps")
            for nb in submission.notebooks
            for grade in nb.grades
        }  # fmt: skip


def _totals(url):
    return {student: total for (student, *_), (*_, total, _) in _book(url).items()}


def test_the_same_class_has_the_same_gradebook_as_in_sqlite(on_postgres, tiny_master, tmp_path):
    outcomes = on_postgres.grade()
    assert outcomes["odd"].state == outcomes["fay"].state == "fault"
    assert _totals(on_postgres.url) == {**SCORES, "odd": 4}
    plain = copy.copy(tiny_master)
    plain.root = tmp_path / "plain"
    shutil.copytree(tiny_master.root, plain.root)
    _class(plain)
    plain.grade()
    assert _book(on_postgres.url) == _book(f"sqlite:///{plain.root}/gradebook.db")
    assert not (on_postgres.root / "gradebook.db").exists()


def test_a_second_run_finds_nothing_to_do_and_a_forced_one_changes_nothing(on_postgres):
    on_postgres.grade()
    before = _book(on_postgres.url)
    again = on_postgres.grade()
    skipped = {name for name, each in again.items() if each.state == "skipped"}
    assert skipped >= set(SCORES) - {"fay"}
    assert again["fay"].state == "fault"  # told again, though not run again
    assert "earlier run" in again["fay"].notes[0]
    assert _book(on_postgres.url) == before
    on_postgres.grade(force=True)
    assert _book(on_postgres.url) == before


@pytest.mark.parametrize("after", [1, 4])
def test_kill_9_in_the_middle_is_carried_on(on_postgres, after):
    command = [sys.executable, "-c", RUN, str(on_postgres.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        ended = []
        while len(ended) < after:
            line = run.stdout.readline()
            assert line, "the run ended before it was killed"
            ended += [line] if line.split()[0] in ("graded", "fault") else []
        run.kill()
        assert run.wait() == -signal.SIGKILL
    outcomes = on_postgres.grade()
    assert any(each.state == "skipped" for each in outcomes.values())
    assert any(each.state == "graded" for each in outcomes.values())
    assert _totals(on_postgres.url) == {**SCORES, "odd": 4}


def test_a_connection_that_breaks_stops_the_run_and_the_next_carries_on(on_postgres, server):
    def cut(outcome):
        if outcome.state == "graded":
            server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                f"WHERE datname = '{on_postgres.database}'"
            )

    with pytest.raises(GradingError, match="connection"):
        on_postgres.grade(watch=cut)
    on_postgres.grade()
    assert _totals(on_postgres.url) == {**SCORES, "odd": 4}


def test_a_server_that_is_not_there_is_said_plainly(on_postgres):
    text = on_postgres.config_file().read_text()
    on_postgres.config_file().write_text(text.replace("?host=", "?host=/nowhere"))
    with pytest.raises(GradingError, match="connection"):
        on_postgres.grade()
    on_postgres.config_file().write_text(text)
    assert on_postgres.grade()["ann"].score == 9
