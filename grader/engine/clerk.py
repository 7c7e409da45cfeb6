"""The process behind formgrader's Autograde button: orders in, answers out, one JSON line each.

It lives as long as the server's end of its standard input is open and keeps the warm process from
one order to the next. Grading runs in the main thread; another waits for the server to hang up.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from contextlib import suppress
from typing import Any, BinaryIO

from grader.engine import interrupt

STOP_SECONDS = 5.0


def main() -> None:
    """Serve until the server hangs up, then stop within seconds even amid a run."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not be taken for an answer
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, orders), daemon=True).start()
    with suppress(KeyboardInterrupt):
        while line := orders.get():
            answers.write(json.dumps(grade(json.loads(line))).encode() + b"\n")
            answers.flush()


def _listen(orders: BinaryIO, queued: queue.SimpleQueue[bytes]) -> None:
    for line in orders:
        queued.put(line)
    queued.put(b"")
    # A run in progress is stopped as Ctrl-C stops it: what is done is kept, children are ended.
    interrupt.main_thread()
    time.sleep(STOP_SECONDS)
    os._exit(1)


def grade(order: dict[str, Any]) -> dict[str, Any]:
    """nbgrader's own answer ("success", "error", "log") to grading one submission."""
    from nbgrader.apps import NbGrader
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config import Config

    try:
        app = NbGrader(config=Config(order["config"]))
        app.initialize([], root=order["course"]["root"])
        for name, value in order["course"].items():
            setattr(app.coursedir, name, value)
        api = NbGraderAPI(app.coursedir, parent=app)
        return dict(api.autograde(order["assignment"], order["student"]))
    except Exception as error:
        return {"success": False, "error": traceback.format_exc(), "log": f"{error}"}


if __name__ == "__main__":
    main()
