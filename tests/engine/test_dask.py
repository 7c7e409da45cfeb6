"""A cluster of separate worker processes grades as this machine does; one of them is killed."""

import os
import signal

import pytest

from grader.engine.dask import DaskExecutor

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                 dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client


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
