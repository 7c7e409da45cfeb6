"""The processes of a submission and the memory each has, from /proc. Source: proc(5)."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

PROC = "/proc"
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def elsewhere() -> Any:
    """Who knows of processes where there is no /proc; None where there is one."""
    if os.path.isdir(f"{PROC}/self"):
        return None
    from grader.engine import family

    return family


def lists_children() -> bool:
    """Whether /proc tells a process's children."""
    return os.path.exists(f"{PROC}/self/task/{os.getpid()}/children")


def outer_pid(pidfd: int) -> int:
    """The pid of a child as this process sees it; 0 where it is gone."""
    return max(0, _number(f"self/fdinfo/{pidfd}", "Pid:") or 0)


def members(pid: int, by_session: bool = False) -> list[int]:
    """A child's processes. In a pid namespace of its own they are all below it, orphans too;
    without one it leads a session that none of them can leave."""
    if other := elsewhere():
        return list(other.members(pid))
    return _session(pid) if by_session else _below(pid)


def _below(pid: int) -> list[int]:
    found, new = list[int](), [pid] if pid else []
    while new:
        found.append(new.pop())
        with suppress(OSError):
            for task in os.listdir(f"{PROC}/{found[-1]}/task"):
                with suppress(OSError):
                    text = _text(f"{found[-1]}/task/{task}/children")
                    new += map(int, text.split())
    return found


def _session(session: int) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir(PROC)):
        with suppress(OSError):
            after_the_name = _text(f"{name}/stat").rpartition(")")[2].split()
            if int(after_the_name[3]) == session:
                found.append(int(name))
    return found


def resident(pid: int) -> int:
    """Bytes of a process in memory, shared pages in full; 0 for one that is gone."""
    with suppress(OSError):
        return int(_text(f"{pid}/statm").split()[1]) * PAGE
    return int(other.resident(pid)) if (other := elsewhere()) else 0


def proportional(pid: int) -> int:
    """The same with shared pages divided among those who share them. In full where a process
    has closed itself to looks (PR_SET_DUMPABLE): nothing is gained by that."""
    with suppress(OSError):
        found = _number(f"{pid}/smaps_rollup", "Pss:")
        if found is not None:
            return found * 1024
    return resident(pid)


def page_tables(pid: int) -> int:
    """Bytes of a process's page tables, which are in no size of its own; 0 where none are told."""
    with suppress(OSError):
        return (_number(f"{pid}/status", "VmPTE:") or 0) * 1024
    return 0


def _number(name: str, label: str) -> int | None:
    """The number behind a label in a file of /proc."""
    for line in _text(name).splitlines():
        if line.startswith(label):
            return int(line.split()[1])
    return None


def _text(name: str) -> str:
    with open(f"{PROC}/{name}") as file:
        return file.read()
