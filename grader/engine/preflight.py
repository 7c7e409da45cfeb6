"""What the instructor has set up, looked at before a student's work is touched.

Such a slip would else be found once per student, as if it were theirs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from grader.course import CourseError
from grader.engine.limits import MIB, Limits

SQLITE = "sqlite:///"
MAGIC = b"SQLite format 3\0"  # what a database of SQLite begins with; a new one may be empty
# Below these no process of a submission comes to its first cell.
LEAST = {"start": 1.0, "memory": 64 * MIB, "total": 64 * MIB, "files": 16, "cpu": 1, "scratch": MIB,
         "inodes": 16, "output": 1024, "processes": 1, "probe": 0.1,
         "notebook": 0.1}  # fmt: skip


def check_limits(given: Mapping[str, Any]) -> None:
    """Raises CourseError for `c.EngineExecute.limits` under which nothing could run."""
    kinds = {field.name: field.type for field in fields(Limits)}
    for name, value in given.items():
        said = f"c.EngineExecute.limits[{name!r}] in nbgrader_config.py"
        if name not in kinds:
            raise CourseError(f"{said}: there is no such limit; there are: {', '.join(kinds)}")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        whole = kinds[name] == "int"
        if not number or not math.isfinite(value) or (whole and not isinstance(value, int)):
            wanted = "a whole number" if whole else "a number"
            raise CourseError(f"{said} is {value!r}: it must be {wanted}")
        if value < LEAST.get(name, 0):
            raise CourseError(f"{said} is {value!r}: at least {LEAST.get(name, 0)} is needed")


def check_folders(place: str, top: str) -> None:
    """Raises CourseError where a file lies at `place`, or above it up to `top`."""
    place, top = os.path.abspath(place), os.path.abspath(top)
    while True:
        if os.path.lexists(place) and not os.path.isdir(place):
            raise CourseError(f"{place} is no folder: move it away, then try again")
        if place == top or os.path.dirname(place) == place:
            return
        place = os.path.dirname(place)


def check_public(folders: Mapping[str, str]) -> None:
    """Raises CourseError where submissions cannot read what learners have anyway: a check in a
    notebook would fail and cost points. They see these folders alone, so no link may lead out; and
    where root grades they run as other users. Rights that do not show are `surroundings.closed`'s.
    """
    tops = [os.path.realpath(top) for top in folders.values()]
    as_others = hasattr(os, "geteuid") and os.geteuid() == 0
    for top in tops:
        for path in _tree(top):
            if os.path.islink(path):
                _check_link(path, tops)
            elif as_others and not _open_to_others(path):
                raise CourseError(
                    f"{path} can be read by root alone, and submissions run as other users: "
                    f"chmod -R go+rX {top}"
                )


def _tree(top: str) -> Iterator[str]:
    yield top
    for place, folders, files in os.walk(top):
        yield from (os.path.join(place, name) for name in (*folders, *files))


def _check_link(path: str, tops: Iterable[str]) -> None:
    target, real = os.readlink(path), os.path.realpath(path)
    inside = not os.path.isabs(target) and any(real.startswith(top + os.sep) for top in tops)
    if os.path.exists(path) and not inside:
        raise CourseError(
            f"{path} is a link to {target}, which submissions do not see: put a copy there, or a "
            "relative link to what lies beside it"
        )


def _open_to_others(path: str) -> bool:
    wanted = 0o005 if os.path.isdir(path) else 0o004
    return os.stat(path).st_mode & wanted == wanted


def gradebook_file(db_url: str) -> str | None:
    """Where an SQLite gradebook lies; None for any other database, or one in memory."""
    return db_url.removeprefix(SQLITE).partition("?")[0] if db_url.startswith(SQLITE) else None


def check_gradebook(db_url: str) -> None:
    """Raises CourseError where an SQLite gradebook cannot lie. SQLite itself only says that it was
    "unable to open database file"."""
    path = gradebook_file(db_url)
    if not path:
        return
    if os.path.isdir(path):
        raise CourseError(f"{path} is a folder, not a gradebook: see c.CourseDirectory.db_url")
    if os.path.isfile(path) and _begins(path) not in (b"", MAGIC):
        raise CourseError(
            f"{path} is no gradebook: put it back from a backup, or move it away and grade again; "
            "see c.CourseDirectory.db_url"
        )
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise CourseError(f"no folder {folder} for the gradebook: see c.CourseDirectory.db_url")


def _begins(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(len(MAGIC))
