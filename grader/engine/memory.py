"""The memory of one submission as a whole: all its processes together, within `Limits.total`.

RLIMIT_DATA counts each process by itself, so 200 processes could take 200 times as much. Where a
control group was given (`cgroup`) the kernel holds the limit; in any case one thread looks at all
running children, twice a second, and kills the one that is over. It sums the resident sizes of the
child's processes, which is cheap and too much (pages shared since the fork count in each), and only
where that is over the limit asks for the proportional sizes (PSS). Each process's page tables count
besides: addresses that hold nothing can have gigabytes of them. Source: proc(5).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from grader.engine import cgroup, processes
from grader.engine.forked import Process
from grader.engine.limits import MIB, Limits
from grader.engine.processes import members, outer_pid, page_tables, proportional, resident
from grader.engine.sandbox import Layer

SPARE = 20  # processes above the limit that are nobody's fault
SLOW, FAST = 0.5, 0.1  # seconds between two looks: in general, and where half is used
SHARE = 10  # looking takes at most about one part in so many of a core's time
WATCHDOG = "by a watchdog of the engine, twice a second; exact with a control group: " + cgroup.HOW


class Guard:
    """One child under watch. `reason` is set once it has been stopped."""

    def __init__(self, process: Process, limits: Limits) -> None:
        self.process, self.most, self.processes = process, limits.total, limits.processes
        self.pid = outer_pid(process.pidfd) if process.pidfd >= 0 else process.pid
        self.group: cgroup.Group | None = None
        self.kind = self.reason = ""

    def blame(self, fault: tuple[str, str] | None) -> tuple[str, str] | None:
        """A fault as (kind, reason), corrected if it came of being stopped here."""
        self._ask_the_kernel()
        return (self.kind, self.reason) if self.reason else fault

    def look(self) -> int:
        """Bytes in use, at most; kills the child that is over its limit."""
        self._ask_the_kernel()
        pids = members(self.pid, self.process.scratch is not None)
        if len(pids) > self.processes + SPARE:  # RLIMIT_NPROC does not hold for root itself
            self._stop("processes", f"more than {self.processes} processes at once")
        tables = sum(map(page_tables, pids))
        used = sum(map(resident, pids)) + tables
        if used > self.most:
            used = sum(map(proportional, pids)) + tables
        if used > self.most:
            self._stop("memory", self._too_much())
        return used

    def _ask_the_kernel(self) -> None:
        if self.group is not None and self.group.kills():
            self._stop("memory", self._too_much())  # it may have killed only some of them

    def _too_much(self) -> str:
        return f"its processes together took more than {self.most // MIB} MiB of memory"

    def _stop(self, kind: str, reason: str) -> None:
        if not self.reason:  # who forks without end holds much memory by then: the first is told
            self.kind, self.reason = kind, reason
        self.process.strike()


class Watchdog:
    """One thread for all children; it sleeps while there is none."""

    def __init__(self) -> None:
        self.guards: set[Guard] = set()
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None

    def add(self, guard: Guard) -> None:
        """Watch a child."""
        with self.changed:
            self.guards.add(guard)
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="grader-memory", daemon=True)
                self.thread.start()
            self.changed.notify()

    def drop(self, guard: Guard) -> None:
        """Forget a child; after this its pidfd may be closed."""
        with self.changed:
            self.guards.discard(guard)

    def _run(self) -> None:
        pause = SLOW
        while True:
            with self.changed:
                self.changed.wait_for(lambda: bool(self.guards))
            time.sleep(pause)
            began = time.thread_time()
            near = [self._look(guard) for guard in tuple(self.guards)]
            spent = time.thread_time() - began
            pause = max(FAST if any(near) else SLOW, SHARE * spent)

    def _look(self, guard: Guard) -> bool:
        """Whether a child is near its limit; one look at a time, and none after `drop`."""
        with self.changed:
            if guard in self.guards and not guard.reason:
                return guard.look() > guard.most // 2
        return False


_watchdog = Watchdog()


@contextmanager
def guarded(process: Process, limits: Limits) -> Iterator[Guard]:
    """Hold the limit while the block runs (not at all where `layer` says why)."""
    on = layer().on
    guard = Guard(process, limits)
    if on:
        guard.group = cgroup.enter(guard.pid, limits)
        _watchdog.add(guard)
    try:
        yield guard
    finally:
        _watchdog.drop(guard)
        if guard.group is not None:
            process.strike()
            guard.group.leave()


def layer() -> Layer:
    """How the limit is held on this system."""
    if processes.elsewhere():
        return Layer("memory", True, WATCHDOG.partition(";")[0])
    if not processes.lists_children():
        return Layer("memory", False, "no list of a process's children in /proc")
    parent, named = cgroup.parent(), os.environ.get(cgroup.NAMED)
    if parent is not None:
        return Layer("memory", True, f"by {parent}")
    if named:
        unusable = f"{cgroup.NAMED} names no control group that this user may use: {named}"
        return Layer("memory", True, f"{WATCHDOG.partition(';')[0]}; {unusable}")
    return Layer("memory", True, WATCHDOG)
