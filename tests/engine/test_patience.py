import os
import signal
import sqlite3
import threading
import time

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from grader.engine import patience
from grader.engine.patience import Patient

LONG = 3000  # a wait that no test would survive


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "book.db"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE score (points INTEGER)")
    made.close()
    return path


@pytest.fixture
def patient(book):
    """A connection of ours that would wait for very long."""
    ours = sqlite3.connect(book, factory=Patient, timeout=LONG)
    yield ours
    ours.close()


@pytest.fixture
def lock(book):
    """Another program's connection that holds the lock."""
    other = sqlite3.connect(book, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    yield other
    other.close()


def write(connection):
    connection.execute("INSERT INTO score VALUES (?)", (1,))
    connection.commit()


def test_it_waits_until_the_lock_is_gone(patient, lock):
    timer = threading.Timer(3 * patience.LOOK, lock.rollback)
    timer.start()
    write(patient)
    assert patient.execute("SELECT points FROM score").fetchall() == [(1,)]
    timer.join()


def test_a_commit_waits_for_who_reads(book, patient):
    reader = sqlite3.connect(book, isolation_level=None, check_same_thread=False)
    patient.execute("INSERT INTO score VALUES (1)")
    reader.execute("BEGIN")
    assert reader.execute("SELECT points FROM score").fetchall() == []
    timer = threading.Timer(3 * patience.LOOK, reader.rollback)
    timer.start()
    patient.commit()
    timer.join()
    assert reader.execute("SELECT points FROM score").fetchall() == [(1,)]
    reader.close()


def test_it_gives_up_in_the_end(book, lock):
    connection = sqlite3.connect(book, factory=Patient, timeout=2 * patience.LOOK)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        write(connection)
    connection.close()


def test_ctrl_c_is_heard_while_it_waits(patient, lock):
    timer = threading.Timer(2 * patience.LOOK, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        write(patient)
    timer.join()


def test_other_errors_come_at_once(patient):
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        patient.execute("SELECT * FROM elsewhere")


def test_sqlalchemy_waits_as_it_is_told(book, lock):
    patience.install()
    patience.install()  # once is enough, twice does no harm
    engine = create_engine(f"sqlite:///{book}", connect_args={"timeout": 2 * patience.LOOK})
    with engine.connect() as connection:
        assert isinstance(connection.connection.dbapi_connection, Patient)
        with pytest.raises(OperationalError, match="locked"):
            connection.execute(text("INSERT INTO score VALUES (2)"))
        connection.rollback()
        lock.rollback()
        connection.execute(text("INSERT INTO score VALUES (3)"))
        connection.commit()
        assert connection.execute(text("SELECT points FROM score")).scalars().all() == [3]
    engine.dispose()


def test_a_batch_waits_as_one_row_does(patient, lock):
    timer = threading.Timer(3 * patience.LOOK, lock.rollback)
    timer.start()
    patient.cursor().executemany("INSERT INTO score VALUES (?)", [(1,), (2,)])
    assert patient.execute("SELECT points FROM score").fetchall() == [(1,), (2,)]
    timer.join()


def test_a_batch_in_a_transaction_that_has_begun_is_given_once(book, lock):
    connection = sqlite3.connect(book, factory=Patient, timeout=60)
    connection.execute("BEGIN")
    started = time.monotonic()
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        connection.cursor().executemany("INSERT INTO score VALUES (?)", [(1,), (2,)])
    assert time.monotonic() - started < 30
    connection.close()
