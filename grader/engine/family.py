"""A process and all that came of it, by psutil: for systems without /proc and process groups."""

from __future__ import annotations

import os
from contextlib import suppress

import psutil  # type: ignore[import-untyped]

ROUNDS = 5  # a process may start others while it is looked at


def members(pid: int) -> list[int]:
    """Its pid, its descendants', and those of the session it leads, where there are sessions: a
    process whose parent has ended is found by nothing else."""
    if not pid:
        return []
    found = {pid: None}
    with suppress(psutil.Error):
        found |= {each.pid: None for each in psutil.Process(pid).children(recursive=True)}
    if hasattr(os, "getsid"):
        found |= {each: None for each in psutil.pids() if _session(each) == pid}
    return list(found)


def _session(pid: int) -> int:
    with suppress(OSError):
        return os.getsid(pid) if pid else 0
    return 0


def resident(pid: int) -> int:
    """Bytes of a process in memory; 0 for one that is gone."""
    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def kill(pid: int) -> None:
    """End them all. The process at its head must not have been waited for: its number would no
    longer be its own."""
    for _ in range(ROUNDS):
        alive = [each for each in members(pid) if _alive(each)]
        if not alive:
            return
        for each in alive:
            with suppress(psutil.Error):
                psutil.Process(each).kill()


def _alive(pid: int) -> bool:
    with suppress(psutil.Error):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False
