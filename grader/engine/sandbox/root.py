"""The file system a submission sees: built from a list of what it may see, not by hiding.

The zygote builds a new root out of read-only bind mounts and turns it into its own root, so the
course, homes, /etc/shadow and everything else simply do not exist in there. Each child then lays
its own writable tmpfs and its own /proc over it.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from grader.engine.limits import Limits
from grader.engine.sandbox import syscalls

HOME = "/home/learner"
COURSE = "/course"  # where the course's public folders appear, read-only
HIDDEN = ("/usr/local/share/nbgrader", "/usr/share/nbgrader", "/usr/local/share/jupyter/nbgrader")
_ETC = """
alternatives fonts group hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d localtime magic
mailcap mime.types nsswitch.conf os-release passwd profile protocols services ssl/certs
ssl/openssl.cnf timezone
""".split()
_DEVICES = ("null", "zero", "full", "random", "urandom")


def python_paths() -> list[str]:
    """Where this Python, its packages and `grader` lie."""
    import grader

    found = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()]
    found += [os.path.realpath(sys.executable), *site.getsitepackages()]
    return [*found, str(Path(grader.__file__).parent)]


def readable_paths() -> list[str]:
    """Directories of the system, of this Python and of `grader`, outermost first."""
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
    etc = [f"/etc/{name}" for name in _ETC]
    found = [*system, *python_paths(), *etc, "/sys/devices/system"]
    return _outermost(path for path in found if os.path.lexists(path))


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(set(map(os.path.abspath, paths)), key=lambda path: (path.count("/"), path)):
        if not any(path == top or path.startswith(top + "/") for top in kept):
            kept.append(path)
    return kept


@cache  # the zygote's answer holds for its children
def writable_places() -> tuple[str, ...]:
    """Where a child may write; /tmp is left out where Python or `grader` itself lies under it."""
    under_tmp = any(path.startswith("/tmp/") for path in readable_paths())
    return (HOME, "/dev/shm") if under_tmp else (HOME, "/dev/shm", "/tmp")


def build_root(new: str, public: Mapping[str, str], hidden: Iterable[str] = ()) -> None:
    """Assemble the root at `new` (an empty directory) and pivot into it.

    `public` maps names to host directories shown under /course; `hidden` are host paths that must
    not show even if they lie inside a system directory. Needs CAP_SYS_ADMIN and a mount namespace.
    """
    syscalls.mount("", "/", flags=syscalls.MS_REC | syscalls.MS_PRIVATE)
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount("tmpfs", new, "tmpfs", flags, "size=4m,nr_inodes=4000,mode=755")
    for path in readable_paths():
        _bind(path, new + path)
    for name, path in public.items():
        _bind(os.path.realpath(path), f"{new}{COURSE}/{name}")
    for path in (*HIDDEN, *hidden):
        _cover(new + os.path.abspath(path))
    _devices(new)
    for place in (*writable_places(), "/proc"):
        os.makedirs(new + place, exist_ok=True)
    syscalls.mount_setattr(new, syscalls.MOUNT_ATTR_RDONLY | syscalls.MOUNT_ATTR_NOSUID)
    mount_proc(new)
    os.chdir(new)
    syscalls.pivot_root(".", ".")
    syscalls.umount(".")
    os.chdir("/")


def _cover(target: str) -> None:
    """Hide what shows at `target`, if anything does, unless this Python lives in there."""
    if not os.path.lexists(target) or os.path.islink(target):
        return
    if os.path.isdir(target):
        syscalls.mount("tmpfs", target, "tmpfs", syscalls.MS_NODEV, "size=4k,mode=755")
    else:
        syscalls.mount("/dev/null", target, flags=syscalls.MS_BIND)


def _bind(source: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
        real = os.path.realpath(source)
        root = target[: -len(source)]
        if os.path.exists(real) and not os.path.lexists(root + real):
            _bind(real, root + real)
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.lexists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    syscalls.mount(source, target, flags=syscalls.MS_BIND | syscalls.MS_REC)


def _devices(new: str) -> None:
    os.makedirs(new + "/dev", exist_ok=True)
    for name in _DEVICES:
        _bind(f"/dev/{name}", f"{new}/dev/{name}")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"),
                         ("stderr", "fd/2")):  # fmt: skip
        os.symlink(target, f"{new}/dev/{name}")


def mount_private(limits: Limits, owner: int | None) -> None:
    """The child’s own tmpfs on every writable place; `owner` is its uid where it changes user."""
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV
    for place in writable_places():
        own = "" if owner is None else f",uid={owner},gid={owner}"
        options = f"size={limits.scratch},nr_inodes={limits.inodes},mode=700{own}"
        syscalls.mount("tmpfs", place, "tmpfs", flags, options)


def mount_proc(new: str = "") -> None:
    """A /proc that shows this pid namespace alone, below the root `new`."""
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    syscalls.mount("proc", new + "/proc", "proc", flags)
