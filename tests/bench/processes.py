"""CPU and memory of the warm process and its children, read from /proc and the kernel's clocks."""

import os
import resource
import threading
import time
from pathlib import Path


def cpu(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def reaped(pid: int) -> float:
    """CPU seconds of the warm process (the child of `pid`), which forks, and of the children that
    it has waited for."""
    kids = children(pid)
    fields = Path(f"/proc/{kids[0] if kids else pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    try:
        return [int(word) for task in Path(f"/proc/{pid}/task").glob("*/children")
                for word in task.read_text().split()]  # fmt: skip
    except OSError:
        return []


def pss(pid: int) -> float:
    """Proportional set size of a process and its descendants, MiB."""
    total, waiting = 0, [pid]
    while waiting:
        one = waiting.pop()
        waiting += children(one)
        try:
            for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                total += int(line.split()[1]) if line.startswith("Pss:") else 0
        except OSError:
            continue
    return total / 1024


class Clock:
    """Adds up the CPU seconds that submissions use within a method of ForkClient."""

    def __init__(self, name: str) -> None:
        from grader.engine.client import ForkClient

        self.seconds, self.lock = 0.0, threading.Lock()
        original = getattr(ForkClient, name)

        def timed(client, *given, **named):
            clock = cpu_clock(client.process.pidfd)
            started = time.clock_gettime(clock)
            try:
                return original(client, *given, **named)
            finally:
                with self.lock:
                    self.seconds += time.clock_gettime(clock) - started

        setattr(ForkClient, name, timed)


def cpu_clock(pidfd: int) -> int:
    """The clock of a process's CPU time, all its threads together (clock_getcpuclockid(3))."""
    from grader.engine.processes import outer_pid

    return (~outer_pid(pidfd) << 3) | 2


class Sampler:
    """Looks twice a second how much memory (PSS) the largest child of the warm process takes."""

    def __init__(self) -> None:
        self.most, self.ended = 0.0, threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Sampler":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def _watch(self) -> None:
        from grader.engine import warm

        while not self.ended.wait(0.5):
            held = warm._current.get("zygote")
            inner = children(held[1].process.pid) if held else []
            for child in [pid for one in inner for pid in children(one)]:
                self.most = max(self.most, pss(child))
