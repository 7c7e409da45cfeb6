"""nbclient's notebook client over a child of the zygote instead of a ZeroMQ kernel.

Output handling (streams, displays and their updates, clear_output, comms, widgets) is nbclient's
own; new are the transport, the wall limits enforced from outside, and the output cap.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode
from nbformat.v4 import new_output

from grader.engine import frames
from grader.engine.host import Process
from grader.engine.limits import Limits

IOPUB = frozenset("""
status execute_input stream display_data update_display_data execute_result error clear_output
comm_open comm_msg comm_close
""".split())  # fmt: skip
TIMED_OUT = {
    "ename": "CellTimeoutError",
    "evalue": "",
    "traceback": ["CellTimeoutError: the cell did not end in time"],
}


class Ended(Exception):
    """The child is no more; `reason` is a sentence for the instructor, `kind` one word."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind, self.reason = kind, reason


def error_output(name: str, text: str, lines: list[str] | None = None) -> NotebookNode:
    """An output of type error, as a failing cell has."""
    return new_output("error", ename=name, evalue=text, traceback=lines or [f"{name}: {text}"])


def _record_error(cell: NotebookNode, reply: dict[str, Any]) -> None:
    """nbgrader's rule: an error in the reply that no output shows becomes an output."""
    if reply.get("status") != "error":
        return
    name = str(reply.get("ename"))
    if not any(out.output_type == "error" and out.ename == name for out in cell.outputs):
        lines = reply.get("traceback")
        shown = [str(line) for line in lines] if isinstance(lines, list) else []
        silent = ["ERROR: An error occurred while showtraceback was disabled"]
        cell.outputs.append(error_output(name, str(reply.get("evalue")), shown or silent))


class ForkClient(NotebookClient):
    """Runs cells in `process`; `limits` are wall seconds and bytes."""

    def __init__(self, nb: NotebookNode, process: Process, reader: frames.Reader, limits: Limits,
                 **traits: Any) -> None:  # fmt: skip
        super().__init__(nb, **traits)
        self.process, self.reader, self.limits = process, reader, limits
        self.writer = frames.Writer(process.sock)
        self.ends = time.monotonic() + limits.notebook
        self.serial = 0
        self.kc = _NoReplies()  # type: ignore[assignment]

    def run_cell(self, cell: NotebookNode, index: int, source: str) -> dict[str, Any]:
        """Run `source` as this cell; the content of the reply. Raises Ended, with the outputs so
        far kept, when the child died or had to be killed."""
        cell.outputs = []
        if self.record_timing:
            cell.metadata["execution"] = {}
        self.clear_before_next_output = False
        self.serial += 1
        cell.execution_count = self.code_cells_executed = self.code_cells_executed + 1
        streams = _Streams(self, cell, index)
        try:
            self.writer.send(frames.EXECUTE, self.serial, json.dumps({"code": source}).encode())
            reply = self._until_idle(streams)
        except (frames.ProtocolError, frames.ChildGone, OSError) as error:
            raise self._ended(error) from error
        finally:
            streams.flush()
            cell.execution_count = self.code_cells_executed
        _record_error(cell, reply)
        return reply

    def _until_idle(self, streams: _Streams) -> dict[str, Any]:
        """Frames until the kernel is idle; SIGINT at the deadline, Ended after the grace."""
        reply: dict[str, Any] = {"status": "ok"}
        late = False
        limit = self._get_timeout(streams.cell)
        deadline = self.ends if limit is None else min(time.monotonic() + limit, self.ends)
        while True:
            try:
                frame = self.reader.frame(deadline)
            except frames.Late:
                if late or not self.interrupt_on_timeout:
                    reason = "a cell ran past its time limit and had to be killed"
                    raise Ended("timeout", reason) from None
                late, deadline = True, time.monotonic() + self.limits.grace
                self.process.interrupt()
                continue
            try:
                answer = streams.take(frame)
            except CellExecutionComplete:
                break
            reply = answer or reply
        if not late:
            return reply
        if time.monotonic() >= self.ends:
            raise Ended("timeout", "the notebook ran past its time limit")
        return {"status": "error", **TIMED_OUT, **(self.error_on_timeout or {})}

    def _ended(self, error: Exception) -> Ended:
        if isinstance(error, frames.OutputLimit):
            return Ended("output", f"more than {self.limits.output >> 20} MiB of output")
        if isinstance(error, frames.ProtocolError):
            return Ended("tampering", f"the process sent what no kernel sends: {error}")
        return Ended("died", "the process ended while a cell ran (exit, crash or out of memory)")

    def ask(self, kind: bytes, payload: bytes, answer: bytes, seconds: float) -> bytes:
        """Send an order that is no cell and wait for the frame that answers it; raises Ended."""
        self.serial += 1
        try:
            self.writer.send(kind, self.serial, payload)
            try:
                return self._answer(answer, time.monotonic() + seconds)
            except frames.Late:
                self.process.interrupt()
                return self._answer(answer, time.monotonic() + self.limits.grace)
        except frames.Late:
            raise Ended("timeout", "no answer in time, even when interrupted") from None
        except (frames.ProtocolError, frames.ChildGone, OSError) as error:
            raise self._ended(error) from error

    def _answer(self, kind: bytes, deadline: float) -> bytes:
        while True:
            frame = self.reader.frame(deadline)
            if frame.kind == kind:
                if frame.serial != self.serial:
                    raise frames.ProtocolError("an answer to a question that was not asked")
                return frame.payload


