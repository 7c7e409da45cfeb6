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
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
PARTS = "bin etc include lib lib64 pyvenv.cfg share".split()  # of a prefix
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
    etc = [f"/etc/{name}" for name in _ETC]
    found = [*SYSTEM, *python_paths(), *etc, "/sys/devices/system"]
    return _outermost(path for path in found if os.path.lexists(path))


def _outermost(paths: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for path in sorted(set(map(os.path.abspath, paths)), key=lambda path: (path.count("/"), path)):
        if not any(_within(path, top) for top in kept):
            kept.append(path)
    return kept


def _within(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")


@cache  # the zygote's answer holds for its children
def writable_places() -> tuple[str, ...]:
    """Where a child may write; /tmp is left out where Python or `grader` itself lies under it."""
    under_tmp = any(path.startswith("/tmp/") for path in readable_paths())
    return (HOME, "/dev/shm") if under_tmp else (HOME, "/dev/shm", "/tmp")


def build_root(new: str, public: Mapping[str, str], hidden: Iterable[str] = ()) -> None:
    """Assemble the root at `new` (an empty directory) and pivot into it.

    `public` maps names to host directories shown under /course; `hidden` are host paths that must
    not show even if they lie inside a system directory, or hold this Python, which still shows.
    Needs CAP_SYS_ADMIN and a mount namespace.
    """
    syscalls.mount("", "/", flags=syscalls.MS_REC | syscalls.MS_PRIVATE)
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount("tmpfs", new, "tmpfs", flags, "size=4m,nr_inodes=4000,mode=755")
    for path in readable_paths():
        _bind(path, new + path)
    for name, path in public.items():
        _bind(os.path.realpath(path), f"{new}{COURSE}/{name}")
    for path in _outermost(filter(_coverable, map(os.path.realpath, (*HIDDEN, *hidden)))):
        _cover(new, path)
    _devices(new)
    for place in (*writable_places(), "/proc"):
        os.makedirs(new + place, exist_ok=True)
    syscalls.mount_setattr(new, syscalls.MOUNT_ATTR_RDONLY | syscalls.MOUNT_ATTR_NOSUID)
    mount_proc(new)
    os.chdir(new)
    syscalls.pivot_root(".", ".")
    syscalls.umount(".")
    os.chdir("/")


def _coverable(path: str) -> bool:
    """Whether it shows, and nothing that every program needs lies in it."""
    shows = os.path.exists(path) and any(_within(path, top) for top in readable_paths())
    return shows and not any(_within(needed, path) for needed in SYSTEM)


def _cover(new: str, path: str) -> None:
    """Hide what shows at `path` of the host, but for the parts of this Python in it."""
    if not os.path.isdir(path):
        syscalls.mount("/dev/null", new + path, flags=syscalls.MS_BIND)
        return
    syscalls.mount("tmpfs", new + path, "tmpfs", syscalls.MS_NODEV, "size=4k,mode=755")
    parts = [os.path.join(path, name) for name in PARTS] if path in python_paths() else []
    inner = [each for each in python_paths() if each != path and _within(each, path)]
    for part in _outermost(each for each in (*parts, *inner) if os.path.lexists(each)):
        _bind(part, new + part)


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
