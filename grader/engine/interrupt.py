"""Ctrl-C for the main thread, from another thread of the same process."""

from __future__ import annotations

import signal
import threading


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
