"""What calls cost in time and memory, measured and drawn over a size."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.plots.chart import Panel, lines
from grader.plots.figure import Picture

MIB = 2**20
_LOOK_EVERY = 0.0005  # seconds


def measured(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds a call takes, and by how many MiB it raises the memory of this process.

    The call runs twice: the first run, which may trace and compile, is not measured. During the
    second a thread watches the resident memory. Exact to some pages on Linux, rough elsewhere.
    """
    import psutil  # type: ignore[import-untyped]

    call()
    _give_back()
    process, done = psutil.Process(), threading.Event()
    start = process.memory_info().rss
    seen = [start]

    def watch() -> None:
        while not done.is_set():
            seen.append(process.memory_info().rss)
            time.sleep(_LOOK_EVERY)

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    try:
        result = call()
        seconds = time.perf_counter() - begin
        seen.append(process.memory_info().rss)
    finally:
        done.set()
        watcher.join()
    del result
    return seconds, (max(seen) - start) / MIB


def _give_back() -> None:
    """Returns freed memory to the system, and large arrays at once, where glibc can be told to."""
    gc.collect()
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(-3, 1 << 16)  # M_MMAP_THRESHOLD: each large array is a mapping of its own
        libc.malloc_trim(0)
    except (OSError, AttributeError):
        pass  # another C library: the figures are rougher there


def cost_lines(
    title: str,
    costs: Mapping[str, Sequence[tuple[float, float]]],
    sizes: Sequence[int],
    *,
    x: str = "size",
    looks: Mapping[str, str] | None = None,
) -> Picture:
    """Memory and time over ``sizes``; ``costs`` holds (seconds, MiB) of each name at each size."""
    memory = {name: (sizes, [mib for _, mib in row]) for name, row in costs.items()}
    times = {name: (sizes, [1000 * s for s, _ in row]) for name, row in costs.items()}
    left = Panel(memory, x, "memory, MiB", ylim=(0, None), marks=list(costs))
    right = Panel(times, x, "time, ms", ylim=(0, None), marks=list(costs))
    return lines(title, left, right, looks=looks)
