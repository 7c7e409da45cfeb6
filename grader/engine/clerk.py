"""The process behind nbgrader's buttons: orders in, answers out, one JSON line each.

It lives as long as the server's end of its standard input is open and keeps the warm process from
one order to the next. Orders run in the main thread; another waits for the server to hang up.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
import time
import traceback
from contextlib import suppress
from types import SimpleNamespace
from typing import BinaryIO

from grader.engine import interrupt
from grader.engine.desk import Answer
from grader.spared import UNUSED, spared

STOP_SECONDS = 5.0


def main() -> None:
    """Serve until the server hangs up, then stop within seconds even amid a run."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not be taken for an answer
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, orders), daemon=True).start()
    with suppress(KeyboardInterrupt):
        while line := orders.get():
            answers.write(json.dumps(obey(json.loads(line))).encode() + b"\n")
            answers.flush()


def _listen(orders: BinaryIO, queued: queue.SimpleQueue[bytes]) -> None:
    for line in orders:
        queued.put(line)
    queued.put(b"")
    # A run in progress is stopped as Ctrl-C stops it: what is done is kept, children are ended.
    interrupt.main_thread()
    time.sleep(STOP_SECONDS)
    os._exit(1)


@spared(*UNUSED)
def obey(order: Answer) -> Answer:
    """nbgrader's own answer to one order. Never raises."""
    try:
        return validated(order) if order["method"] == "validate" else done(order)
    except Exception as error:
        return {"success": False, "error": traceback.format_exc(), "log": f"{error}"}
    except SystemExit as error:  # nbgrader's answer to a configuration that cannot be
        said = f"nbgrader_config.py: {error.__context__ or 'it ends the program'}"
        return {"success": False, "error": traceback.format_exc(), "log": said}


def done(order: Answer) -> Answer:
    """One method of nbgrader's API: "success", "error", "log"."""
    from nbgrader.apps import NbGrader
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config import Config

    app = NbGrader(config=Config(order["config"]))
    app.initialize([], root=order["course"]["root"])
    for name, value in order["course"].items():
        setattr(app.coursedir, name, value)
    api = NbGraderAPI(app.coursedir, parent=app)
    return dict(getattr(api, order["method"])(*order["given"]))


def validated(order: Answer) -> Answer:
    """What nbgrader's handler answers to Validate; "refused" with the status of its refusal."""
    from nbgrader.server_extensions.validate_assignment.handlers import ValidateAssignmentHandler
    from tornado.web import HTTPError

    handler = ValidateAssignmentHandler
    stand_in = SimpleNamespace(root_dir=order["root"], log=logging.getLogger(handler.__module__),
                               load_config=lambda: handler.load_config(None))  # fmt: skip
    try:
        return dict(handler.validate_notebook(stand_in, order["path"]))
    except HTTPError as error:
        return {"refused": error.status_code, "reason": error.log_message}


if __name__ == "__main__":
    main()
