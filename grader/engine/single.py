"""A process for one submission, started ahead by `grader.engine.meeting` where nothing forks.

It is told on its standard input where to connect and what to import, gets warm as the zygote does,
connects, and waits for its one order. Then it is a child like any other, but for a second thread
that raises KeyboardInterrupt when the engine asks for it, and ends the process with the engine.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any

from grader.engine import frames, interrupt, sandbox
from grader.engine.sandbox import layers
from grader.engine.zygote import NEEDED_BY_CHILDREN


def main() -> None:
    """Never returns: what goes wrong before there is a notebook is said on the first stderr."""
    try:
        serve()
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)  # sys.stderr is the kernel's by now
        os._exit(1)


def serve() -> None:
    """Get warm, connect, run one submission."""
    setup = json.loads(sys.stdin.buffer.read())
    _no_input()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the engine's to handle
    if policy := getattr(asyncio, "WindowsSelectorEventLoopPolicy", None):
        asyncio.set_event_loop_policy(policy())  # the other kind knows no `add_reader`
    kernel, prepared = _warm(setup)
    from grader.engine import child, meeting

    cells, interrupts = (_connect(setup, kind) for kind in (meeting.CELLS, meeting.INTERRUPTS))
    setup.clear()  # nobody listens any more; still, the secret is no cell's business
    order = _order(cells)
    prepared.numbers = order["number"]
    owner = prepared.next_owner() if order["sandbox"] else None
    obey = threading.Thread(target=_obey, args=(interrupts,), daemon=True, name="interrupts")
    child.run(kernel, cells, prepared, owner, order, obey.start)


def _no_input() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _warm(setup: dict[str, Any]) -> tuple[Any, sandbox.Prepared]:
    """What the zygote does before it forks; there are no namespaces without a fork."""
    from grader.engine import boot, integrity

    for name in NEEDED_BY_CHILDREN:
        with suppress(ImportError):
            importlib.import_module(name)
    kernel = boot.boot(setup["tensorflow"])
    integrity.remember()
    spaces = ("mount", "pid", "net", "ipc")
    none = [layers.Layer(name, False, layers.NO_FORK) for name in spaces]
    return kernel, sandbox.prepare(none, setup["public"], setup["hidden"])


def _connect(setup: dict[str, Any], kind: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", setup["port"]))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(kind + bytes.fromhex(setup["secret"]))
    return connection


def _order(cells: socket.socket) -> dict[str, Any]:
    """What to do; the process ends here if the engine has no use for it."""
    kind, _, payload = frames.order(cells)
    if kind != frames.ORDER:
        os._exit(0)
    return dict(json.loads(payload))


def _obey(interrupts: socket.socket) -> None:
    """A byte is an interrupt; the end is the engine's end."""
    with suppress(OSError):
        while interrupts.recv(1):
            interrupt.main_thread()
    os._exit(1)


if __name__ == "__main__":
    # The cell's code sees an empty main module, as in a kernel: this file under its own name.
    from grader.engine import single

    single.main()
