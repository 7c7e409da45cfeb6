"""The sandbox around one submission, layer by layer.

The zygote calls `prepare` once; each forked child calls `seal` before it runs any student code.
`report` is the line printed when a run starts; `doctor` says how to get what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.engine.limits import Limits
from grader.engine.sandbox import layers, rlimits, root, syscalls, users
from grader.engine.sandbox.layers import NAMES, Layer

__all__ = ["NAMES", "Layer", "Prepared", "enough", "missing", "prepare", "report", "seal"]
OTHERS = 2000  # processes a user may have besides, where they cannot be counted


@dataclass
class Prepared:
    """What the zygote found out, and every child needs."""

    layers: list[Layer]
    program: bytes | str = ""
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    users: bool = True  # whether another user could reach Python and the course
    python: tuple[str, ...] = ()  # where Python, its packages and `grader` lie
    numbers: int = field(default=0)

    @property
    def namespaced(self) -> bool:
        """Whether children get file system, processes and network of their own."""
        return bool(self.layers) and all(layer.on for layer in self.layers)

    def next_owner(self) -> int | None:
        """A uid for the next child where the engine runs as root; None otherwise."""
        if not layers.linux() or os.geteuid() != 0 or not self.users or not users.may_change():
            return None
        self.numbers += 1
        return users.FIRST + self.numbers % (users.LAST - users.FIRST)


def open_to_all(paths: Iterable[str]) -> bool:
    """Whether users other than the owner can pass through every directory to `paths`."""
    found = (Path(path).resolve() for path in paths)
    places = {place for path in found for place in (path, *path.parents) if place.is_dir()}
    return all(place.stat().st_mode & 0o001 for place in places)


def prepare(spaces: list[Layer], public: Mapping[str, str], hidden: Iterable[str]) -> Prepared:
    """Build the root (in the namespaces just opened) and compile the filter. Zygote only."""
    from grader.engine.sandbox import seccomp

    layers.attempt("landlock", lambda: layers.landlock_rules().close())
    prepared = Prepared(spaces, python=tuple(filter(os.path.exists, root.python_paths())))
    if prepared.namespaced:
        layers.new_root(public, hidden)
    try:
        prepared.program = seccomp.compile_filter(prepared.namespaced)
    except Exception as error:
        prepared.program = f"{type(error).__name__}: {error}"
    if prepared.namespaced:
        prepared.readable, prepared.writable = ("/",), root.writable_places()
    else:
        shown = [os.path.realpath(path) for path in public.values()]
        system = ["/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/dev/urandom"]
        prepared.readable = (*root.readable_paths(), *shown, *system)
        prepared.users = open_to_all((*root.python_paths(), *shown))
    return prepared


def seal(prepared: Prepared, limits: Limits, owner: int | None, scratch: str) -> list[Layer]:
    """Shut the calling (single-threaded, just forked) process in; every layer that could be had.

    `scratch` is the writable directory where there is no file system of its own.
    """
    if not layers.linux():
        limited = rlimits.limit_resources(limits, OTHERS)
        return [limited if name == "rlimits" else layers.nowhere(name) for name in NAMES[:-1]]
    found, at_parents_end = list(prepared.layers), syscalls.death_signal()
    if prepared.namespaced:
        own = layers.private_namespaces(limits, owner)
        found = [own if layer.name == "mount" and not own.on else layer for layer in found]
    elif owner is not None:
        os.chown(scratch, owner, owner)
    user = layers.own_user(owner)
    found.append(user)
    writable = prepared.writable or (scratch,)
    found.append(rlimits.limit_resources(limits, 0 if user.on else layers.tasks_of(os.getuid())))
    found.append(layers.no_capabilities())
    found.append(layers.landlock(prepared.readable, writable))
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, at_parents_end)  # lost with the change of user
    found.append(layers.seccomp(prepared.program))
    return sorted(found, key=lambda layer: NAMES.index(layer.name))


def missing(found: Iterable[Layer]) -> list[Layer]:
    """The layers that are off."""
    return [layer for layer in found if not layer.on]


def enough(found: Iterable[Layer]) -> bool:
    """Whether a run may go on without anybody's leave: all on, but for Landlock, a second fence
    where the file system and network are the child's own."""
    return all(layer.on for layer in found if layer.name != "landlock")


def report(found: Iterable[Layer]) -> str:
    """One line: `sandbox: user mount pid net ipc caps seccomp landlock rlimits: on`."""
    found = list(found)
    on = " ".join(layer.name for layer in found if layer.on)
    off = "; ".join(f"{layer.name}: OFF ({layer.reason})" for layer in missing(found))
    return "sandbox: " + "; ".join(text for text in (f"{on}: on" if on else "", off) if text)
