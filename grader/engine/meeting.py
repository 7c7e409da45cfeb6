"""A process that was started ahead, until it has connected: who it is, and that it is no other.

The engine listens on the loopback interface, which every system has. The process connects twice
(orders and outputs; interrupts) and proves itself by a secret that it was given on its standard
input; after that nobody listens any more.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from grader.engine import family, host

COMMAND = [sys.executable, "-I", "-m", "grader.engine.single"]
CELLS, INTERRUPTS = b"C", b"I"  # what a connection is for: its first byte
SECRET_BYTES = 32
HELLO_SECONDS, TICK = 5.0, 0.1


class Started:
    """One process. It connects when it is warm."""

    def __init__(self, setup: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.secret = secrets.token_bytes(SECRET_BYTES)
        self.found: dict[bytes, socket.socket] = {}
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        self.popen = subprocess.Popen(
            COMMAND, env=environment, cwd=environment["HOME"], stdin=subprocess.PIPE,
            stdout=self.log, stderr=self.log, start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )  # fmt: skip
        told = {**setup, "port": self.listener.getsockname()[1], "secret": self.secret.hex()}
        assert self.popen.stdin
        with suppress(OSError), self.popen.stdin as pipe:  # `meet` tells what became of it
            pipe.write(json.dumps(told).encode())

    def meet(self) -> tuple[socket.socket, socket.socket]:
        """Wait until it is warm; its connections, for cells and for interrupts. Raises ZygoteError
        with what it last said."""
        deadline = time.monotonic() + host.START_SECONDS
        while self.popen.poll() is None and time.monotonic() < deadline:
            if len(self.found) == 2:
                self.listener.close()
                return self.found[CELLS], self.found[INTERRUPTS]
            with suppress(OSError):  # nobody within this tick, or somebody who has gone again
                self.listener.settimeout(TICK)
                self._hear(self.listener.accept()[0])
        words = self._last_words()
        self.end()
        raise host.ZygoteError(f"the warm process did not start:\n{words}")

    def _hear(self, connection: socket.socket) -> None:
        """Keep a connection that begins as it should; any other is closed without a word."""
        wanted = {CELLS, INTERRUPTS} - set(self.found)
        with suppress(OSError):
            connection.settimeout(HELLO_SECONDS)
            hello = connection.recv(1 + SECRET_BYTES)  # sent in one piece
            if hmac.compare_digest(hello[1:], self.secret) and hello[:1] in wanted:
                connection.settimeout(None)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.found[hello[:1]] = connection
                return
        connection.close()

    def _last_words(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-3000:]

    def strike(self) -> None:
        """End it and all that came of it."""
        if self.popen.returncode is None:  # its number is its own until it has been waited for
            family.kill(self.popen.pid)

    def end(self) -> None:
        """`strike`, and tidy up. Safe to call twice."""
        self.strike()
        self.popen.wait()
        self.log.close()
        for each in (self.listener, *self.found.values()):
            each.close()
