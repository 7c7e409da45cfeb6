"""Closing now: what runs ends, nothing is run again, nothing more is started."""

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import nbformat
import pytest

from grader.engine import executor as executors
from grader.engine import work
from grader.engine.executor import LocalExecutor, Stopped
from grader.engine.limits import Limits
from grader.engine.work import Job, Result


class Warm:
    """A warm process in name only."""

    def __init__(self):
        self.alive, self.closed = True, threading.Event()

    def close(self):
        self.alive = False
        self.closed.set()


class Runs(list):
    def __init__(self):
        super().__init__()
        self.begun = threading.Event()


@pytest.fixture
def runs(monkeypatch):
    """Every run of a notebook, which lasts until its warm process is ended; the first is awaited
    by `runs.begun`."""
    started = Runs()

    def run(zygote, job):
        started.append(job)
        started.begun.set()
        assert zygote.closed.wait(60)
        return Result(job.notebook, fault=("died", "the process ended"))

    monkeypatch.setattr(work, "_run", run)
    return started


@pytest.mark.parametrize(("cpus", "gib", "many"), [(8, 64, 8), (8, 3.9, 3), (2, 0.5, 1)])
def test_as_many_run_at_once_as_cores_and_memory_allow(monkeypatch, cpus, gib, many):
    """Dask's count knows the share of a container; a container here has all cores."""
    monkeypatch.setattr("dask.system.cpu_count", lambda: cpus)
    memory = SimpleNamespace(available=int(gib * 2**30))
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    assert executors.at_once() == many


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux binds processes to cores")
def test_a_process_bound_to_one_core_runs_one_at_once():
    code = "from grader.engine.executor import at_once; print(at_once())"
    bound = f"import os; os.sched_setaffinity(0, {{0}}); {code}"
    done = subprocess.run([sys.executable, "-c", bound], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def _job():
    return Job(nbformat.v4.new_notebook(), Limits())


def test_a_notebook_that_is_cut_short_is_not_run_again_nor_the_next_one_started(runs):
    warm = Warm()
    executor = LocalExecutor(lambda: warm, 1)
    running, waiting = executor.submit([_job(), _job()]), executor.submit([_job()])
    assert runs.begun.wait(60)
    executor.close(now=True)
    assert len(runs) == 1
    assert waiting.cancelled()
    with pytest.raises(Stopped):
        running.result()


def test_a_warm_process_that_dies_by_itself_costs_one_more_run(runs):
    warm = Warm()
    executor = LocalExecutor(lambda: warm, 1)
    done = executor.submit([_job()])
    assert runs.begun.wait(60)
    warm.close()
    assert done.result().pop().fault
    executor.close()
    assert len(runs) == 2
    assert not [each for each in threading.enumerate() if each.name.startswith("grader-child")]


def test_one_that_was_waiting_and_has_started_another_warm_process_is_ended_too(monkeypatch):
    warm, turn, begun = Warm(), threading.Lock(), threading.Semaphore(0)

    def run(zygote, job):
        begun.release()
        with turn:  # as `Zygote.start`: the next one finds it dead and starts it again
            warm.closed.clear()
            warm.alive = True
            ended = warm.closed.wait(20)
        return Result(job.notebook, fault=("died" if ended else "left running", ""))

    monkeypatch.setattr(work, "_run", run)
    executor = LocalExecutor(lambda: warm, 3)
    done = [executor.submit([_job()]) for _ in range(3)]
    for _ in done:
        assert begun.acquire(timeout=60)
    executor.close(now=True)
    assert {each.result().pop().fault[0] for each in done} == {"died"}


def test_notebooks_of_a_submission_run_in_order(monkeypatch):
    monkeypatch.setattr(work, "run", lambda zygote, job, wanted: Result(job.notebook))
    jobs = [_job(), _job()]
    assert [r.notebook for r in executors.run_all(None, jobs)] == [j.notebook for j in jobs]
