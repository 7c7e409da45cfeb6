"""The warm process: imports everything once, then forks one child per submission.

Started by `grader.engine.host` with one socket (SOCK_SEQPACKET) as its only way to the world. Each
request brings the child's end of a socket pair; each reply brings a pidfd of the child. When the
socket closes, the zygote ends, and in its pid namespace everything with it.
"""

from __future__ import annotations

import array
import errno
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

from grader.engine import sandbox
from grader.engine.sandbox import layers, syscalls

REQUEST_BYTES = 1 << 16
PAUSE = 0.2  # seconds
NEEDED_BY_CHILDREN = """
grader.engine.child grader.engine.files grader.engine.answering landlockpy tornado.ioloop
tornado.platform.asyncio asyncio multiprocessing.util
""".split()


def main(argv: list[str]) -> None:
    """`argv`: the control socket's number. Its first message is the JSON setup, its second, read
    when all is warm, the places that children see."""
    control = socket.socket(fileno=int(argv[0]))
    setup = json.loads(control.recv(REQUEST_BYTES))
    parent = os.getppid()
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    os.umask(0o022)  # submissions run as other users, and pass through what is made here
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the engine's to handle
    spaces = layers.open_namespaces() if setup["sandbox"] else []
    if any(layer.on for layer in spaces):
        _become_init(control)
    try:
        serve(control, setup, spaces)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)  # sys.stderr is the kernel's by now
        os._exit(1)


def _become_init(control: socket.socket) -> None:
    """Fork once: the fork is process 1 of the new pid namespace and does the work."""
    pid = os.fork()
    if pid == 0:
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    control.close()
    while True:
        done, status = os.waitpid(pid, 0)
        if done == pid:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def serve(control: socket.socket, setup: dict[str, Any], spaces: list[layers.Layer]) -> None:
    """Prepare, warm up, say so, and fork until the engine hangs up."""
    from grader.engine import boot, integrity

    for name in NEEDED_BY_CHILDREN:
        with suppress(ImportError):
            importlib.import_module(name)
    kernel = boot.boot(setup["tensorflow"])
    integrity.remember()
    off = [layers.Layer(name, False, "not asked for") for name in ("mount", "pid", "net", "ipc")]
    places = json.loads(control.recv(REQUEST_BYTES) or b"null")
    if places is None:
        os._exit(0)  # the engine has hung up
    prepared = sandbox.prepare(spaces or off, places["public"], places["hidden"])
    own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if prepared.namespaced else -1
    control.send(json.dumps({"namespaced": prepared.namespaced}).encode())
    orders = select.poll()
    orders.register(control, select.POLLIN)
    while True:
        asked = orders.poll(1000)
        _reap()
        if not asked:
            continue
        request, descriptors, _, _ = socket.recv_fds(control, REQUEST_BYTES, 1)
        if not request:
            os._exit(0)
        channel = socket.socket(fileno=descriptors[0])
        _spawn(kernel, control, channel, prepared, own_pids, json.loads(request))
        channel.close()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _spawn(kernel: Any, control: socket.socket, channel: socket.socket,
           prepared: sandbox.Prepared, own_pids: int, order: dict[str, Any]) -> None:  # fmt: skip
    owner = prepared.next_owner() if order["sandbox"] else None
    if own_pids >= 0:
        syscalls.unshare(syscalls.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        _child(kernel, channel, prepared, owner, order)
    if own_pids >= 0:
        syscalls.setns(own_pids, syscalls.CLONE_NEWPID)
    handle = os.pidfd_open(pid)
    sent = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [handle]))]
    _patiently(control, [json.dumps({"pid": pid}).encode()], sent)
    os.close(handle)


def _patiently(control: socket.socket, data: list[bytes], sent: list[Any]) -> None:
    """Send with a handle; a submission may have filled its user's room for handles on their way."""
    while True:
        try:
            control.sendmsg(data, sent)
            return
        except OSError as error:
            if error.errno != errno.ETOOMANYREFS:
                raise
            time.sleep(PAUSE)


def _child(kernel: Any, channel: socket.socket, prepared: sandbox.Prepared, owner: int | None,
           order: dict[str, Any]) -> None:  # fmt: skip
    from grader.engine import child

    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()  # as a kernel: Ctrl-C at the engine's terminal is no student's KeyboardInterrupt
    keep = channel.detach()
    os.dup2(keep, 3)
    os.closerange(4, 65536)
    child.run(kernel, socket.socket(fileno=3), prepared, owner, order)


if __name__ == "__main__":
    # The cell's code sees an empty main module, as in a kernel: this file under its own name.
    from grader.engine import zygote

    zygote.main(sys.argv[1:])
