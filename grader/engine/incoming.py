"""What a child sends while a cell runs, as the messages that nbclient turns into outputs.

Every message is checked for form first: a child may send anything.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from nbclient.client import timestamp
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode, ValidationError

from grader.engine import frames

if TYPE_CHECKING:
    from grader.engine.client import ForkClient

PIECES = 500_000  # values in the messages of a notebook
DEEPEST = 64  # levels of one
NO_FORM = b"(an output that a notebook cannot hold)\n"
IOPUB = frozenset("""
status execute_input stream display_data update_display_data execute_result error clear_output
comm_open comm_msg comm_close
""".split())  # fmt: skip


class Incoming:
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
        self.client.pieces -= pieces(msg, self.client.pieces)
        if frame.serial != self.client.serial:
            return None
        if channel == "shell":
            return self._reply(msg) if msg["msg_type"] == "execute_reply" else None
        if channel == "iopub" and msg["msg_type"] in IOPUB:
            self._process(msg)
        return None

    def _reply(self, msg: dict[str, Any]) -> Any:
        if self.client.record_timing:
            self.cell.metadata["execution"]["shell.execute_reply"] = timestamp(msg)
        return msg["content"]

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
        except ValidationError:  # a cell can show what no notebook can hold: `display` asks nobody
            self._text("stdout", NO_FORM)
        except Exception as error:
            said = f"a message of no known form: {str(error)[:300]}"
            raise frames.ProtocolError(said) from error


def pieces(msg: Any, most: int) -> int:
    """How many lists, dictionaries and other values a message is made of. Raises OutputLimit where
    these are more than `most`, or too deep: a few bytes of JSON each, they become a hundred times
    that in memory, and a line with as many spaces as they are deep in the notebook."""
    count, level = 0, [msg]
    for _ in range(DEEPEST):
        level = [inner for each in level if isinstance(each, (dict, list))
                 for inner in (each.values() if isinstance(each, dict) else each)]  # fmt: skip
        count += len(level)
        if count > most:
            raise frames.OutputLimit(f"output of more than {PIECES} values")
        if not level:
            return count
    raise frames.OutputLimit(f"output nested deeper than {DEEPEST} levels")


def message(frame: frames.Frame) -> tuple[str, dict[str, Any]]:
    """Channel and message of a MESSAGE frame, checked for form; ProtocolError otherwise."""
    msg, buffers = frames.unpack_parts(frame.payload)
    if not all(isinstance(msg.get(name), dict) for name in frames.SAID):
        raise frames.ProtocolError("a message of no known form")
    msg["parent_header"] = {"msg_id": str(frame.serial)}
    msg["msg_type"], msg["buffers"] = msg["header"].get("msg_type"), buffers
    try:
        msg["header"]["date"] = datetime.fromisoformat(msg["header"]["date"])
    except (KeyError, TypeError, ValueError):
        msg["header"].pop("date", None)
    return str(msg.pop("channel", "")), msg
