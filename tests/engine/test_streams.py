import socket
import time

import pytest

from grader.engine import frames
from grader.engine.kernel import PipeSession
from grader.engine.streams import PipeStream, serial_of


@pytest.fixture
def stream():
    """A stream and the reader at the other end of its socket."""
    ours, theirs = socket.socketpair()
    stream = PipeStream(PipeSession(key=b""), "stdout", 1)
    stream.out.writer = frames.Writer(theirs)
    stream.set_parent({"header": {"msg_id": "4"}})
    yield stream, frames.Reader(ours, 1 << 20)
    ours.close()
    theirs.close()


def next_of(reader):
    return reader.frame(time.monotonic() + 5)


def test_each_write_is_sent_at_once_for_its_cell(stream):
    stream, reader = stream
    print("a", 1, file=stream)
    texts = [next_of(reader) for _ in range(4)]
    assert b"".join(frame.payload for frame in texts) == b"a 1\n"
    assert {(frame.kind, frame.serial) for frame in texts} == {(frames.STDOUT, 4)}


def test_what_is_no_character_becomes_a_question_mark(stream):
    stream, reader = stream
    assert stream.write("\ud83d!") == 2
    assert next_of(reader).payload == b"?!"


def test_a_hook_may_keep_text_away(stream):
    stream, reader = stream
    stream.register_hook(lambda msg: msg if msg["content"]["text"] != "secret" else None)
    stream.write("secret")
    stream.write("plain")
    assert next_of(reader).payload == b"plain"


def test_bytes_and_writes_after_closing_are_refused(stream):
    stream, _ = stream
    with pytest.raises(TypeError, match="must be str"):
        stream.write(b"x")
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.write("x")


@pytest.mark.parametrize(("parent", "serial"), [
    ({}, 0), ({"msg_id": "12"}, 12), ({"header": {"msg_id": "3"}}, 3), ({"msg_id": "a-b"}, 0),
])  # fmt: skip
def test_only_a_cells_own_message_has_a_number(parent, serial):
    assert serial_of(parent) == serial
