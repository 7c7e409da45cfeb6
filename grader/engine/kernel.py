"""ipykernel's own kernel and shell, whose messages travel as frames instead of over ZeroMQ.

Everything a cell can see (display hook, publisher, tracebacks, magics, comms, top-level await) is
ipykernel's; new are only the session's way out and the two streams, which send each write at once,
in order, and so lose nothing when the process dies.
"""

from __future__ import annotations

import contextvars
import io
import os
import select
import sys
import threading
from typing import Any

from ipykernel.iostream import OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.session import Session, extract_header

from grader.engine import frames


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


class PipeSession(Session):
    """A Session that writes JSON frames."""

    check_pid = False

    def send(self, stream, msg_or_type, content=None, parent=None, ident=None, buffers=None,  # type: ignore[no-untyped-def]
             track=False, header=None, metadata=None):  # fmt: skip
        """Build the message as Session does and send it as one frame."""
        if isinstance(msg_or_type, dict):
            msg = msg_or_type
            buffers = buffers or msg.get("buffers", [])
        else:
            msg = self.msg(msg_or_type, content, parent, header, metadata)
        writer = getattr(stream, "writer", None)
        if writer is not None and os.getpid() == self.pid:
            raw = [bytes(memoryview(part).cast("B")) for part in buffers or []]
            parts = [self.pack(msg[k]) for k in ("header", "parent_header", "metadata", "content")]
            head = {"channel": stream.channel}
            packed = frames.pack_parts(head, [*parts, *raw])
            writer.send(frames.MESSAGE, serial_of(msg["parent_header"]), packed)
        return msg


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


class PipeKernel(IPythonKernel):
    """An IPythonKernel with no sockets; `exit()` in a cell does not end it."""

    def do_shutdown(self, restart: bool) -> Any:
        """Nothing to shut down: the engine ends the process."""
        return {"status": "ok", "restart": restart}


class PipeApp(IPKernelApp):
    """The application around the kernel, for the code that asks for it; opens nothing."""

    def boot(self) -> PipeKernel:
        """Streams first, then kernel and shell, as IPKernelApp.initialize orders them."""
        self.session = PipeSession(parent=self, key=b"", username="")
        self.init_pdb()
        self.iopub_socket, self.stdin_socket = Pipe("iopub"), Pipe("stdin")
        sys.stdout = PipeStream(self.session, "stdout", 1)
        sys.stderr = PipeStream(self.session, "stderr", 2)
        self.displayhook = self.displayhook_class_(self.session, self.iopub_socket)
        sys.displayhook = self.displayhook
        self.patch_io()
        self.kernel = PipeKernel.instance(
            parent=self, session=self.session, iopub_socket=self.iopub_socket,
            stdin_socket=self.stdin_socket, log=self.log, profile_dir=self.profile_dir,
            user_ns=self.user_ns,
        )  # fmt: skip
        self.displayhook.get_execution_count = lambda: self.kernel.execution_count
        self.init_path()
        self.init_shell()
        self.init_gui_pylab()
        self.init_extensions()
        shell: Any = self.shell
        shell.system = shell.system_raw  # no terminal in here
        return self.kernel

    @property
    def displayhook_class_(self) -> Any:
        """The class behind the trait that names it."""
        from traitlets.utils.importstring import import_item

        return import_item(str(self.displayhook_class))


def parent_message(serial: int, code: str) -> dict[str, Any]:
    """An execute_request whose message id is the cell's number."""
    header = {"msg_id": str(serial), "msg_type": "execute_request", "session": "", "username": "",
              "date": "", "version": "5.3"}  # fmt: skip
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {},
               "allow_stdin": False, "stop_on_error": False}  # fmt: skip
    return {"header": header, "msg_id": str(serial), "msg_type": "execute_request",
            "parent_header": {}, "metadata": {}, "content": content, "buffers": []}  # fmt: skip


class Captured:
    """The pipes behind file descriptors 1 and 2, read by a thread and before every Python write."""

    def __init__(self, writer: frames.Writer) -> None:
        self.writer = writer
        self.serial = 0
        self.lock = threading.RLock()
        self.pipes = {}
        self.poll = select.poll()
        for number, kind in ((1, frames.STDOUT), (2, frames.STDERR)):
            read, write = os.pipe()
            os.dup2(write, number, inheritable=True)
            os.close(write)
            os.set_blocking(read, False)
            self.pipes[read] = kind
            self.poll.register(read, select.POLLIN)
        threading.Thread(target=self._watch, daemon=True, name="captured-output").start()

    def drain(self) -> None:
        """Send whatever is in the pipes now."""
        if not self.poll.poll(0):
            return
        with self.lock:
            for read, kind in self.pipes.items():
                try:
                    while block := os.read(read, 65536):
                        self.writer.send(kind, self.serial, block)
                except BlockingIOError:
                    pass

    def _watch(self) -> None:
        watching = select.poll()
        for read in self.pipes:
            watching.register(read, select.POLLIN)
        while watching.poll():
            self.drain()


__all__ = ["Captured", "Pipe", "PipeApp", "PipeKernel", "PipeSession", "extract_header"]
