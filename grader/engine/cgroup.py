"""Control groups: the kernel's own limit on the memory of a submission, where one was delegated.

A control group belongs to whoever manages it, mostly systemd, and others must not make groups in
it. So the engine uses one only if it was given it: by a path in GRADER_CGROUP, or when it was
started in a group that systemd marks as delegated. Sources: cgroups(7), the kernel's cgroup-v2.rst
("Delegation", "No Internal Process Constraint"), systemd's CGROUP_DELEGATION.
"""

from __future__ import annotations

import atexit
import itertools
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.engine.limits import Limits

NAMED = "GRADER_CGROUP"
HOW = "systemd-run --user --scope -p Delegate=yes grader grade, or a path in " + NAMED
V2, OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
LEAF = "engine"
_numbers = itertools.count()
_left: list[Path] = []  # groups that could not be removed yet


@dataclass(frozen=True)
class Parent:
    """A group that children's groups are made in; `version` of its interface."""

    path: Path
    version: int

    def __str__(self) -> str:
        return f"the control group {self.path} (version {self.version})"


@dataclass(frozen=True)
class Group:
    """One child's."""

    path: Path
    version: int

    def kills(self) -> int:
        """How many of its processes the kernel has killed for want of memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        with suppress(OSError):
            for line in (self.path / name).read_text().splitlines():
                key, _, value = line.partition(" ")
                if key == "oom_kill":
                    return int(value)
        return 0

    def leave(self) -> None:
        """Remove it, now or, while its processes still end, at a later call."""
        _left.append(self.path)
        _sweep()


def _sweep() -> None:
    for path in tuple(_left):
        with suppress(OSError):
            path.rmdir()
            _left.remove(path)


@atexit.register
def _last_sweep() -> None:
    for _ in range(40):
        _sweep()
        if not _left:
            return
        time.sleep(0.05)


@cache
def parent() -> Parent | None:
    """The group that was given to this engine; asked once a process. None where there is none,
    or where it cannot be used (the watchdog holds the limit then)."""
    named = os.environ.get(NAMED)
    try:
        if named and (Path(named) / "memory.limit_in_bytes").exists():
            return Parent(Path(named), 1) if os.access(named, os.W_OK) else None
        found = Path(named) if named else _delegated()
        if found is None:
            return None
        if not named:
            _make_room(found)
        (found / "cgroup.subtree_control").write_text("+memory +pids")
        return Parent(found, 2)
    except OSError:
        return None


def _delegated() -> Path | None:
    """This process's own group, if systemd has delegated it; or the one above, if an engine has
    moved it down before."""
    for line in OWN.read_text().splitlines():
        if line.startswith("0::"):
            own = V2 / line[3:].lstrip("/")
            for path in (own, own.parent) if own.name == LEAF else (own,):
                if _marked(path):
                    return path
    return None


def _marked(path: Path) -> bool:
    for mark in ("user.delegate", "trusted.delegate"):
        with suppress(OSError):
            if os.getxattr(path, mark) == b"1":
                return True
    return False


def _make_room(group: Path) -> None:
    """Only a group without processes may have groups with limits: they move one down."""
    leaf = group / LEAF
    leaf.mkdir(exist_ok=True)
    for pid in (group / "cgroup.procs").read_text().split():
        with suppress(ProcessLookupError):
            (leaf / "cgroup.procs").write_text(pid)


def enter(pid: int, limits: Limits) -> Group | None:
    """Put a child into a group of its own; None where that is not to be had."""
    above = parent()
    if above is None or not pid:
        return None
    group = Group(above.path / f"child-{os.getpid()}-{next(_numbers)}", above.version)
    try:
        group.path.mkdir()
    except OSError:
        return None
    try:
        for name, value in _settings(limits, above.version).items():
            with suppress(FileNotFoundError):  # no swap accounting, an older kernel
                _set(group.path / name, value)
        _set(group.path / "cgroup.procs", str(pid))
    except OSError:
        group.leave()
        return None
    return group


def _settings(limits: Limits, version: int) -> dict[str, str]:
    if version == 1:
        most = str(limits.total)
        return {"memory.limit_in_bytes": most, "memory.memsw.limit_in_bytes": most}
    return {
        "memory.max": str(limits.total),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": str(limits.processes + 100),  # RLIMIT_NPROC speaks first, and plainly
    }


def _set(path: Path, value: str) -> None:
    with open(path, "r+") as file:
        file.write(value)
