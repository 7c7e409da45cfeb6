"""Where submissions run: one seam, `submit(jobs) -> Future`, kept by threads or by a cluster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from grader.engine import work
from grader.engine.host import Zygote
from grader.engine.work import Job, Result


class Executor(Protocol):
    """Runs the notebooks of one submission, in order, somewhere."""

    jobs: int

    def submit(self, jobs: list[Job]) -> Future[list[Result]]:
        """Start; the future fails only for reasons that are not the submission's."""

    def close(self, now: bool = False) -> None:
        """Stop; `now` kills what runs."""


def run_all(zygote: Zygote, jobs: list[Job]) -> list[Result]:
    """The notebooks of one submission, one after the other."""
    return [work.run(zygote, job) for job in jobs]


class LocalExecutor:
    """Threads that wait for children of one warm process."""

    def __init__(self, zygote: Callable[[], Zygote], jobs: int) -> None:
        self.jobs, self._zygote = jobs, zygote
        self._pool = ThreadPoolExecutor(jobs, "grader-child")

    def submit(self, jobs: list[Job]) -> Future[list[Result]]:
        """Run in the next free thread."""
        return self._pool.submit(lambda: run_all(self._zygote(), jobs))

    def close(self, now: bool = False) -> None:
        """Stop the threads; with `now` the zygote, and so every child, is killed first."""
        if now:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._zygote().close()
        self._pool.shutdown(wait=True, cancel_futures=now)
