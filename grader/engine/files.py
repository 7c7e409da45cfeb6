"""Files that travel with a submission: into the child's directory, and those it made, back out.

Regular files only, by relative paths that are checked on the trusted side; symlinks, FIFOs,
devices and anything too large are refused by name, never followed.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from grader.engine import frames
from grader.engine.limits import Limits

MOST_SEEN = 5000
DEEPEST = 50  # folders in folders
CONFIG = "nbgrader_config.py"
TIMESTAMP = "timestamp.txt"  # nbgrader takes the time of submission from it
OPEN = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_BINARY"))  # Windows has the second
ENVIRONMENT = ("pyvenv.cfg", "conda-meta")  # what a virtual or conda environment has at its top


def walk(folder: Path, deepest: float = math.inf) -> Iterator[tuple[str, os.stat_result]]:
    """Relative path and lstat of everything in `folder` that is no directory, in order; no deeper
    than `deepest` levels. What goes while it is looked at is left out."""
    for place, names, files in os.walk(folder):
        links = [name for name in names if os.path.islink(os.path.join(place, name))]
        for name in sorted(files + links):
            path = os.path.join(place, name)
            with suppress(FileNotFoundError):
                yield relative(path, folder), os.lstat(path)
        names[:] = sorted(names) if len(Path(place).relative_to(folder).parts) < deepest else ()


def relative(path: str, folder: str | Path) -> str:
    """The path below `folder`, with slashes on every system."""
    return os.path.relpath(path, folder).replace(os.sep, "/")


def nearby(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """As `walk`, for a folder that need not be a submission's (`nbgrader validate` runs where the
    notebook lies): hidden files, environments and caches are left out, a course's root gives only
    what lies beside its configuration, and after `MOST_SEEN` entries the walk ends."""
    seen = 0
    for place, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if _descend(place, name))
        seen += len(names) + len(files)
        if CONFIG in files:
            names.clear()
            files = [name for name in files if not name.endswith(".db")]
        for name in sorted(files)[:MOST_SEEN]:
            path = os.path.join(place, name)
            with suppress(FileNotFoundError):
                if not name.startswith("."):
                    yield relative(path, folder), os.lstat(path)
        if seen > MOST_SEEN:
            return


def _descend(place: str, name: str) -> bool:
    path = os.path.join(place, name)
    known = name.startswith(".") or name in ("__pycache__", "node_modules")
    return not known and not any(os.path.exists(f"{path}/{mark}") for mark in ENVIRONMENT)


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """How every file looks now: size and time of change."""
    return {name: (info.st_size, info.st_mtime_ns) for name, info in walk(folder, DEEPEST)}


def pack(folder: Path, limits: Limits) -> bytes:
    """The regular files of `folder` as one payload, as `nearby` finds them; what is too large is
    left out."""
    names, blobs, room = list[str](), list[bytes](), limits.scratch // 2
    for name, info in nearby(folder):
        if len(names) >= limits.submitted_count:
            break
        wanted = stat.S_ISREG(info.st_mode) and _may_be(name)
        if wanted and info.st_size <= room:
            with suppress(FileNotFoundError, PermissionError):  # somebody else's, beside a notebook
                blobs.append(_read(folder / name, room))
                names.append(name)
                room -= len(blobs[-1])
    return frames.pack_parts({"names": names}, blobs)


def _read(path: Path, most: int) -> bytes:
    fd = os.open(path, os.O_RDONLY | OPEN | getattr(os, "O_NONBLOCK", 0))
    with open(fd, "rb") as file:
        return file.read(most)


def changed(folder: Path, before: dict[str, tuple[int, int]], limits: Limits) -> bytes:
    """New or changed regular files, as many as the limits allow. Threads of a cell that has ended
    may go on writing meanwhile, and a tree may be deeper than Python can walk."""
    names, blobs, room = list[str](), list[bytes](), limits.harvest
    for name, info in walk(folder, DEEPEST):
        new = before.get(name) != (info.st_size, info.st_mtime_ns)
        fits = info.st_size <= room and len(names) < limits.harvest_files
        wanted = stat.S_ISREG(info.st_mode) and _may_be(name)
        if new and fits and wanted:
            with suppress(OSError):  # one that its maker may not read
                blobs.append(_read(folder / name, room))  # by now it may be larger
                names.append(name)
                room -= len(blobs[-1])
    return frames.pack_parts({"names": names}, blobs)


def write(folder: Path, payload: bytes, most: int, room: int) -> list[str]:
    """Write a payload below `folder`; the names written.

    More than `most` files or `room` bytes, a name that leaves the folder, runs through a symlink,
    is a notebook, or exists as anything but a regular file is a ProtocolError; nothing else is
    touched.
    """
    head, blobs = frames.unpack_parts(payload)
    names = head.get("names")
    if not isinstance(names, list) or len(names) != len(blobs):
        raise frames.ProtocolError("names and files do not match")
    if len(names) > most or sum(map(len, blobs)) > room:
        raise frames.ProtocolError(f"{len(names)} files are more than may be sent")
    for name, blob in zip(names, blobs, strict=True):
        target = safe_path(folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OPEN
        with open(os.open(target, flags, 0o644), "wb") as file:
            file.write(blob)
    return names


def _may_be(name: str) -> bool:
    """Whether a submission may leave a file of this name: nbgrader takes every notebook for one to
    grade, and TIMESTAMP beside it for the time when it came; folders cost room, too."""
    parts = PurePosixPath(name.casefold()).parts  # some disks take two cases for one name
    notebooks = any(part.endswith(".ipynb") for part in parts)
    return len(parts) <= DEEPEST and not notebooks and parts != (TIMESTAMP,)


def safe_path(folder: Path, name: object) -> Path:
    """`folder / name` if that stays inside, else ProtocolError."""
    if not isinstance(name, str) or not name or "\0" in name or len(name) > 1000:
        raise frames.ProtocolError("a file without a proper name")
    pure = PurePosixPath(name)
    if os.sep != "/" and set(name) & {"\\", ":"}:  # Windows: another folder, another drive
        raise frames.ProtocolError(f"a file where none may be: {name[:80]}")
    if pure.is_absolute() or ".." in pure.parts or not _may_be(name):
        raise frames.ProtocolError(f"a file where none may be: {name[:80]}")
    target = folder / pure
    for place in (target, *target.parents):
        if place == folder:
            break
        if place.is_symlink() or (place == target and place.exists() and not place.is_file()):
            raise frames.ProtocolError(f"a file where none may be: {name[:80]}")
    return target
