"""Waiting until there is something to read: by poll where the system has it, else by select.

Windows has no poll, and its select knows sockets only.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable


def readable(*files: int | socket.socket) -> Callable[[float | None], bool]:
    """A question: whether one of `files` can be read within so many seconds (None: for ever)."""
    if not hasattr(select, "poll"):
        return lambda seconds: bool(select.select(files, (), (), seconds)[0])
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return lambda seconds: bool(poll.poll(None if seconds is None else seconds * 1000))
