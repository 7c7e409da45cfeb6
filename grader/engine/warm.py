"""The zygote of this process: started at first use, kept while the same course is graded."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from grader.engine.host import Zygote, lacking

PUBLIC = ("data", "notebooks")
_lock = threading.Lock()
_current: dict[str, tuple[tuple[object, ...], Zygote]] = {}


def public_folders(root: Path) -> dict[str, str]:
    """The folders of a course that a learner has anyway."""
    if not (root / "data").is_dir():
        return {}
    return {name: str(root / name) for name in PUBLIC if (root / name).is_dir()}


def zygote(root: Path, hidden: Iterable[str] = (), sandboxed: bool = True,
           tensorflow: bool = True, fork: bool = True) -> Zygote:  # fmt: skip
    """The warm process for the course at `root`; another course's is ended first, unless it does
    not know yet whose it is. `hidden` are host paths that no submission may see, wherever they lie.
    Where it cannot `fork`, or must not, it is a pool of processes that are spawned."""
    public, hidden = public_folders(root), list(hidden)
    kind = (sandboxed, tensorflow, fork)
    with _lock:
        held = _current.get("zygote")
        if held is None or held[0] != kind or not held[1].show(public, hidden):
            if held is not None:
                held[1].close()
            _current["zygote"] = (kind, _class(fork)(public, hidden, sandboxed, tensorflow))
        return _current["zygote"][1]


def ahead(root: Path, tensorflow: bool = True) -> None:
    """Launch what most courses need before the configuration is read, if there is none yet."""
    with _lock:
        held = "zygote" in _current
    if not held:
        zygote(root, tensorflow=tensorflow).launch()


def _class(fork: bool) -> type[Zygote]:
    if fork and not lacking():
        return Zygote
    from grader.engine.spawned import Spawned

    return Spawned


def close() -> None:
    """End the warm process, if there is one."""
    with _lock:
        held = _current.pop("zygote", None)
    if held is not None:
        held[1].close()
