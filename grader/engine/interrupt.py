"""Ctrl-C: for the main thread, from another thread of the same process; and held back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def main_thread() -> None:
    """KeyboardInterrupt in the main thread, unless SIGINT is ignored at the moment.

    A signal to that thread also wakes it from a call of the system's. Windows has no such signal:
    there one is raised here, whose C handler wakes a sleep; other waiting calls go on.
    """
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def held() -> Iterator[None]:
    """Ctrl-C is heard at the end of the block, and not at all by programs that are started in it:
    they inherit this thread's mask. Other threads take the signal all the same. For the main
    thread; Windows has no masks, and there nothing is held back."""
    on = threading.current_thread() is threading.main_thread()
    if not (on and hasattr(signal, "pthread_sigmask")):
        yield
        return
    heard = list[tuple[int, FrameType | None]]()
    handler = signal.signal(signal.SIGINT, lambda *given: heard.append(given))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if heard and callable(handler):
            handler(*heard[0])
