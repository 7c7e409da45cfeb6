"""Errors of the machine, not of a submission: which stop a run, and what there is to do.

A full disk or a locked gradebook must cost no student a point: the run stops, and the next one
carries on. An odd file name in one submission must stop nobody else.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator

from nbgrader.api import InvalidEntry
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
)

from grader.course import CourseError
from grader.engine.host import ZygoteError
from grader.engine.intake import Refused
from grader.engine.printable import printable
from grader.engine.work import Unsafe

# The machine's, and the instructor's: neither may cost a student a point.
MACHINE = (Unsafe, ZygoteError, CourseError, InterfaceError, DatabaseError)
ONE_ROW = (DataError, IntegrityError)  # a value that the database refuses, of one submission
# What the names and kinds of a student's files can cause; every other OSError is the machine's.
STUDENTS = frozenset(
    (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP,
     errno.EINVAL, errno.EACCES, errno.EPERM, errno.ENXIO, errno.EILSEQ, errno.ENOTEMPTY)
)  # fmt: skip
FULL = ("disk is full", os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))
LOCKED = ("database is locked", "table is locked", "lock timeout")
READ_ONLY = ("readonly database", "unable to open database file", os.strerror(errno.EROFS),
             os.strerror(errno.EACCES), os.strerror(errno.EPERM))  # fmt: skip
# SQLite's and PostgreSQL's words for a table or column that a newer nbgrader has added.
OLD = re.compile(r"no such (table|column): |(relation|column) \S+ does not exist")
CELLS = "Cannot add or remove cells for notebook"  # of generate_assignment
AGAIN = "; then grade again: what is done is kept"


def stops(error: BaseException) -> bool:
    """Whether `error`, or what caused it, is the machine's. nbgrader wraps database errors."""
    return any(
        (isinstance(each, MACHINE) and not isinstance(each, ONE_ROW))
        or (isinstance(each, OSError) and each.errno not in STUDENTS)
        for each in chain(error)
    )


def advice(error: BaseException) -> str:
    """What is wrong and what to do, in one line; ends with AGAIN where the machine is to blame."""
    if isinstance(error, (Unsafe, ZygoteError, CourseError)):
        return str(error)  # says what to do, and may quote words that stand for something else here
    for each in chain(error):
        said = " ".join(str(each.orig if isinstance(each, DBAPIError) else each).split())
        plain = f" ({said[:300]})" if isinstance(each, (DBAPIError, OSError)) else ""
        found = hint(said, plain)
        if found is not None:
            return found
        if isinstance(each, DBAPIError):
            where = "see c.CourseDirectory.db_url and the database's server"
            return f"the gradebook's database fails{plain}: {where}{AGAIN}"
        if isinstance(each, ArgumentError):
            return f"c.CourseDirectory.db_url names no database: {said[:300]}"
    return " ".join(str(error).split()) or type(error).__name__


def hint(said: str, plain: str = "") -> str | None:
    """What to do about a disk or a gradebook by an error's words: nbgrader's log has no more."""
    if any(words in said for words in FULL):
        return f"the disk is full{plain}: make room{AGAIN}"
    if any(words in said for words in LOCKED):
        return (
            f"the gradebook is locked by another program{plain}: close what has it open "
            f"(formgrader, nbgrader, a database browser){AGAIN}"
        )
    if OLD.search(said):
        return (
            f"the gradebook was made by another version of nbgrader{plain}: `nbgrader db upgrade` "
            "brings an older one up to date and keeps a copy; then grade again"
        )
    if CELLS in said:
        return (
            f"nbgrader adds and removes no cells where somebody has been graded{plain}: undo that "
            "change, or give the chapter another name; `nbgrader db assignment remove <chapter> "
            "--force` forgets all its scores, marks by hand too"
        )
    if any(words in said for words in READ_ONLY):
        return f"no right to write{plain}: give this user the course's folder{AGAIN}"
    return None


def reason(error: BaseException) -> str:
    """`error` as a submission's reason: a line that every database and screen takes."""
    if isinstance(error, Refused):  # in our own words
        return printable(error)
    return printable(f"{type(error).__name__}: {error}")


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """`error` and what caused it, nbgrader's wrapped ones too."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        wrapped = isinstance(error, InvalidEntry)  # nbgrader's, without `from`
        error = error.__cause__ or (error.__context__ if wrapped else None)
