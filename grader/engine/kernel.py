"""ipykernel's own kernel and shell, whose messages travel as frames instead of over ZeroMQ.

Everything a cell can see (display hook, publisher, tracebacks, magics, comms, top-level await) is
ipykernel's; new are only the session's way out, the two streams and `!command`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ipykernel import zmqshell
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.session import Session

from grader.engine import command, frames
from grader.engine.streams import Pipe, PipeStream, serial_of


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
            said = {"channel": stream.channel, **{name: msg[name] for name in frames.SAID}}
            raw = [bytes(memoryview(part).cast("B")) for part in buffers or []]
            packed = frames.pack_parts(said, raw, self.pack)
            more = not raw and _announces(msg)
            writer.send(frames.MESSAGE, serial_of(msg["parent_header"]), packed, more)
        return msg


def _announces(msg: dict[str, Any]) -> bool:
    """Whether the kernel itself sends the next message at once, before any code of the cell."""
    busy = msg["content"].get("execution_state") == "busy"
    return msg["msg_type"] == "execute_reply" or (msg["msg_type"] == "status" and busy)


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
        self.kernel._execute_sleep = 0  # for streams that another thread sends
        self.displayhook.get_execution_count = lambda: self.kernel.execution_count
        self.init_path()
        self.init_shell()
        self.init_gui_pylab()
        self.init_extensions()
        if os.name != "nt":  # `!command`; the original wants a terminal, but not on Windows
            zmqshell.__dict__["system"] = command.run
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
