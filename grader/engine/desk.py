"""The way from a Jupyter server to its clerk: orders in a queue, answers as futures.

The clerk (`grader.engine.clerk`) is one long-lived process. It keeps the warm process between
orders and ends with the server.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import Any

Answer = dict[str, Any]


@cache
def desk() -> Desk:
    """The one of this server."""
    return Desk([sys.executable, "-m", "grader.engine.clerk"])


class Desk:
    """Passes orders to the clerk, one at a time, in the order they came."""

    def __init__(self, command: list[str]) -> None:
        self.command = command
        self.waiting: queue.SimpleQueue[tuple[Answer, Future[Answer]]] = queue.SimpleQueue()
        self.clerk: subprocess.Popen[bytes] | None = None
        # A daemon: a server that stops must not wait for a grading run to end.
        threading.Thread(target=self._serve, name="grader-desk", daemon=True).start()

    def ask(self, order: Answer) -> Future[Answer]:
        """Queue an order; the future gives the clerk's answer and never fails."""
        future: Future[Answer] = Future()
        self.waiting.put((order, future))
        return future

    def _serve(self) -> None:
        while True:
            order, future = self.waiting.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._answer(order))
            except Exception as error:
                future.set_result({"success": False, "error": f"{type(error).__name__}: {error}"})

    def _answer(self, order: Answer) -> Answer:
        clerk = self._running()
        assert clerk.stdin
        assert clerk.stdout
        try:
            clerk.stdin.write(json.dumps(order).encode() + b"\n")
            clerk.stdin.flush()
            line = clerk.stdout.readline()
        except OSError:
            line = b""
        if line:
            return dict(json.loads(line))
        told = f"the grading process ended (code {clerk.wait()}); the server's log has the reason"
        return {"success": False, "error": told, "log": told}

    def _running(self) -> subprocess.Popen[bytes]:
        """The clerk, started where there is none. Its log lines go where the server's go."""
        if self.clerk is None or self.clerk.poll() is not None:
            self.close()
            self.clerk = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=os.getcwd(),
                start_new_session=True,  # Ctrl-C at the server's terminal first asks a question
            )  # fmt: skip
        return self.clerk

    def close(self) -> None:
        """Hang up on the clerk, which ends by that."""
        if self.clerk is None:
            return
        for pipe in (self.clerk.stdin, self.clerk.stdout):
            with suppress(OSError):  # what was not sent to one that has died
                pipe and pipe.close()
        self.clerk.wait()
        self.clerk = None
