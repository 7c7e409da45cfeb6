import json
import socket
import struct
import threading
import time

import pytest

from grader.engine import frames


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def test_parts_come_back_as_they_were():
    head, parts = frames.unpack_parts(frames.pack_parts({"a": [1]}, [b"", b"xyz"]))
    assert (head, parts) == ({"a": [1]}, [b"", b"xyz"])


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\0\0\0\5nojs",
        frames.pack_parts({}, [b"abc"])[:-1],
        frames.pack_parts({}, [b"abc"]) + b"x",
        struct.pack(">I", 20) + b'{"lengths": [2, -2]}',
        struct.pack(">I", 15) + b'{"lengths": 12}',
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 200_000) + b"[" * 200_000,
        struct.pack(">I", 19) + b'{"lengths": [true]}x',
    ],
)
def test_malformed_parts_are_refused(payload):
    with pytest.raises(frames.ProtocolError):
        frames.unpack_parts(payload)


def test_a_frame_arrives_whole(ends):
    frames.Writer(ends[1]).send(frames.MESSAGE, 7, b"x" * 100_000)
    frame = frames.Reader(ends[0], 1 << 20).frame(time.monotonic() + 5)
    assert (frame.kind, frame.serial, len(frame.payload)) == (frames.MESSAGE, 7, 100_000)


@pytest.mark.parametrize("size", [1, 100_000])
def test_what_waits_goes_first_with_the_next(ends, size):
    writer, reader = frames.Writer(ends[1]), frames.Reader(ends[0], 1 << 20)
    writer.send(frames.MESSAGE, 1, b"a", more=True)
    writer.send(frames.MESSAGE, 1, b"b", more=True)
    writer.send(frames.STDOUT, 1, b"c" * size)
    writer.send(frames.STDOUT, 1, b"d")
    found = [reader.frame(time.monotonic() + 5).payload for _ in range(4)]
    assert found == [b"a", b"b", b"c" * size, b"d"]


def test_more_bytes_than_allowed_are_never_read(ends):
    ends[1].sendall(frames.HEADER.pack(frames.STDOUT, 1, 2_000_000_000))
    with pytest.raises(frames.OutputLimit):
        frames.Reader(ends[0], 1 << 20).frame(time.monotonic() + 5)


def test_the_limit_counts_all_frames_together(ends):
    writer, reader = frames.Writer(ends[1]), frames.Reader(ends[0], 100)
    writer.send(frames.STDOUT, 1, b"x" * 60)
    writer.send(frames.STDOUT, 1, b"x" * 60)
    reader.frame(time.monotonic() + 5)
    with pytest.raises(frames.OutputLimit):
        reader.frame(time.monotonic() + 5)


def test_a_kind_that_only_the_engine_sends_is_refused(ends):
    frames.Writer(ends[1]).send(frames.EXECUTE, 1, json.dumps({"code": "1"}).encode())
    with pytest.raises(frames.ProtocolError):
        frames.Reader(ends[0], 1 << 20).frame(time.monotonic() + 5)


def test_silence_is_late_and_a_closed_socket_is_gone(ends):
    reader = frames.Reader(ends[0], 1 << 20)
    with pytest.raises(frames.Late):
        reader.frame(time.monotonic() + 0.01)
    ends[1].close()
    with pytest.raises(frames.ChildGone):
        reader.frame(time.monotonic() + 5)


def test_a_flood_does_not_hide_the_deadline(ends):
    writer = frames.Writer(ends[1])
    for _ in range(20):
        writer.send(frames.STDOUT, 1, b"y")
    reader = frames.Reader(ends[0], 1 << 20)
    reader.frame(time.monotonic() + 5)
    with pytest.raises(frames.Late):
        reader.frame(time.monotonic() - 1)


def test_who_takes_nothing_makes_the_sender_late(ends):
    with pytest.raises(frames.Late):
        frames.Writer(ends[0]).send(frames.EXECUTE, 1, b"x" * (4 << 20), deadline=time.monotonic())
    assert ends[0].gettimeout() is None


def test_with_a_deadline_a_large_frame_arrives_whole(ends):
    send = frames.Writer(ends[1]).send
    kwargs = {"deadline": time.monotonic() + 60}
    thread = threading.Thread(target=send, args=(frames.STDOUT, 1, b"x" * (4 << 20)), kwargs=kwargs)
    thread.start()
    frame = frames.Reader(ends[0], 8 << 20).frame(time.monotonic() + 60)
    thread.join()
    assert len(frame.payload) == 4 << 20


def test_frames_that_hold_nothing_count_too(ends):
    writer, reader = frames.Writer(ends[1]), frames.Reader(ends[0], 2 * frames.HEADER.size)
    for _ in range(4):
        writer.send(frames.STDOUT, 1, b"")
    with pytest.raises(frames.OutputLimit):
        [reader.frame(time.monotonic() + 5) for _ in range(4)]
