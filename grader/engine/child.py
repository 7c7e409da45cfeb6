"""One submission's process: shut itself in, then run cells as they arrive on the socket."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grader.engine import frames, sandbox, surroundings
from grader.engine.kernel import PipeKernel, parent_message
from grader.engine.limits import Limits
from grader.engine.sandbox import root
from grader.engine.streams import captured


def run(kernel: PipeKernel, sock: socket.socket, prepared: sandbox.Prepared,
        owner: int | None, order: dict[str, Any],
        sealed: Callable[[], object] = lambda: None) -> None:  # fmt: skip
    """Never returns: serve cells until the engine hangs up, then leave without clean-up. `sealed`
    is called once the process is shut in: from then on it may have more than one thread."""
    status = 1
    try:
        limits = Limits.from_dict(order["limits"])
        scratch = order.get("scratch") or root.HOME
        found = sandbox.seal(prepared, limits, owner, scratch)
        sealed()
        surroundings.settle(order, scratch, prepared)
        surroundings.personal(kernel.shell, scratch)
        worker = Child(kernel, sock, limits)
        closed = surroundings.closed(order, scratch, prepared)
        worker.start([layer.__dict__ for layer in found], closed, Path(order["cwd"]))
        asyncio.run(worker.serve())
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(status)


class Child:
    """Reads orders from the socket inside the kernel's own event loop."""

    def __init__(self, kernel: PipeKernel, sock: socket.socket, limits: Limits) -> None:
        self.kernel, self.sock, self.limits = kernel, sock, limits
        self.writer = frames.Writer(sock)
        self.before: dict[str, tuple[int, int]] = {}

    def start(self, layers: list[dict[str, Any]], closed: str, cwd: Path) -> None:
        """Connect streams and kernel to the socket, and say so: with the layers of the sandbox, and
        what should be read here and cannot (or nothing)."""
        self.cwd = cwd
        self.captured = captured(self.writer)
        for stream in (sys.stdout, sys.stderr):
            stream.out.writer, stream.captured, stream.pid = (  # type: ignore[union-attr]
                self.writer, self.captured, os.getpid())  # fmt: skip
        self.kernel.iopub_socket.writer = self.writer
        session: Any = self.kernel.session
        session.pid = os.getpid()  # the zygote's, where there is no pid namespace
        # Top-level await asks which thread may handle SIGINT.
        self.kernel.shell_channel_thread = SimpleNamespace(parent_thread=threading.main_thread())
        self.shell_pipe = type(self.kernel.iopub_socket)("shell")
        self.shell_pipe.writer = self.writer
        head = {"layers": layers, "closed": closed, "language_info": self.kernel.language_info}
        self.writer.send(frames.READY, 0, json.dumps(head).encode())

    async def serve(self) -> None:
        """One order after the other; tasks that cells started run in between."""
        from tornado import ioloop

        loop = asyncio.get_running_loop()
        self.kernel.io_loop = ioloop.IOLoop.current()
        while True:
            readable = asyncio.Event()
            loop.add_reader(self.sock, readable.set)
            await readable.wait()
            loop.remove_reader(self.sock)
            kind, serial, payload = frames.order(self.sock)
            if kind == frames.EXECUTE:
                await self._execute(serial, json.loads(payload)["code"])
            elif kind == frames.COMM:
                self._comm(payload)
            elif kind == frames.FILES:
                self._unpack(payload)
            elif kind == frames.PROBE:
                self._probe(serial, payload)
            elif kind == frames.HARVEST:
                self._harvest(serial)
            else:
                return

    async def _execute(self, serial: int, code: str) -> None:
        """What ipykernel's dispatch_shell does with an execute_request."""
        kernel, message = self.kernel, parent_message(serial, code)
        self.captured.serial = serial
        kernel.set_parent([], message, channel="shell")
        kernel._publish_status("busy", "shell")
        kernel.pre_handler_hook()
        try:
            await kernel.execute_request(self.shell_pipe, [], message)
        except KeyboardInterrupt:
            pass
        finally:
            kernel.post_handler_hook()
        self.captured.drain()
        kernel._publish_status("idle", "shell")

    def _comm(self, payload: bytes) -> None:
        """A message from the front end's side of a widget, as it would come between two cells."""
        manager: Any = self.kernel.comm_manager
        message = parent_message(0, "")
        message["content"] = json.loads(payload)
        self.kernel.set_parent([], message, channel="shell")
        manager.comm_msg(None, [], message)

    def _unpack(self, payload: bytes) -> None:
        """Put the submission's own files in place and remember how they look."""
        from grader.engine import files

        files.write(self.cwd, payload, self.limits.submitted_count, self.limits.scratch)
        self.before = files.stamps(self.cwd)

    def _harvest(self, serial: int) -> None:
        from grader.engine import files

        payload = files.changed(self.cwd, self.before, self.limits)
        self.writer.send(frames.FILES, serial, payload)

    def _probe(self, serial: int, payload: bytes) -> None:
        """Answer the judge: evaluate the master cell's expression, probe it, send the arrays."""
        from grader.engine import answering

        signal.signal(signal.SIGINT, signal.default_int_handler)
        shell: Any = self.kernel.shell
        answer = answering.answer(payload, shell.user_ns)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.captured.drain()
        self.writer.send(frames.OBSERVATION, serial, answer)
