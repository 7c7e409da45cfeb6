"""Submissions on a Dask cluster: one warm process and its sandbox per worker.

Workers run notebooks and know neither answers nor the gradebook; questions travel with the job and
raw replies travel back. They must see the course's `data/` and `notebooks/` under the same paths.
A worker that dies is Dask's to replace: its submissions go to another, and are recorded once.
"""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

from grader.engine import executor, warm
from grader.engine.work import Job, Result


def run_on_worker(root: str, jobs: list[Job]) -> list[Result]:
    """What a worker does with one submission."""
    if not jobs:  # no notebook could be opened: no reason for another kind of warm process
        return []
    fork, tensorflow = all(job.fork for job in jobs), any(job.tensorflow for job in jobs)
    zygote = warm.zygote(Path(root), jobs[0].hidden, tensorflow=tensorflow, fork=fork)
    return executor.run_all(zygote, jobs)


class DaskExecutor:
    """Runs submissions on the workers behind `client` (a distributed.Client, or an address).

    Raises OSError if no scheduler answers there.
    """

    def __init__(self, client: Any, root: Path) -> None:
        if isinstance(client, str):
            from distributed import Client

            client = Client(client)
        self.client, self.root = client, root
        self.address = client.scheduler.address  # the client forgets it where it is lost
        self._waiting: dict[Any, Future[list[Result]]] = {}

    @property
    def jobs(self) -> int:
        """As many submissions at once as the cluster has threads now."""
        return max(1, sum(self.client.nthreads().values()))

    def submit(self, jobs: list[Job]) -> Future[list[Result]]:
        """Hand over; the future fails with KilledWorker if it took several workers down."""
        mine: Future[list[Result]] = Future()
        mine.set_running_or_notify_cancel()
        theirs = self.client.submit(run_on_worker, str(self.root), jobs, pure=False)
        self._waiting[theirs] = mine
        theirs.add_done_callback(self._done)
        return mine

    def _done(self, theirs: Any) -> None:
        mine = self._waiting.pop(theirs, None)
        if mine is None:
            return
        try:
            mine.set_result(theirs.result())
        except BaseException as error:
            mine.set_exception(self._blamed(error))

    def _blamed(self, error: BaseException) -> BaseException:
        """What is the cluster's fault as an OSError, which stops the run: no student's it is."""
        from grader.engine import trouble  # workers, who import this module, need none of it

        for each in trouble.chain(error):
            if isinstance(each, CancelledError):  # once there is no scheduler, all that waits is
                said = f"the Dask scheduler at {self.address} is lost: start it"
                return ConnectionError(f"{said}{trouble.AGAIN}")
            if isinstance(each, ImportError):  # a submission's own stay in its process
                said = f"the Dask cluster at {self.address} cannot run grader ({each})"
                return ConnectionError(f"{said}: give it the same packages{trouble.AGAIN}")
        return error

    def close(self, now: bool = False) -> None:
        """Forget what waits; with `now` also what runs. The cluster itself stays."""
        if now:
            self.client.cancel(list(self._waiting), force=True)
        self._waiting.clear()