class _NoReplies:
    """nbclient's Output widget talks back to the kernel; here nobody listens."""

    session = property(lambda self: self)

    def msg(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {}

    shell_channel = property(lambda self: self)

    def send(self, *_: Any, **__: Any) -> None:
        """Dropped."""


class _Streams:
    """Feeds frames to nbclient; consecutive text of one stream is joined once, at the end."""

    def __init__(self, client: ForkClient, cell: NotebookNode, index: int) -> None:
        self.client, self.cell, self.index = client, cell, index
        self.name, self.parts = "", list[bytes]()

    def take(self, frame: frames.Frame) -> dict[str, Any] | None:
        """One frame; the content if it is this cell's reply. Raises CellExecutionComplete."""
        if frame.kind in (frames.STDOUT, frames.STDERR):
            if frame.serial == self.client.serial:
                self._text("stdout" if frame.kind == frames.STDOUT else "stderr", frame.payload)
            return None
        if frame.kind != frames.MESSAGE:
            raise frames.ProtocolError("a frame out of turn")
        channel, msg = message(frame)
        if msg["parent_header"].get("msg_id") != str(self.client.serial):
            return None
        if channel == "shell":
            return msg["content"] if msg["msg_type"] == "execute_reply" else None
        if channel == "iopub" and msg["msg_type"] in IOPUB:
            self._process(msg)
        return None

    def _text(self, name: str, text: bytes) -> None:
        if name != self.name:
            self.flush()
            self.name = name
        self.parts.append(text)

    def flush(self) -> None:
        """Hand the joined text over as one stream message."""
        if self.parts:
            text = b"".join(self.parts).decode("utf-8", "replace")
            content = {"name": self.name, "text": text}
            parent = {"msg_id": str(self.client.serial)}
            self.parts, self.name = [], ""
            self._process({"header": {"msg_type": "stream"}, "msg_type": "stream",
                           "parent_header": parent, "content": content, "metadata": {},
                           "buffers": []})  # fmt: skip

    def _process(self, msg: dict[str, Any]) -> None:
        if msg["msg_type"] != "status":
            self.flush()
        try:
            self.client.process_message(msg, self.cell, self.index)
        except CellExecutionComplete:
            raise
        except Exception as error:
            raise frames.ProtocolError(f"a message of no known form: {error}") from error


def message(frame: frames.Frame) -> tuple[str, dict[str, Any]]:
    """Channel and message of a MESSAGE frame, checked for form; ProtocolError otherwise."""
    head, parts = frames.unpack_parts(frame.payload)
    if len(parts) < 4:
        raise frames.ProtocolError("a message of too few parts")
    names = ("header", "parent_header", "metadata", "content")
    try:
        msg: dict[str, Any] = {n: json.loads(p) for n, p in zip(names, parts[:4], strict=True)}
    except (ValueError, RecursionError) as error:
        raise frames.ProtocolError("a message that is not JSON") from error
    if not all(isinstance(msg[name], dict) for name in names):
        raise frames.ProtocolError("a message of no known form")
    msg["msg_type"], msg["buffers"] = msg["header"].get("msg_type"), parts[4:]
    try:
        msg["header"]["date"] = datetime.fromisoformat(msg["header"]["date"])
    except (KeyError, TypeError, ValueError):
        msg["header"].pop("date", None)
    return str(head.get("channel")), msg
