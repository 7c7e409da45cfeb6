"""The engine's temporary folders, and what a killed engine left of them.

Each is locked while its process lives, and the lock ends with the process however that ends: so a
folder without one is nobody's any more, and the next run removes it.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType

try:
    import fcntl
except ImportError:  # Windows: what a killed engine left stays there
    LOCKS = False
else:
    LOCKS = True

PREFIX = "grader-engine-"
TRIES, PAUSE = 20, 0.05
YOUNG = 60.0  # seconds: it may be made and not be locked yet
REMOVE, OPEN = ("rm", "-rf", "--"), ("chmod", "-R", "u+rwx", "--")


def remove_tree(path: str) -> None:
    """Remove a folder and all in it, as far as that can be; never raises. Left to `rm`: it goes
    down a tree of any depth, where shutil has one call and one open file for each level."""
    for command in (REMOVE, OPEN, REMOVE):  # once more where a folder in it was closed to its owner
        if not _did(command, path):
            with suppress(RecursionError):
                shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            break


def _did(command: tuple[str, ...], path: str) -> bool:
    """Whether there is such a program here; that it had success is not said."""
    if os.name != "posix":
        return False
    with suppress(OSError):
        quiet = subprocess.DEVNULL
        subprocess.run([*command, path], stdin=quiet, stdout=quiet, stderr=quiet, check=False)
        return True
    return False


class Folder:
    """A new folder of this process; `kind` is a word in its name. Also a context manager."""

    def __init__(self, kind: str) -> None:
        _sweep_once()
        self.path = tempfile.mkdtemp(prefix=f"{PREFIX}{kind}-")
        self._lock = _locked(self.path)

    def remove(self) -> None:
        """Remove it and all in it. Safe to call twice."""
        for _ in range(TRIES):  # a process that is being ended may write to it once more
            remove_tree(self.path)
            if not os.path.exists(self.path):
                break
            time.sleep(PAUSE)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:  # fmt: skip
        self.remove()


def _locked(path: str) -> int | None:
    """A descriptor that holds the folder's lock; None where it is held, or cannot be."""
    if not LOCKS:
        return None
    held = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


@cache
def _sweep_once() -> None:
    sweep()


def sweep() -> None:
    """Remove this user's folders whose process has ended; never those of a process that lives."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*") if LOCKS else ():
        with suppress(OSError):
            if _abandoned(path) and (held := _locked(str(path))) is not None:
                remove_tree(str(path))
                os.close(held)


def _abandoned(path: Path) -> bool:
    """Whether it is a folder of ours and not a new one."""
    found = path.lstat()
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return ours and found.st_mtime < time.time() - YOUNG
