"""What each layer of the sandbox is for, and how to get one that is off."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from grader.engine.sandbox.layers import NAMES, NO_FORK, Layer

PURPOSE = {
    "user": "a user of its own: limits count this submission alone, no file of yours is its own",
    "mount": "a file system of its own: system and course data read-only, nothing else in sight",
    "pid": "sees and signals no other process; all its processes end with it",
    "net": "no network, loopback included",
    "ipc": "no shared memory or message queues with others",
    "caps": "no capability, and none to be gained by running a setuid program",
    "seccomp": "the kernel's sharper tools (ptrace, mount, bpf, io_uring, sockets) are refused",
    "landlock": "a second fence around files, TCP and signals",
    "rlimits": "limits on each process's memory, on processes, file size, open files, CPU time",
    "memory": "a limit on the memory of all its processes together",
}
FORK = "Comes with c.EngineExecute.fork = True, the default."
NAMESPACES = frozenset(("user", "mount", "pid", "net", "ipc"))
CONTAINERS = {
    "/.dockerenv": "In Docker, start with --security-opt seccomp=unconfined --security-opt "
    "systempaths=unconfined --security-opt apparmor=unconfined.",
    "/run/.containerenv": "In Podman, start with --security-opt unmask=ALL.",
    "/var/run/secrets/kubernetes.io": "In Kubernetes, docs/scaling.md has the securityContext.",
}
OLDEST = (5, 12)  # Linux, for mount_setattr(2)
_KNOBS = {
    "/proc/sys/kernel/unprivileged_userns_clone": (
        "0", "sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    "/proc/sys/user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=15000"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1", "an AppArmor profile with `userns,` for this Python, or "
             "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}  # fmt: skip


def doctor(found: Iterable[Layer]) -> list[str]:
    """One line per layer: on, or off with the reason, what that costs, and what helps."""
    known = {layer.name: layer for layer in found}
    lines = []
    for name in NAMES:
        layer = known.get(name, Layer(name, False, "not tried"))
        if layer.on:
            how = f"; {layer.reason}" if layer.reason else ""
            lines.append(f"{name}: on ({PURPOSE[name]}{how})")
        else:
            helps = FORK if layer.reason == NO_FORK else advice(name)
            lines.append(f"{name}: OFF ({layer.reason}). Missing: {PURPOSE[name]}. {helps}")
    return lines


def advice(name: str) -> str:
    """How to get a layer on this host."""
    if not sys.platform.startswith("linux"):
        return "Only Linux has it: run the engine in WSL2, a virtual machine or Docker."
    if name in NAMESPACES:
        return " ".join(["Needs namespaces, and a /proc mounted in them.", *_blocked()])
    if name == "seccomp":
        return "Install libseccomp (Debian: libseccomp2) and the Python package pyseccomp."
    if name == "landlock":
        return "Needs Linux 5.13 or later with landlock in its list of security modules (lsm=)."
    if name == "memory":
        return "Needs a Linux kernel built with CONFIG_PROC_CHILDREN and a /proc that shows all."
    return "Ask who runs this host: a container's own limits forbid it."


def _blocked() -> list[str]:
    """What on this host stands against user namespaces, as far as it can be seen."""
    found = []
    for path, (bad, remedy) in _KNOBS.items():
        file = Path(path)
        if file.is_file() and file.read_text().strip() == bad:
            found.append(f"{file.name} is {bad}: as root, {remedy}.")
    if _kernel() < OLDEST:
        found.append("Linux {}.{} or later is needed.".format(*OLDEST))
    found += [remedy for mark, remedy in CONTAINERS.items() if Path(mark).exists()]
    return found or ["A container or security module may refuse them."]


def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
