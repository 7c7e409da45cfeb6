"""The layers of the sandbox, each a function that says whether it is on, or why not.

`open_namespaces` and `new_root` run once, in the zygote; `seal` runs in every child after fork. The
last layer, the limit on all memory of a child together, is held from outside (`engine.memory`).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from grader.engine.limits import Limits
from grader.engine.sandbox import root, syscalls, trial, users

NAMES = ("user", "mount", "pid", "net", "ipc", "caps", "seccomp", "landlock", "rlimits", "memory")
NO_FORK = "the process was not forked"
_FLAGS = {
    "mount": syscalls.CLONE_NEWNS,
    "pid": syscalls.CLONE_NEWPID,
    "net": syscalls.CLONE_NEWNET,
    "ipc": syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS,
}


@dataclass(frozen=True)
class Layer:
    """One layer: its name, whether it holds, and why not (or, where there is a choice, how)."""

    name: str
    on: bool
    reason: str = ""


def linux() -> bool:
    """Whether this system has any layer but rlimits and memory."""
    return sys.platform.startswith("linux")


def nowhere(name: str) -> Layer:
    """A layer that this system has not."""
    return Layer(name, False, f"{sys.platform} has none")


def attempt(name: str, step: Callable[[], object]) -> Layer:
    """Run one step; what it raises becomes the reason why the layer is off."""
    try:
        step()
    except Exception as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Layer(name, False, text or type(error).__name__)
    return Layer(name, True)


def open_namespaces() -> list[Layer]:
    """Leave the host's namespaces (zygote, one thread), all or none: where a file system of one's
    own cannot be had in them, they are left alone. The pid namespace starts at the next fork.

    Root needs no user namespace of its own here: its children change to a user of their own.
    """
    every = 0
    for flag in _FLAGS.values():
        every |= flag
    as_root, own_user = partial(syscalls.unshare, every), partial(users.own_namespace, every)
    tried = Layer("user", False)
    for way in (as_root, own_user) if os.geteuid() == 0 else (own_user,):
        tried = attempt("user", partial(trial.trial, way))
        if tried.on:
            way()
            break
    return [Layer(name, tried.on, tried.reason) for name in _FLAGS]


def new_root(public: Mapping[str, str], hidden: Iterable[str]) -> None:
    """Replace the file system by one built from a list (zygote). OSError where that fails."""
    # In the warm process's home, which the engine removes when it ends the process.
    place = tempfile.mkdtemp(prefix="root-", dir=os.environ.get("HOME"))
    root.build_root(place, public, hidden)


def private_namespaces(limits: Limits, owner: int | None) -> Layer:
    """Child: mount, net and ipc namespaces of its own, its own /proc and writable places."""

    def step() -> None:
        flags = _FLAGS["mount"] | _FLAGS["net"] | _FLAGS["ipc"]
        syscalls.unshare(flags)
        root.mount_proc()
        root.mount_private(limits, owner)

    return attempt("mount", step)


def own_user(owner: int | None) -> Layer:
    """Child: a uid of its own (root), then a user namespace of its own, so that limits on
    processes count this child alone."""

    def step() -> None:
        if owner is not None:
            os.setgroups([])
            os.setresgid(owner, owner, owner)
            os.setresuid(owner, owner, owner)
            syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        uid, gid = os.geteuid(), os.getegid()
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        users.map_one(uid, gid)

    layer = attempt("user", step)
    if owner is not None and os.getuid() == owner:
        return Layer("user", True, layer.reason)  # a user of its own, if not a namespace
    return layer


def tasks_of(uid: int) -> int:
    """How many processes and threads a user has now."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def no_capabilities() -> Layer:
    """Child: no capability now, none by exec later."""

    def step() -> None:
        syscalls.drop_capabilities()
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)

    return attempt("caps", step)


def landlock_rules() -> Any:
    """An empty set of rules: nothing is allowed but what is added, no TCP, no signals outwards.

    The zygote makes one as well and throws it away: at its first use the library works out the
    flags and has `ldconfig` run to find the C library, which would take each child 5 ms and more.
    """
    import landlockpy as ll

    if not ll.supported():
        raise OSError(0, "the kernel has no Landlock")
    return ll.Ruleset(scoped=ll.Scope.SIGNAL | ll.Scope.ABSTRACT_UNIX_SOCKET)


def landlock(readable: Iterable[str], writable: Iterable[str]) -> Layer:
    """Child: read and run below `readable`, write below `writable`; no TCP, no signals outwards."""

    def step() -> None:
        import landlockpy as ll

        read = ll.AccessFS.EXECUTE | ll.AccessFS.READ_FILE | ll.AccessFS.READ_DIR
        with landlock_rules() as rules:
            every = ll.fs_for_abi(ll.abi_version())
            for path in filter(os.path.exists, readable):
                rules.allow_path(
                    path, read if os.path.isdir(path) else read & ~ll.AccessFS.READ_DIR
                )
            for path in filter(os.path.exists, writable):
                rules.allow_path(path, every & ~ll.AccessFS.IOCTL_DEV)
            for device in filter(os.path.exists, ("/dev/null", "/dev/zero", "/dev/full")):
                rules.allow_path(device, ll.AccessFS.READ_FILE | ll.AccessFS.WRITE_FILE)
            rules.restrict()

    return attempt("landlock", step)


def seccomp(program: bytes | str) -> Layer:
    """Child: load the filter that the zygote compiled (or the reason why it could not)."""

    def step() -> None:
        if isinstance(program, str):
            raise OSError(0, program)
        syscalls.load_seccomp(program)

    return attempt("seccomp", step)
