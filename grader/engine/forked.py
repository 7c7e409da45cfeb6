"""A child that the zygote forked, as the engine holds it."""

from __future__ import annotations

import os
import select
import signal
import socket
from contextlib import suppress

from grader.engine import places


class Process:
    """A child: its socket and a pidfd, so that no other process is ever hit by mistake."""

    def __init__(self, sock: socket.socket, pidfd: int, pid: int, scratch: str | None) -> None:
        self.sock, self.pidfd, self.pid, self.scratch = sock, pidfd, pid, scratch

    def interrupt(self) -> None:
        """SIGINT."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGINT)

    def strike(self) -> None:
        """SIGKILL; in its own pid namespace all its processes go with it."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        if self.scratch:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """`strike`, and tidy up. Safe to call twice."""
        if self.pidfd < 0:
            return
        try:
            self.strike()
            if self.scratch:
                self.ended(2.0)
                places.remove_tree(self.scratch)
        finally:
            self.sock.close()
            os.close(self.pidfd)
            self.pidfd = -1

    def ended(self, seconds: float) -> bool:
        """Whether the process ends within `seconds`."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
