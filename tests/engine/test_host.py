import errno
import os
import signal
import socket
import tempfile
import time

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.engine import work
from grader.engine.host import Zygote, ZygoteError, wait_ready
from grader.engine.limits import Limits
from tests.eventually import eventually


@pytest.fixture
def zygote(tmp_path, monkeypatch):
    """A light warm process whose temporary files are in `tmp_path`."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    warm = Zygote(tensorflow=False)
    yield warm
    warm.close()


def test_a_closed_one_leaves_nothing_behind(zygote, tmp_path):
    process = zygote.spawn(Limits())
    assert wait_ready(process, Limits())["layers"]
    assert list(tmp_path.iterdir())
    process.kill()
    zygote.close()
    assert list(tmp_path.iterdir()) == []


def test_a_dead_one_is_started_again(zygote):
    zygote.start()
    os.kill(zygote.process.pid, signal.SIGKILL)
    zygote.process.wait()
    assert not zygote.alive
    process = zygote.spawn(Limits())
    assert wait_ready(process, Limits())["language_info"]["name"] == "python"
    process.kill()


def test_it_lives_on_where_the_kernel_takes_no_descriptor_for_a_while(zygote, monkeypatch):
    zygote.start()
    warm, send, refused = zygote.process.pid, socket.send_fds, [1, 2, 3]

    def send_fds(*arguments):
        if refused:
            refused.pop()
            raise OSError(errno.ETOOMANYREFS, "Too many references")
        return send(*arguments)

    monkeypatch.setattr(socket, "send_fds", send_fds)
    monkeypatch.setattr("grader.engine.host.AGAIN", 0.0)
    process = zygote.spawn(Limits())
    assert wait_ready(process, Limits())["layers"]
    process.kill()
    assert zygote.process.pid == warm


def test_it_is_not_asked_for_ever(zygote, monkeypatch):
    def send_fds(*_):
        raise OSError(errno.ETOOMANYREFS, "Too many references")

    monkeypatch.setattr(socket, "send_fds", send_fds)
    with pytest.raises(ZygoteError, match="Too many references"):
        zygote.spawn(Limits(notebook=0.0))


def test_what_it_said_last_is_in_the_error(zygote, monkeypatch):
    monkeypatch.setattr("grader.engine.host.FIXED", {})
    monkeypatch.setattr("grader.engine.host.sys.executable", "/bin/false")
    with pytest.raises(ZygoteError, match="did not start"):
        zygote.start()


def test_a_child_that_ended_is_waited_for_without_a_next_one(zygote):
    process = zygote.spawn(Limits())
    wait_ready(process, Limits())
    warm = psutil.Process(zygote.process.pid)
    before = len(warm.children(recursive=True))
    time.sleep(2.5)  # the zygote looks once a second
    process.kill()
    # a zombie is one of them
    assert eventually(lambda: len(warm.children(recursive=True)) < before), [
        each.status() for each in warm.children(True)
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives submissions users of their own")
def test_what_root_hides_from_others_by_habit_does_not_stop_it(zygote):
    before = os.umask(0o077)
    try:
        process = zygote.spawn(Limits())
    finally:
        os.umask(before)
    assert wait_ready(process, Limits())["layers"]
    process.kill()


def test_a_process_that_does_not_start_is_nobodys_fault(zygote, monkeypatch):
    tried = []

    def gone(process, limits):
        tried.append(process)
        signal.pidfd_send_signal(process.pidfd, signal.SIGKILL)
        return wait_ready(process, limits)

    job = work.Job(new_notebook(cells=[new_code_cell("print(1)")]), Limits())
    monkeypatch.setattr(work, "wait_ready", gone)
    with pytest.raises(ZygoteError, match=r"starts here \(ChildGone\): grader doctor"):
        work.run(zygote, job)
    assert len(tried) == 2
    ways = iter([gone, wait_ready])
    monkeypatch.setattr(work, "wait_ready", lambda *given: next(ways)(*given))
    result = work.run(zygote, job)
    assert result.fault is None
    assert result.notebook.cells[0].outputs[0].text == "1\n"
