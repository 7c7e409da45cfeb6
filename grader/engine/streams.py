"""The two streams of a child, and the pipes behind file descriptors 1 and 2.

Each write is sent at once, in order, and so nothing is lost when the process dies; what C code and
other processes write to the descriptors is brought in before the next write of Python's.
"""

from __future__ import annotations

import contextvars
import io
import os
import select
import tempfile
import threading
import time
from typing import Any

from ipykernel.iostream import OutStream
from jupyter_client.session import Session

from grader.engine import frames, waiting

STREAMS = ((1, frames.STDOUT), (2, frames.STDERR))
TICK = 0.2  # seconds between looks at files


def serial_of(parent: dict[str, Any]) -> int:
    """The number of the cell that a parent header names; 0 outside any cell."""
    name = parent.get("msg_id") or parent.get("header", {}).get("msg_id") or "0"
    return int(name) if name.isdigit() else 0


class Pipe:
    """Stands where ipykernel expects a socket: `session.send(pipe, …)` ends in `frames.Writer`."""

    def __init__(self, channel: str) -> None:
        self.channel = channel
        self.writer: frames.Writer | None = None

    def flush(self, *_: object) -> None:
        """Nothing is ever held back."""


class PipeStream(OutStream):
    """sys.stdout or sys.stderr: each write is one frame of its own, drained C output first."""

    def __init__(self, session: Session, name: str, number: int) -> None:
        io.TextIOBase.__init__(self)
        self.session, self.name, self._number = session, name, number
        self.topic = b"stream." + name.encode()
        self.kind = frames.STDOUT if name == "stdout" else frames.STDERR
        self.out = Pipe("iopub")
        self.captured: Any = None  # the C-level pipes, set in the child
        self.pid = os.getpid()
        self._parent_header = contextvars.ContextVar("parent_header")
        self._parent_header.set({})
        self._parent_header_global: dict[str, Any] = {}
        self._local = threading.local()
        self._isatty, self.echo, self._should_watch, self._exc = False, None, False, None
        self.pub_thread: Any = self  # `closed` asks whether it is None

    def fileno(self) -> int:
        """The C-level stream that this one mirrors."""
        return self._number

    def flush(self) -> None:
        """Bring in what C code wrote; Python's own text has already gone."""
        if self.captured is not None and os.getpid() == self.pid:
            self.captured.drain()

    _flush = flush

    def write(self, string: str) -> int:
        """Send `string` as this cell's output."""
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string)}")
        if self.pub_thread is None:
            raise ValueError("I/O operation on closed file")
        parent = self.parent_header
        if self._hooks and not self._passes(string, parent):
            return len(string)
        text = string.encode("utf-8", "replace")
        if os.getpid() != self.pid:
            os.write(self._number, text)  # a process forked by the cell: through the C stream
        elif string and self.out.writer is not None:
            self.flush()
            self.out.writer.send(self.kind, serial_of(parent), text)
        return len(string)

    def _passes(self, string: str, parent: dict[str, Any]) -> bool:
        content = {"name": self.name, "text": string}
        msg = self.session.msg("stream", content, parent=parent)
        for hook in self._hooks:
            msg = hook(msg)
            if msg is None:
                return False
        return True

    def close(self) -> None:
        """Refuse further writes."""
        self.pub_thread = None


class Captured:
    """The pipes behind file descriptors 1 and 2, read by a thread and before every Python write."""

    def __init__(self, writer: frames.Writer) -> None:
        self.writer = writer
        self.serial = 0
        self.lock = threading.RLock()
        self.pipes = {}
        for number, kind in STREAMS:
            read, write = os.pipe()
            os.dup2(write, number, inheritable=True)
            os.close(write)
            os.set_blocking(read, False)
            self.pipes[read] = kind
        threading.Thread(target=self._watch, daemon=True, name="captured-output").start()

    def drain(self) -> None:
        """Send whatever is in the pipes now. Many threads may ask at once: reading does not wait,
        while one `poll` object refuses a second thread."""
        with self.lock:
            for read, kind in self.pipes.items():
                try:
                    while block := os.read(read, 65536):
                        self.writer.send(kind, self.serial, block)
                except BlockingIOError:
                    pass

    def _watch(self) -> None:
        readable = waiting.readable(*self.pipes)
        while readable(None):
            self.drain()


class Spooled:
    """The same by way of two files, where pipes cannot be asked whether they hold anything."""

    def __init__(self, writer: frames.Writer) -> None:
        self.writer = writer
        self.serial = 0
        self.lock = threading.RLock()
        self.files = {}
        for number, kind in STREAMS:
            write, path = tempfile.mkstemp(prefix="output-")
            os.close(write)
            binary = getattr(os, "O_BINARY", 0)
            write = os.open(path, os.O_WRONLY | os.O_APPEND | binary)
            os.dup2(write, number, inheritable=True)
            os.close(write)
            self.files[os.open(path, os.O_RDONLY | binary)] = kind  # has an offset of its own
        threading.Thread(target=self._watch, daemon=True, name="captured-output").start()

    def drain(self) -> None:
        """Send what has been written since the last look."""
        with self.lock:
            for read, kind in self.files.items():
                while block := os.read(read, 65536):
                    self.writer.send(kind, self.serial, block)

    def _watch(self) -> None:
        while True:
            time.sleep(TICK)
            self.drain()


def captured(writer: frames.Writer) -> Captured | Spooled:
    """Take descriptors 1 and 2 over, in the way that this system has."""
    return Captured(writer) if hasattr(select, "poll") else Spooled(writer)
