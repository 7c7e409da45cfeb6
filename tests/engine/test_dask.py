"""A cluster of separate worker processes grades as this machine does; one of them is killed."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import pytest

from grader.engine import warm, work
from grader.engine.batch import GradingError
from grader.engine.dask import DaskExecutor, run_on_worker
from grader.engine.host import ZygoteError
from grader.engine.limits import Limits
from tests.engine.conftest import notebook

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                 dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client


CLUSTER = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))
import distributed
if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as one:
        print(one.scheduler_address, flush=True)
        input()
"""


@contextmanager
def _cluster(*without):
    """A scheduler and its worker, a group of processes; and the address. `without` some packages."""
    with subprocess.Popen([sys.executable, "-c", CLUSTER, *without], stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, start_new_session=True) as one:  # fmt: skip
        yield one, one.stdout.readline().strip()
        with suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)


def test_a_scheduler_that_is_lost_stops_the_run_and_costs_nobody_a_point(tiny):
    for name in ("ann", "bob"):
        tiny.submit(name)
    tiny.grade()
    for name in ("ann", "bob"):
        tiny.submit(name, add="import time; time.sleep(4)\ndef add(a, b): return a + b")

    def watch(outcome):
        if outcome.student == "bob":
            threading.Timer(1.0, os.killpg, (process.pid, signal.SIGKILL)).start()

    with _cluster() as (process, address), distributed.Client(address) as client:
        executor = DaskExecutor(client, tiny.root)
        with pytest.raises(GradingError, match=r"Dask scheduler .*then grade again"):
            tiny.grade(executor=executor, watch=watch)
    assert [tiny.scores(name) for name in ("ann", "bob")] == [(9, False)] * 2
    assert {each.state for each in tiny.grade().values()} == {"graded"}


def test_a_cluster_without_grader_stops_the_run_and_costs_nobody_a_point(tiny):
    tiny.submit("ann")
    tiny.grade()
    with _cluster("grader") as (_, address), distributed.Client(address) as client:
        executor = DaskExecutor(client, tiny.root)
        with pytest.raises(GradingError, match=r"cannot run grader .*grader.*the same packages"):
            tiny.grade(executor=executor, force=True)
    assert tiny.scores("ann") == (9, False)


def test_a_worker_that_does_not_have_the_courses_data_costs_nobody_a_point(tmp_path):
    job = work.Job(
        notebook("1"), Limits(), course={"data": str(tmp_path / "data")}, tensorflow=False
    )
    try:
        with pytest.raises(ZygoteError, match=f"^{tmp_path}/data is not there"):
            run_on_worker(str(tmp_path), [job])
        (tmp_path / "data").mkdir()
        (result,) = run_on_worker(str(tmp_path), [job])
    finally:
        warm.close()
    assert result.fault is None


def test_a_submission_with_nothing_to_run_leaves_a_workers_warm_process_to_the_others(tmp_path):
    job = work.Job(notebook("1"), Limits(), tensorflow=False, hidden=[str(tmp_path)])
    try:
        zygote = warm.zygote(tmp_path, job.hidden, tensorflow=False)
        zygote.start()
        assert run_on_worker(str(tmp_path), []) == []
        assert zygote.alive
        assert warm.zygote(tmp_path, job.hidden, tensorflow=False) is zygote
    finally:
        warm.close()


def test_every_submission_is_graded_once_though_a_worker_is_killed(tiny, client):
    names = [f"s{i:02}" for i in range(10)]
    for name in names[:-2]:
        tiny.submit(name)
    tiny.submit(names[-2], add="def add(a, b): return 0")
    tiny.submit(names[-1], add="import os; os._exit(1)")
    heard, killed = [], []

    def watch(outcome):
        if outcome.state == "started":
            return
        heard.append(outcome.student)
        if len(heard) == 2:
            pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    executor = DaskExecutor(client, tiny.root)
    outcomes = tiny.grade(executor=executor, watch=watch)
    assert killed
    assert sorted(heard) == names
    assert [outcomes[name].score for name in names] == [9] * 8 + [7, 4]
    assert [tiny.scores(name)[0] for name in names] == [9] * 8 + [7, 4]
    lines = (tiny.root / ".grader/journal.jsonl").read_text().splitlines()
    assert sum('"event": "done"' in line for line in lines) == 10
