"""System calls that Python 3.11 does not offer, by ctypes; each raises OSError when refused.

Sources: unshare(2), setns(2), mount(2), mount_setattr(2), pivot_root(2), prctl(2), capset(2).
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
CLONE_NEWCGROUP = 0x02000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 1, 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000

PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 2, 4, 24
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 22, 38, 47, 4
SECCOMP_MODE_FILTER = 2

_MOUNT_SETATTR = 442  # one number on every architecture since Linux 5.12


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def unshare(flags: int) -> None:
    """Leave namespaces behind; CLONE_NEWUSER needs a process of one thread."""
    _checked(_libc().unshare(ctypes.c_int(flags)), "unshare")


def setns(fd: int, kind: int) -> None:
    """Join the namespace behind `fd`."""
    _checked(_libc().setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2); empty strings become NULL."""

    def text(value: str) -> bytes | None:
        return os.fsencode(value) if value else None

    result = _libc().mount(
        text(source), text(target), text(kind), ctypes.c_ulong(flags), text(options)
    )
    _checked(result, f"mount {target}")


def umount(target: str, flags: int = MNT_DETACH) -> None:
    """umount2(2)."""
    _checked(_libc().umount2(os.fsencode(target), flags), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and put the old one at `old`."""
    _checked(_libc().pivot_root(os.fsencode(new), os.fsencode(old)), "pivot_root")


class _MountAttr(ctypes.Structure):
    _fields_ = [
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    ]


def mount_setattr(path: str, attributes: int, recursive: bool = True) -> None:
    """Set mount attributes (read-only, nosuid, nodev) on a whole tree; Linux 5.12."""
    attr = _MountAttr(attributes, 0, 0, 0)
    result = _libc().syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(AT_FDCWD),
        os.fsencode(path),
        ctypes.c_uint(AT_RECURSIVE if recursive else 0),
        ctypes.byref(attr),
        ctypes.c_size_t(ctypes.sizeof(attr)),
    )
    _checked(result, f"mount_setattr {path}")


def prctl(option: int, a: int = 0, b: int = 0) -> int:
    """prctl(2) with two arguments."""
    zero = ctypes.c_ulong(0)
    result: int = _libc().prctl(
        ctypes.c_int(option), ctypes.c_ulong(a), ctypes.c_ulong(b), zero, zero
    )
    return _checked(result, "prctl")


def death_signal() -> int:
    """The signal that this process gets when its parent ends; 0 for none."""
    held = ctypes.c_int()
    prctl(PR_GET_PDEATHSIG, ctypes.addressof(held))
    return held.value


def drop_capabilities() -> None:
    """Empty the bounding, ambient, permitted, effective and inheritable sets."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # past the last capability of this kernel, or no CAP_SETPCAP: capset decides
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _checked(_libc().capset(header, (ctypes.c_uint32 * 6)()), "capset")


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def load_seccomp(program: bytes) -> None:
    """Load a compiled BPF program; needs no_new_privs."""
    held = ctypes.create_string_buffer(program, len(program))
    wrapped = _Program(len(program) // 8, ctypes.addressof(held))
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(wrapped))
