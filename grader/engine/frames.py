"""Frames on the socket between the engine and a child: one kind, one serial number, bytes.

A frame is `kind` (1 byte), `serial` (the cell it belongs to, 4 bytes) and `length` (4 bytes), then
`length` bytes. Nothing is ever unpickled or evaluated; every length is checked before it is read.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grader.engine import waiting

HEADER = struct.Struct(">cII")
LENGTHS = struct.Struct(">I")
SHORTEST = 0.001  # seconds: 0 would mean not to wait at all

# engine -> child
EXECUTE, COMM, PROBE, HARVEST, QUIT = b"X", b"C", b"J", b"F", b"Q"
ORDER = b"S"  # the first of all, where the child was not forked
# child -> engine
READY, STDOUT, STDERR, MESSAGE, OBSERVATION, FILES = b"b", b"o", b"e", b"m", b"r", b"f"
SAID = ("header", "metadata", "content")  # of a kernel's message; the serial stands for its parent
FROM_CHILD = frozenset((READY, STDOUT, STDERR, MESSAGE, OBSERVATION, FILES))


class ProtocolError(Exception):
    """The child sent something that no honest child sends."""


class OutputLimit(ProtocolError):
    """The child sent more bytes than it may."""


class ChildGone(Exception):
    """The child closed its end: it has ended, or was killed."""


class Late(Exception):
    """Nothing complete arrived, or was taken, before the deadline."""


@dataclass(frozen=True)
class Frame:
    """One frame: its kind, the serial number of the cell, its bytes."""

    kind: bytes
    serial: int
    payload: bytes


def _packed(head: dict[str, Any]) -> bytes:
    return json.dumps(head).encode()


def pack_parts(head: dict[str, Any], parts: list[bytes],
               pack: Callable[[dict[str, Any]], bytes] = _packed) -> bytes:  # fmt: skip
    """JSON head, then raw byte strings whose lengths the head lists."""
    text = pack({**head, "lengths": [len(part) for part in parts]})
    return b"".join([LENGTHS.pack(len(text)), text, *parts])


def unpack_parts(payload: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Undo `pack_parts`; raises ProtocolError unless every length fits exactly."""
    try:
        (size,) = LENGTHS.unpack_from(payload)
        head = json.loads(payload[4 : 4 + size])
        lengths = head.pop("lengths")
        parts, at = [], 4 + size
        for length in lengths:
            if type(length) is not int or length < 0:
                raise ProtocolError("a negative length")
            parts.append(payload[at : at + length])
            at += length
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ProtocolError(f"a frame that cannot be read: {type(error).__name__}") from error
    if at != len(payload):
        raise ProtocolError("lengths that do not add up")
    return head, parts


def order(sock: socket.socket) -> tuple[bytes, int, bytes]:
    """Child: the engine's next order as kind, serial and payload; QUIT once it has hung up."""
    header = _exactly(sock, HEADER.size)
    if not header:
        return QUIT, 0, b""
    kind, serial, length = HEADER.unpack(header)
    return kind, serial, _exactly(sock, length)


def _exactly(sock: socket.socket, size: int) -> bytes:
    """That many bytes; none at all if the other end hangs up before."""
    blocks = bytearray()
    while len(blocks) < size:
        block = sock.recv(min(size - len(blocks), 1 << 20))
        if not block:
            return b""
        blocks += block
    return bytes(blocks)


class Writer:
    """Writes of whole frames, blocking unless told a deadline: a child may wait for the engine, and
    the engine for no child. Threads of one process may share it."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.lock = threading.RLock()
        self.held = b""

    def send(self, kind: bytes, serial: int, payload: bytes, more: bool = False,
             deadline: float | None = None) -> None:  # fmt: skip
        """Send one frame, or with `more` together with the next one. Raises OSError when the other
        end is gone, Late when it has not taken all by the deadline: after that nothing may be
        sent, as a part of the frame has gone."""
        with self.lock:
            head = self.held + HEADER.pack(kind, serial, len(payload))
            self.held = head + payload if more else b""
            if more:
                return
            parts = [head + payload] if len(payload) < 65536 else [head, payload]
            for part in parts:
                self._put(part, deadline)

    def _put(self, part: bytes, deadline: float | None) -> None:
        if deadline is None:
            self.sock.sendall(part)
            return
        self.sock.settimeout(max(SHORTEST, deadline - time.monotonic()))
        try:
            self.sock.sendall(part)
        except TimeoutError as error:
            raise Late from error
        finally:
            self.sock.settimeout(None)


class Reader:
    """Frames with a deadline, and a limit on all bytes ever read (output cap of a notebook)."""

    def __init__(self, sock: socket.socket, most_bytes: int) -> None:
        self.sock = sock
        self.left = self.most = most_bytes
        self.buffer = bytearray()
        self.readable = waiting.readable(sock)

    def frame(self, deadline: float | None) -> Frame:
        """The next frame. Raises Late (also amid a flood), ChildGone or ProtocolError."""
        if deadline is not None and time.monotonic() > deadline:
            raise Late
        self._fill(HEADER.size, deadline)
        kind, serial, length = HEADER.unpack_from(self.buffer)
        if kind not in FROM_CHILD:
            raise ProtocolError("a frame of unknown kind")
        if length > self.left:
            raise OutputLimit(f"more than {self.most >> 20} MiB of output")
        self._fill(HEADER.size + length, deadline)
        payload = bytes(self.buffer[HEADER.size : HEADER.size + length])
        del self.buffer[: HEADER.size + length]
        self.left -= length + HEADER.size
        return Frame(kind, serial, payload)

    def _fill(self, size: int, deadline: float | None) -> None:
        while len(self.buffer) < size:
            wait = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self.readable(wait):
                raise Late
            try:
                block = self.sock.recv(1 << 18)
            except ConnectionError as error:
                raise ChildGone from error
            if not block:
                raise ChildGone
            self.buffer += block
