"""nbclient's notebook client over a child of the zygote instead of a ZeroMQ kernel.

Output handling (streams, displays and their updates, clear_output, comms, widgets) is nbclient's
own; new are the transport, the wall limits enforced from outside, and the output cap.
"""

from __future__ import annotations

import json
import time
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbclient.util import run_hook, run_sync
from nbformat import NotebookNode
from nbformat.v4 import new_output

from grader.course import CourseError
from grader.engine import formats, frames
from grader.engine.forked import Process
from grader.engine.incoming import PIECES, Incoming
from grader.engine.limits import Limits
from grader.engine.outcome import TOO_LATE
from grader.engine.replies import Replies

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
        formats.check_outputs_quickly()
        self.process, self.reader, self.limits = process, reader, limits
        self.writer = frames.Writer(process.sock)
        self.ends = time.monotonic() + limits.notebook
        self.serial = 0
        self.pieces = PIECES
        self.notes: list[str] = []
        self.kc = self.replies = Replies()  # type: ignore[assignment]

    def run_cell(self, cell: NotebookNode, index: int, source: str) -> dict[str, Any]:
        """Run `source` as this cell; the content of the reply. Raises Ended, with the outputs so
        far kept, when the child died or had to be killed."""
        cell.outputs = []
        if self.record_timing:
            cell.metadata["execution"] = {}
        self.clear_before_next_output = False
        self.serial += 1
        cell.execution_count = self.code_cells_executed = self.code_cells_executed + 1
        self.hook("on_cell_execute", cell=cell, cell_index=index)
        incoming = Incoming(self, cell, index)
        limit = self._get_timeout(cell)
        deadline = self.ends if limit is None else min(time.monotonic() + limit, self.ends)
        try:
            self._order(source, deadline)
            reply = self._until_idle(incoming, deadline)
        except frames.Late:
            raise Ended("timeout", "a cell was not taken in time") from None
        except (frames.ProtocolError, frames.ChildGone, OSError) as error:
            raise self._ended(error) from error
        finally:
            incoming.flush()
            cell.execution_count = self.code_cells_executed
        _record_error(cell, reply)
        self._tell(cell, index, reply)
        return reply

    def _tell(self, cell: NotebookNode, index: int, reply: dict[str, Any]) -> None:
        about = {"cell": cell, "cell_index": index}
        self.hook("on_cell_complete", **about)
        if reply.get("status") == "error":
            self.hook("on_cell_error", **about, execute_reply={"content": reply})
            if self.force_raise_errors:
                said = f"a cell raised {str(reply.get('ename'))[:100]}"
                raise Ended("error", f"{said}, and c.Execute.force_raise_errors is on")

    def hook(self, name: str, **about: Any) -> None:
        """Call what `c.Execute` names for this moment. Raises CourseError where that fails: it is
        the instructor's, and no submission's fault."""
        if (wanted := getattr(self, name)) is None:
            return
        try:
            run_sync(run_hook)(wanted, **about)
        except Exception as error:
            said = f"c.Execute.{name} raised {type(error).__name__}: {error}"
            raise CourseError(said) from error

    def _order(self, source: str, deadline: float) -> None:
        """Send what widgets have to be told, then the cell; raises Late if the child, which may
        have been made to read no more, has not taken it by the deadline."""
        for content in self.replies.taken():
            self.writer.send(frames.COMM, 0, content, deadline=deadline)
        code = json.dumps({"code": source}).encode()
        self.writer.send(frames.EXECUTE, self.serial, code, deadline=deadline)

    def _until_idle(self, incoming: Incoming, deadline: float) -> dict[str, Any]:
        """Frames until the kernel is idle; SIGINT at the deadline, Ended after the grace."""
        reply: dict[str, Any] = {"status": "ok"}
        late = False
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
                answer = incoming.take(frame)
            except CellExecutionComplete:
                break
            reply = answer or reply
        if not late:
            return reply
        self._note_late("a cell")
        if time.monotonic() >= self.ends:
            raise Ended("timeout", "the notebook ran past its time limit")
        return {"status": "error", **TIMED_OUT, **(self.error_on_timeout or {})}

    def _ended(self, error: Exception) -> Ended:
        if isinstance(error, frames.OutputLimit):
            return Ended("output", str(error))
        if isinstance(error, frames.ProtocolError):
            return Ended("tampering", f"the process sent what no kernel sends: {error}")
        return Ended("died", "the process ended while a cell ran (exit, crash or out of memory)")

    def ask(self, kind: bytes, payload: bytes, answer: bytes, seconds: float,
            what: str = "an answer to the judge") -> bytes:  # fmt: skip
        """Send an order that is no cell and wait for the frame that answers it; raises Ended."""
        self.serial += 1
        try:
            self.writer.send(kind, self.serial, payload, deadline=time.monotonic() + seconds)
            try:
                return self._answer(answer, time.monotonic() + seconds)
            except frames.Late:
                self._note_late(what)
                self.process.interrupt()
                return self._answer(answer, time.monotonic() + self.limits.grace)
        except frames.Late:
            raise Ended("timeout", "no answer in time, even when interrupted") from None
        except (frames.ProtocolError, frames.ChildGone, OSError) as error:
            raise self._ended(error) from error

    def _note_late(self, what: str) -> None:
        note = f"{TOO_LATE}: {what} ran past its time limit and was interrupted"
        if note not in self.notes:
            self.notes.append(note)

    def _answer(self, kind: bytes, deadline: float) -> bytes:
        while True:
            frame = self.reader.frame(deadline)
            if frame.kind == kind:
                if frame.serial != self.serial:
                    raise frames.ProtocolError("an answer to a question that was not asked")
                return frame.payload
