"""What stands in for the zygote without fork: processes started ahead, each for one submission.

Each imports everything by itself, so a submission costs the seconds of CPU that a fork saves; only
the waiting is saved, as some are always warm: as many as have run at the same time.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress

from grader.engine import frames, host, places
from grader.engine.forked import Process
from grader.engine.limits import Limits
from grader.engine.meeting import Started

# Without these Windows opens no socket and finds no program.
WINDOWS = "SYSTEMROOT WINDIR COMSPEC PATHEXT PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS".split()


class Closed(RuntimeError):
    """The engine was stopped while a submission waited for its process."""


class Single(Process):
    """A process that runs one submission, and what it was started by."""

    def __init__(self, started: Started, sock: socket.socket, interrupts: socket.socket,
                 scratch: str | None) -> None:  # fmt: skip
        super().__init__(sock, -1, started.popen.pid, scratch)
        self.started, self.interrupts = started, interrupts

    def interrupt(self) -> None:
        """Have its second thread raise KeyboardInterrupt in the first."""
        with suppress(OSError):
            self.interrupts.send(b"!")

    def strike(self) -> None:
        """End it and all that came of it."""
        self.started.strike()

    def kill(self) -> None:
        """`strike`, and tidy up. Safe to call twice."""
        self.started.end()
        if self.scratch:
            places.remove_tree(self.scratch)

    def ended(self, seconds: float) -> bool:
        """Whether the process ends within `seconds`."""
        with suppress(subprocess.TimeoutExpired):
            self.started.popen.wait(seconds)
        return self.started.popen.returncode is not None


class Spawned(host.Zygote):
    """A pool with the manners of a zygote. Threads may share it."""

    def __init__(self, public: Mapping[str, str] | None = None, hidden: Iterable[str] = (),
                 sandboxed: bool = True, tensorflow: bool = True) -> None:  # fmt: skip
        super().__init__(public, hidden, sandboxed, tensorflow)
        self.waiting, self.running = deque[Started](), list[Started]()
        self.namespaced, self.number = False, 0
        self.place: places.Folder | None = None

    def launch(self) -> None:
        """Have a process started, without waiting. OSError where the system starts none."""
        with self.lock:
            if not self.alive:
                self.place = places.Folder("spawned")
            self._fill()  # where one could not be started, none waits

    def show(self, public: Mapping[str, str], hidden: Iterable[str]) -> bool:
        """As a zygote's; what is hidden makes no difference where there are no namespaces."""
        return self.places["public"] == dict(public)

    @property
    def alive(self) -> bool:
        """Whether it has been started and not closed."""
        return self.place is not None

    @property
    def home(self) -> str:
        """The home of all its processes; empty once it is closed."""
        return self.place.path if self.place else ""

    def start(self) -> None:
        """As `launch`: it is `spawn` that waits for a process to be warm."""
        self.launch()

    def _fill(self) -> None:
        """Have as many processes waiting as run now, and at least one."""
        self.running = [each for each in self.running if each.popen.returncode is None]
        while len(self.waiting) < max(1, len(self.running)):
            self.waiting.append(Started({**self.setup, **self.places}, self._environment()))

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in (*host.KEPT, *WINDOWS) if name in os.environ}
        homes = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), self.home)
        return {**kept, **host.FIXED, **homes, "IPYTHONDIR": os.path.join(self.home, ".ipython"),
                "MPLCONFIGDIR": os.path.join(self.home, "mpl")}  # fmt: skip

    def spawn(self, limits: Limits, cwd: str = "work", course: Mapping[str, str] | None = None,
              scratch: str | None = None) -> Process:  # fmt: skip
        """The next of the waiting processes, with its order. Raises ZygoteError if it did not get
        warm (ask again), Closed if the pool was closed meanwhile."""
        with self.lock:
            self.launch()
            self.number += 1
            order = {**self.order(limits, cwd, course, scratch), "number": self.number}
            started = self.waiting.popleft()
            self.running.append(started)
            self._fill()
        try:
            sock, interrupts = started.meet()
            frames.Writer(sock).send(frames.ORDER, 0, json.dumps(order).encode())
        except (host.ZygoteError, OSError) as error:
            if not self.alive:
                raise Closed from error
            raise host.ZygoteError(str(error)) from error
        return Single(started, sock, interrupts, scratch)

    def close(self) -> None:
        """End the processes that wait, and those that run."""
        with self.lock:
            running, waiting, place = self.running, self.waiting, self.place
            self.running, self.waiting, self.place = [], deque(), None
        for started in running:
            started.strike()  # whoever runs it tidies up
        for started in waiting:
            started.end()
        if place is not None:
            place.remove()
