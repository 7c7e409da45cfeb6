import socket
import time

import pytest

from grader.engine import frames
from grader.engine.kernel import PipeSession, parent_message
from grader.engine.streams import Pipe


@pytest.fixture
def ends():
    """A pipe of the session's kind and a reader at its other end."""
    ours, theirs = socket.socketpair()
    pipe = Pipe("iopub")
    pipe.writer = frames.Writer(theirs)
    yield pipe, frames.Reader(ours, 1 << 20)
    ours.close()
    theirs.close()


def test_a_message_travels_as_one_frame(ends):
    pipe, reader = ends
    content = {"data": {"text/plain": "é"}}
    PipeSession(key=b"").send(
        pipe, "display_data", content, parent_message(5, "x"), buffers=[b"12"]
    )
    frame = reader.frame(time.monotonic() + 5)
    said, buffers = frames.unpack_parts(frame.payload)
    assert (frame.kind, frame.serial) == (frames.MESSAGE, 5)
    assert (said["channel"], said["content"]) == ("iopub", content)
    assert said["header"]["msg_type"] == "display_data"
    assert buffers == [b"12"]


@pytest.mark.parametrize(("kind", "content", "waits"), [
    ("status", {"execution_state": "busy"}, True),
    ("execute_reply", {"status": "ok"}, True),
    ("status", {"execution_state": "idle"}, False),
    ("execute_input", {"code": "x"}, False),
    ("display_data", {"data": {}}, False),
])  # fmt: skip
def test_only_what_announces_another_message_waits_for_it(ends, kind, content, waits):
    pipe, reader = ends
    session = PipeSession(key=b"")
    session.send(pipe, kind, content, parent_message(5, "x"))
    if waits:
        with pytest.raises(frames.Late):
            reader.frame(time.monotonic() + 0.05)
        session.send(pipe, "display_data", {"data": {}}, parent_message(5, "x"))
    first, _ = frames.unpack_parts(reader.frame(time.monotonic() + 5).payload)
    assert first["header"]["msg_type"] == kind


def test_a_process_that_a_cell_forked_sends_no_messages(ends):
    pipe, reader = ends
    session = PipeSession(key=b"")
    session.pid = -1
    session.send(pipe, "display_data", {})
    with pytest.raises(frames.Late):
        reader.frame(time.monotonic() + 0.05)


def test_kernel_and_shell_are_ipykernels(run):
    result = run(
        "[t.__name__ for t in type(get_ipython().kernel).__mro__[:2]]",
        "type(get_ipython()).__name__, get_ipython().kernel.iopub_socket.channel",
        "get_ipython().kernel.do_shutdown(restart=False)['status']",
        "!echo from a shell >&2",
    )
    assert result.texts[:3] == [
        "['PipeKernel', 'IPythonKernel']", "('ZMQInteractiveShell', 'iopub')", "'ok'",
    ]  # fmt: skip
    assert result.notebook.cells[3].outputs == [
        {"output_type": "stream", "name": "stdout", "text": "from a shell\r\n"}
    ]
