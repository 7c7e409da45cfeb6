"""Formgrader's Autograde button without a frozen JupyterLab.

nbgrader's handler grades inside the Jupyter server's only thread: nothing else is answered until it
ends, and its converters change the server's current directory and environment. Here each POST is
handed to one long-lived process of its own (`grader.engine.clerk`), which keeps the warm process
between POSTs and ends with the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import Any

HANDLERS = "nbgrader.server_extensions.formgrader.apihandlers"
Answer = dict[str, Any]


def swap() -> None:
    """Give formgrader's handler this engine's `post`, if this process is its server.

    The routes hold the class itself, so its method is what there is to change. Formgrader loads
    nbgrader_config.py, and so gets here, before its first request and again with every one.
    """
    handlers = sys.modules.get(HANDLERS)
    if handlers is not None:
        handlers.AutogradeHandler.post = _guarded()


@cache
def _guarded() -> Callable[..., Any]:
    """`_post` behind the checks that nbgrader puts before each of its handlers."""
    from nbgrader.server_extensions.formgrader.base import check_notebook_dir, check_xsrf
    from tornado import web

    return web.authenticated(check_xsrf(check_notebook_dir(_post)))


async def _post(handler: Any, assignment: str, student: str) -> None:
    """Answer as nbgrader does: JSON as text (its page parses it), "success", "error", "log"."""
    handler.coursedir.parent.load_config_file()  # as the `api` of every other handler does
    answer = desk().ask(order(handler.coursedir, assignment, student))
    handler.write(json.dumps(await asyncio.wrap_future(answer)))


def order(coursedir: Any, assignment: str, student: str) -> Answer:
    """What the clerk must know: whom to grade, and what the server's configuration says.

    The clerk reads the same files by itself; this adds what came from the server's command line.
    """
    names = coursedir.trait_names(config=True)
    return {
        "assignment": assignment,
        "student": student,
        "course": _plain({name: getattr(coursedir, name) for name in names}),
        "config": {name: _plain(section) for name, section in coursedir.parent.config.items()},
    }


def _plain(values: Any) -> Answer:
    """Those values that JSON carries unchanged."""
    found = {}
    for name, value in dict(values).items():
        try:
            if json.loads(json.dumps(value)) == value:
                found[name] = value
        except (TypeError, ValueError):
            continue  # a class or a function: the clerk has it from the file
    return found


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
