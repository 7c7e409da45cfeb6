"""Errors of the machine, not of a submission: which stop a run, and what there is to do.

A full disk or a locked gradebook must cost no student a point: the run stops, and the next one
carries on. An odd file name in one submission must stop nobody else.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

from nbgrader.api import InvalidEntry
from sqlalchemy.exc import (
    DBAPIError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
)

from grader.engine.host import ZygoteError
from grader.engine.work import Unsafe

MACHINE = (Unsafe, ZygoteError, OperationalError, InterfaceError, InternalError, ProgrammingError)
# What the names and kinds of a student's files can cause; every other OSError is the machine's.
STUDENTS = frozenset(
    (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP,
     errno.EINVAL, errno.EACCES, errno.EPERM, errno.ENXIO, errno.EILSEQ, errno.ENOTEMPTY)
)  # fmt: skip
FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
AGAIN = "; then grade again: what is done is kept"


def stops(error: BaseException) -> bool:
    """Whether `error`, or what caused it, is the machine's. nbgrader wraps database errors."""
    return any(
        isinstance(each, MACHINE) or (isinstance(each, OSError) and each.errno not in STUDENTS)
        for each in _chain(error)
    )


def advice(error: BaseException) -> str:
    """What is wrong and what to do, in one line."""
    for each in _chain(error):
        said = " ".join(str(each.orig if isinstance(each, DBAPIError) else each).split())[:300]
        number = each.errno if isinstance(each, OSError) else None
        if number in FULL or "disk is full" in said or "No space left" in said:
            return f"the disk is full ({said}): make room{AGAIN}"
        if isinstance(each, OperationalError) and _locked(said):
            return (
                f"the gradebook is locked by another program ({said}): close what has it open "
                f"(formgrader, nbgrader, a database browser){AGAIN}"
            )
        if number in (errno.EROFS, errno.EACCES, errno.EPERM) or _read_only(said):
            return f"no right to write ({said}): give this user the course's folder{AGAIN}"
        if isinstance(each, DBAPIError):
            hint = "see c.CourseDirectory.db_url and the database's server"
            return f"the gradebook's database fails ({said}): {hint}{AGAIN}"
    return f"{type(error).__name__}: {error}"


def reason(error: BaseException) -> str:
    """`error` as a submission's reason: short, and text that every database and screen takes."""
    said = f"{type(error).__name__}: {error}"[:500].replace("\0", "\\0")
    return said.encode(errors="backslashreplace").decode()


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        wrapped = isinstance(error, InvalidEntry)  # nbgrader's, without `from`
        error = error.__cause__ or (error.__context__ if wrapped else None)


def _locked(said: str) -> bool:
    return "is locked" in said or "lock timeout" in said


def _read_only(said: str) -> bool:
    return "readonly database" in said or "unable to open database file" in said
