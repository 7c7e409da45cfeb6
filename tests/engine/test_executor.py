"""Closing now: what runs ends, nothing is run again, nothing more is started."""

import threading

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


def test_notebooks_of_a_submission_run_in_order(monkeypatch):
    monkeypatch.setattr(work, "run", lambda zygote, job, wanted: Result(job.notebook))
    jobs = [_job(), _job()]
    assert [r.notebook for r in executors.run_all(None, jobs)] == [j.notebook for j in jobs]
