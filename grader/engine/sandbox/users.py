"""Which users there are: numbers for submissions, and what a user namespace knows of them.

A namespace knows the users that are mapped into it. Written from inside, a map holds one user, the
writer's own. Root that may change users (in a container, say) can have all that it knows itself
mapped, by a process outside; its submissions then are users of their own as they are without one.

Source: user_namespaces(7).
"""

from __future__ import annotations

import os
from collections.abc import Callable

from grader.engine.sandbox import syscalls

FIRST = 61_184  # systemd's range for dynamic users: owned by nobody else
LAST = 65_519
WHAT = ("uid", "gid")
CAPABILITIES = 1 << 6 | 1 << 7  # CAP_SETGID, CAP_SETUID


def may_change() -> bool:
    """Whether this process can become another user, and this user namespace knows the numbers that
    submissions get, as users and groups."""
    return _capable() and all(
        any(first <= FIRST and first + count > LAST for first, count in _known(what))
        for what in WHAT
    )


def _capable() -> bool:
    with open("/proc/self/status") as file:
        (held,) = (int(line.split()[1], 16) for line in file if line.startswith("CapEff:"))
    return held & CAPABILITIES == CAPABILITIES


def _known(what: str) -> list[tuple[int, int]]:
    """The ranges of users or groups that this namespace knows: first number, how many."""
    with open(f"/proc/self/{what}_map") as file:
        return _ranges(file.read())


def _ranges(text: str) -> list[tuple[int, int]]:
    return [(int(line.split()[0]), int(line.split()[2])) for line in text.splitlines()]


def own_namespace(flags: int = 0) -> None:
    """Leave for a user namespace (and others by `flags`) that knows all users that are known here,
    where this process can have that, else its own alone. Needs a process of one thread."""
    uid, gid = os.geteuid(), os.getegid()
    map_all = _outside() if uid == 0 and may_change() else lambda _: False
    try:
        syscalls.unshare(syscalls.CLONE_NEWUSER | flags)
    except OSError:
        map_all(False)
        raise
    if not map_all(True):
        map_one(uid, gid)


def map_one(uid: int, gid: int) -> None:
    """Map one user and group to themselves in the user namespace this process has just made."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"),
                       ("gid_map", f"{gid} {gid} 1")):  # fmt: skip
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _outside() -> Callable[[bool], bool]:
    """A process that stays outside; told True it maps all that it knows into the namespace of the
    caller, told False it ends. Whether it has done so."""
    theirs, ours = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        _map_all(theirs)
    os.close(theirs)

    def tell(go: bool) -> bool:
        if go:
            os.write(ours, b"go")
        os.close(ours)
        return os.waitpid(pid, 0)[1] == 0

    return tell


def _map_all(told: int) -> None:
    caller, ended = os.getppid(), 1
    try:
        if os.read(told, 2) == b"go":
            for what in WHAT:
                lines = [f"{first} {first} {count}" for first, count in _known(what)]
                with open(f"/proc/{caller}/{what}_map", "w") as file:
                    file.write("\n".join(lines))
            ended = 0
    except OSError:
        pass
    finally:
        os._exit(ended)
