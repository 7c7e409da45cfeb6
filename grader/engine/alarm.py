"""A time limit on work in this process's own thread, where the system has alarms."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


@contextmanager
def within(seconds: float, said: str) -> Iterator[None]:
    """Raises TimeoutError with `said` in the block after so many seconds. Without a limit where
    there are no alarms (Windows), and in any thread but the main one."""
    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return

    def late(*_: Any) -> NoReturn:
        raise TimeoutError(said)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
