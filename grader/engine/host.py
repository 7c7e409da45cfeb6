"""The engine's side of a zygote: start it, tell it what to show, ask it for children."""

from __future__ import annotations

import atexit
import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from grader.engine import frames, places
from grader.engine.forked import Process
from grader.engine.limits import Limits

START_SECONDS, AGAIN = 180.0, 0.2  # the second: between two tries
PASSED_ON = ("NBGRADER_EXECUTION", "NBGRADER_VALIDATING")
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")
FIXED = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OPENBLAS_NUM_THREADS": "1",  # else OpenBLAS starts threads at import
    "TF_NUM_INTRAOP_THREADS": "1",  # children share the cores among them
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # fewer page faults after the fork
    "CUDA_VISIBLE_DEVICES": "-1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
NEEDS = "a zygote needs Linux (fork, pidfd, Unix sockets)"


def lacking() -> str:
    """Why no zygote can run on this system (`spawned` stands in); empty where one can."""
    there = hasattr(os, "fork") and hasattr(os, "pidfd_open") and hasattr(socket, "AF_UNIX")
    return "" if there and sys.platform.startswith("linux") else f"{sys.platform}: {NEEDS}"


class ZygoteError(RuntimeError):
    """The zygote could not be started, or has ended."""


class NotStarted(ZygoteError):
    """A child has ended, or is silent, before anything of a submission ran: the machine's fault."""


class Zygote:
    """One warm process. Threads may share it; `spawn` takes some 10 ms, one at a time."""

    def __init__(self, public: Mapping[str, str] | None = None, hidden: Iterable[str] = (),
                 sandboxed: bool = True, tensorflow: bool = True) -> None:  # fmt: skip
        self.setup: dict[str, Any] = {"sandbox": sandboxed, "tensorflow": tensorflow}
        self.places: dict[str, Any] = {"public": dict(public or {}), "hidden": list(hidden)}
        self.lock, self.told = threading.RLock(), False
        self.telling, self.closing = threading.Lock(), threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.namespaced: bool | None = None
        atexit.register(self.close)

    def launch(self) -> None:
        """Start the process, without waiting. It ends with the thread that calls this."""
        if reason := lacking():
            raise ZygoteError(reason)
        with self.lock:
            if not self.alive:
                self.close()  # what a dead one leaves open
                self._launch()

    def show(self, public: Mapping[str, str], hidden: Iterable[str]) -> bool:
        """Which folders submissions are to see, and what they must not: told when all is warm, so
        a process can be launched before. Whether that is what they see."""
        wanted = {"public": dict(public), "hidden": list(hidden)}
        with self.telling:
            if not self.told:
                self.places = wanted
            return self.places == wanted

    @property
    def alive(self) -> bool:
        """Whether the process is there (it may still be warming up)."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start it if it is not running, and wait until it is warm. Raises ZygoteError with what
        it last said."""
        with self.lock:
            self.launch()
            if self.namespaced is None:
                self._await()

    def _launch(self) -> None:
        self.namespaced, self.told = None, False
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.folder = places.Folder("zygote")
        home = self.folder.path
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment = {**kept, **FIXED, "HOME": home, "IPYTHONDIR": f"{home}/.ipython",
                       "MPLCONFIGDIR": f"{home}/mpl"}  # fmt: skip
        self.control.send(json.dumps(self.setup).encode())  # children can read a command line
        command = [sys.executable, "-I", "-m", "grader.engine.zygote", str(theirs.fileno())]
        self.log = open(f"{home}/log", "w+b")  # noqa: SIM115
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=environment, cwd="/",
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)  # fmt: skip
        theirs.close()

    def _await(self) -> None:
        self.control.settimeout(START_SECONDS)
        ready = b""
        with suppress(OSError):
            with self.telling:
                self.told = True
                self.control.send(json.dumps(self.places).encode())
            ready = self.control.recv(1 << 16)
        if not ready:
            raise ZygoteError(f"the warm process did not start:\n{self.last_words()}")
        self.namespaced = json.loads(ready)["namespaced"]

    def last_words(self) -> str:
        """The end of what the zygote wrote to its log."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-3000:]

    def order(self, limits: Limits, cwd: str, course: Mapping[str, str] | None,
              scratch: str | None) -> dict[str, Any]:  # fmt: skip
        """What a child has to know."""
        passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return {"limits": limits.as_dict(), "cwd": cwd, "course": dict(course or {}),
                "sandbox": self.setup["sandbox"], "scratch": scratch,
                "environment": passed_on}  # fmt: skip

    def spawn(self, limits: Limits, cwd: str = "work", course: Mapping[str, str] | None = None,
              scratch: str | None = None) -> Process:  # fmt: skip
        """Fork a child. Raises ZygoteError if the zygote has died (start it again, ask again)."""
        with self.lock:
            self.start()
            ours, theirs = socket.socketpair()
            order = json.dumps(self.order(limits, cwd, course, scratch)).encode()
            reason = "it has ended"
            try:
                self._ask(order, theirs, limits.notebook)
                reply, handles, _, _ = socket.recv_fds(self.control, 1 << 16, 1)
            except OSError as error:
                reply, handles, reason = b"", [], str(error)
            finally:
                theirs.close()
            if not reply or not handles:
                ours.close()
                self.close()
                raise ZygoteError(f"the warm process: {reason}")
        return Process(ours, handles[0], json.loads(reply)["pid"], scratch)

    def _ask(self, order: bytes, theirs: socket.socket, patience: float) -> None:
        """Send an order with the child's end of its channel. The kernel takes no descriptor while
        a process of this user, a submission maybe, has too many on the way in other sockets: that
        ends with the submission, whose notebook has `patience` seconds at most."""
        deadline = time.monotonic() + patience
        while True:
            try:
                socket.send_fds(self.control, [order], [theirs.fileno()])
                return
            except OSError as error:
                if error.errno != errno.ETOOMANYREFS or time.monotonic() > deadline:
                    raise
            time.sleep(AGAIN)

    def close(self) -> None:
        """End the zygote and, with it, every child."""
        with self.closing:  # one thread may close what another is about to start anew
            if self.process is None:
                return
            self.control.close()
            self.process.kill()
            self.process.wait()
            self.process = None
            self.log.close()
            self.folder.remove()


def wait_ready(process: Process, limits: Limits) -> dict[str, Any]:
    """What the child says when it is shut in: its layers and the kernel's language. NotStarted
    where it does not come so far, ZygoteError where it cannot read what every submission needs."""
    reader = frames.Reader(process.sock, limits.output)
    try:
        frame = reader.frame(time.monotonic() + limits.start)
        if frame.kind != frames.READY:
            raise frames.ProtocolError("the child did not start as it should")
    except (frames.ProtocolError, frames.ChildGone, frames.Late) as error:
        said = " ".join(f"{type(error).__name__} {error}".split())
        raise NotStarted(
            f"no process for a submission starts here ({said}): grader doctor looks for the cause"
        ) from error
    ready = json.loads(frame.payload)
    if ready["closed"]:
        raise ZygoteError(ready["closed"])
    return dict(ready, reader=reader)
