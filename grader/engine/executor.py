"""Where submissions run: one seam, `submit(jobs) -> Future`, kept by threads or by a cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol

import psutil  # type: ignore[import-untyped]

from grader.engine import work
from grader.engine.host import Zygote
from grader.engine.work import Job, Result

TICK = 0.1  # seconds between two looks at threads that are to end


class Executor(Protocol):
    """Runs the notebooks of one submission, in order, somewhere."""

    jobs: int

    def submit(self, jobs: list[Job]) -> Future[list[Result]]:
        """Start; the future fails only for reasons that are not the submission's."""

    def close(self, now: bool = False) -> None:
        """Stop; `now` kills what runs."""


def at_once() -> int:
    """How many processes to run at once where nobody says: one per core that this process may use,
    by affinity and by its container's share, and one per GiB of memory that is free. More would
    run submissions past their time limits, or the machine out of memory."""
    from dask.system import cpu_count  # takes a moment: the warm process needs longer

    return max(1, min(cpu_count(), psutil.virtual_memory().available >> 30))


class Stopped(RuntimeError):
    """The executor was closed while this submission waited or ran."""


def run_all(
    zygote: Zygote, jobs: list[Job], wanted: Callable[[], bool] = lambda: True
) -> list[Result]:
    """The notebooks of one submission, one after the other. Raises Stopped once not `wanted`."""
    results = list[Result]()
    for job in jobs:
        if not wanted():
            raise Stopped
        results.append(work.run(zygote, job, wanted))
    return results


class LocalExecutor:
    """Threads that wait for children of one warm process."""

    def __init__(self, zygote: Callable[[], Zygote], jobs: int) -> None:
        self.jobs, self._zygote = jobs, zygote
        self._pool = ThreadPoolExecutor(jobs, "grader-child")
        self._open, self._pending = True, set[Future[list[Result]]]()

    def submit(self, jobs: list[Job]) -> Future[list[Result]]:
        """Run in the next free thread."""
        future = self._pool.submit(lambda: run_all(self._zygote(), jobs, lambda: self._open))
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future

    def close(self, now: bool = False) -> None:
        """Stop the threads; with `now` the zygote, and so every child, is killed first, and once
        more where a thread that was waiting for it has started another."""
        if now:
            self._open = False  # else threads take the zygote's end for an accident
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._zygote().close()
            while wait(set(self._pending), TICK).not_done:
                self._zygote().close()
        self._pool.shutdown(wait=True, cancel_futures=now)
