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


THREADS = """
import threading, time
from concurrent.futures import ThreadPoolExecutor
def talk(name):
    for number in range(50):
        print(name, number)
with ThreadPoolExecutor(4) as pool:
    list(pool.map(talk, "abcd"))
"""
GOES_ON = """
import os, threading
def for_ever():
    while True:
        print("x", end="")
threading.Thread(target=for_ever, daemon=True).start()
for number in range(300):
    print(".", end="")
    os.write(1, b"c")
"""


def test_many_threads_may_print(run):
    result = run(THREADS, GOES_ON, "print('still here')", output=1 << 30)
    assert result.fault is None
    assert result.texts[0].count("\n") == 200  # the words of two lines may mix
    assert "Error" not in result.texts[0] + result.texts[1]
    assert result.texts[1].count("c") == 300
    assert "still here" in result.texts[2]
