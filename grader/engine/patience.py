"""A locked SQLite gradebook is waited for in Python, where Ctrl-C is heard, not inside SQLite."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import event
from sqlalchemy.engine import Engine

LOOK = 0.2  # seconds that SQLite itself waits; between two waits Python handles signals
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
T = TypeVar("T")


class Patient(sqlite3.Connection):
    """A connection that waits `timeout` seconds for others, as sqlite3's own does."""

    def __init__(self, database: str, timeout: float = 5.0, **named: Any) -> None:
        super().__init__(database, timeout=min(timeout, LOOK), **named)
        self.seconds = timeout

    def cursor(self, factory: Any = None) -> Any:
        """A cursor that waits as long as its connection."""
        return super().cursor(factory or PatientCursor)

    def execute(self, *given: Any) -> PatientCursor:
        """As sqlite3's, which would not come by the cursor's own."""
        cursor: PatientCursor = self.cursor().execute(*given)
        return cursor

    def commit(self) -> None:
        """As sqlite3's."""
        patiently(self.seconds, super().commit)


class PatientCursor(sqlite3.Cursor):
    """A cursor of a `Patient` connection."""

    connection: Patient

    def execute(self, *given: Any) -> PatientCursor:
        """As sqlite3's."""
        return patiently(self.connection.seconds, super().execute, *given)

    def executemany(self, *given: Any) -> PatientCursor:
        """As sqlite3's; a batch that had begun is not begun again."""
        begun = self.connection.in_transaction
        return patiently(0 if begun else self.connection.seconds, super().executemany, *given)


def patiently(seconds: float, call: Callable[..., T], *given: Any) -> T:
    """What `call` returns once nobody holds the lock; OperationalError after `seconds`. A
    statement that was refused because of a lock has done nothing, and can be given again."""
    ends = time.monotonic() + seconds
    while True:
        try:
            return call(*given)
        except sqlite3.OperationalError as error:
            locked = getattr(error, "sqlite_errorcode", 0) & 0xFF in BUSY
            if not locked or time.monotonic() >= ends:
                raise


def install() -> None:
    """From now on SQLAlchemy's connections to SQLite are patient ones."""
    if not event.contains(Engine, "do_connect", _patient):
        event.listen(Engine, "do_connect", _patient)


def _patient(dialect: Any, record: Any, given: Any, named: dict[str, Any]) -> None:
    if dialect.name == "sqlite":
        named.setdefault("factory", Patient)
