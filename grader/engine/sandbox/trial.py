"""Whether a file system of one's own can be had here: tried out by a process that ends with it.

A process that has left the host's namespaces cannot go back, and where only some of them are to be
had it would be neither outside nor inside. A container may allow unshare(2) and refuse to mount
/proc (it masks parts of its own), a kernel before 5.12 has no mount_setattr(2).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable

from grader.engine.sandbox import root


def trial(enter: Callable[[], object]) -> None:
    """Raises OSError with the reason where a process that has called `enter` (which leaves the
    namespaces) cannot build a root of its own. Nothing of it stays."""
    reader, writer = os.pipe()
    place = tempfile.mkdtemp(prefix="trial-", dir=os.environ.get("HOME"))
    try:
        pid = os.fork()
        if pid == 0:
            _say(writer, place, lambda: _enter(enter, place, writer))
        os.close(writer)
        with open(reader, encoding="utf-8") as said:
            reason = said.read()
        _ended(pid)
    finally:
        os.rmdir(place)
    if reason:
        raise OSError(0, reason)


def _enter(enter: Callable[[], object], place: str, writer: int) -> None:
    enter()
    pid = os.fork()  # the first one inside the new pid namespace
    if pid == 0:
        _say(writer, place, lambda: root.build_root(place, {}))
    _ended(pid)


def _ended(pid: int) -> None:
    """Wait for the process; OSError where something else than itself ended it."""
    status = os.waitpid(pid, 0)[1]
    if status:
        raise OSError(0, f"the process that tried it ended with {status}")


def _say(writer: int, place: str, step: Callable[[], object]) -> None:
    """Run the step, write what it raises into the pipe, and end."""
    try:
        step()
    except OSError as error:
        os.write(writer, (error.strerror or str(error)).replace(place, "").encode())
    except BaseException as error:
        os.write(writer, f"{type(error).__name__}: {error}".encode())
    finally:
        sys.stderr.flush()
        os._exit(0)
