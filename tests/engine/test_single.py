"""The process for one submission: who may meet it, how it is shut in, when it ends."""

import os
import signal
import socket
import subprocess
import sys

import psutil
import pytest

from grader.engine import family, meeting, sandbox, waiting, work
from grader.engine.host import FIXED, ZygoteError
from grader.engine.limits import Limits
from grader.engine.meeting import CELLS, SECRET_BYTES, Started
from grader.engine.spawned import Spawned
from tests.eventually import eventually

from .conftest import gone, notebook, text_of

SETUP = {"public": {}, "hidden": [], "sandbox": True, "tensorflow": False}


@pytest.fixture
def started(tmp_path):
    one = Started(SETUP, {**FIXED, "HOME": str(tmp_path), "PATH": os.defpath})
    yield one
    one.end()


def knock(started, hello):
    stranger = socket.create_connection(started.listener.getsockname(), 30)
    stranger.sendall(hello)
    return stranger


def refused(stranger):
    """Whether it was hung up on without a word."""
    try:
        return stranger.recv(1) == b""
    except ConnectionError:
        return True


def test_strangers_are_refused_and_the_process_is_met_all_the_same(started):
    hellos = (
        b"C" + bytes(SECRET_BYTES),
        b"X" + started.secret,
        b"C",
        started.secret,
        b"C" + started.secret[:-1],
    )
    strangers = [knock(started, hello) for hello in hellos]
    address = started.listener.getsockname()
    cells, interrupts = started.meet()
    assert all(map(refused, strangers))
    assert cells.getpeername() != interrupts.getpeername()
    with pytest.raises(ConnectionRefusedError):  # nobody listens any more
        socket.create_connection(address, 5)
    for stranger in strangers:
        stranger.close()


def test_a_second_one_with_the_secret_is_refused_too(started):
    first, second = (knock(started, CELLS + started.secret) for _ in range(2))
    for _ in range(2):
        started._hear(started.listener.accept()[0])
    assert refused(second)
    assert list(started.found) == [CELLS]
    first.close()
    second.close()


def test_who_says_nothing_is_not_waited_for_long(started, monkeypatch):
    monkeypatch.setattr(meeting, "HELLO_SECONDS", 0.1)
    with knock(started, b"") as silent:
        started.meet()
        assert refused(silent)


def test_the_secret_is_on_no_command_line_and_in_no_environment(started):
    process = psutil.Process(started.popen.pid)
    shown = " ".join([*process.cmdline(), *process.environ().values()])
    assert "grader.engine.single" in shown
    assert started.secret.hex() not in shown


@pytest.mark.parametrize("patience", [60, 0.2])
def test_one_that_does_not_get_warm_says_why(monkeypatch, tmp_path, patience):
    code = "import sys, time; print('no such thing', file=sys.stderr, flush=True)"
    code += "; time.sleep(600)" if patience < 1 else ""
    monkeypatch.setattr(meeting, "COMMAND", [sys.executable, "-c", code])
    monkeypatch.setattr("grader.engine.host.START_SECONDS", patience)
    one = Started(SETUP, {**FIXED, "HOME": str(tmp_path)})
    with pytest.raises(ZygoteError, match="no such thing" if patience > 1 else "did not start"):
        one.meet()
    assert one.popen.returncode is not None


def test_a_job_without_a_process_leaves_no_directory(monkeypatch, tmp_path):
    monkeypatch.setattr(meeting, "COMMAND", [sys.executable, "-c", "raise SystemExit('no')"])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pool = Spawned(tensorflow=False)
    with pytest.raises(ZygoteError, match="no"):
        work.run(pool, work.Job(notebook("1"), Limits()))
    pool.close()
    assert list(tmp_path.iterdir()) == []


def test_the_real_one_tells_what_stops_it(monkeypatch, tmp_path):
    with pytest.raises(ZygoteError, match="KeyError: 'tensorflow'"):
        Started({"public": {}}, {**FIXED, "HOME": str(tmp_path)}).meet()


def test_on_linux_what_needs_no_namespace_is_on_and_holds(tmp_path):
    """Layers in one process, and what they refuse; no thread was there before they were on."""
    pool = Spawned(tensorflow=False)
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    cells = (f"open({str(secret)!r})", "import socket; socket.create_connection(('127.0.0.1', 1), 1)",
             "import os; os.setsid()", "open('/etc/shadow')", f"os.kill({os.getpid()}, 0)")  # fmt: skip
    try:
        result = work.run(pool, work.Job(notebook(*cells), Limits(), allow_unsandboxed=True))
        with pytest.raises(work.Unsafe, match="the process was not forked"):
            work.run(pool, work.Job(notebook("1"), Limits()))
    finally:
        pool.close()
    layers = {layer.name: layer for layer in result.layers}
    assert {name for name in sandbox.NAMES if not layers[name].on} <= {
        "mount",
        "pid",
        "net",
        "ipc",
        "user",
        "landlock",
    }
    assert all(
        layers[name].reason == "the process was not forked"
        for name in ("mount", "pid", "net", "ipc")
    )
    if layers["landlock"].on:
        texts = [text_of(cell).partition(":")[0] for cell in result.notebook.cells]
        assert texts == ["PermissionError"] * len(cells)


ENGINE = """
import sys, time
from nbformat.v4 import new_code_cell, new_notebook
from grader.engine import work
from grader.engine.limits import Limits
from grader.engine.spawned import Spawned
pool = Spawned(tensorflow=False)
cell = new_code_cell("import time; open('started', 'w'); time.sleep(600)")
work.run(pool, work.Job(new_notebook(cells=[cell]), Limits(), allow_unsandboxed=True))
"""


def test_all_end_with_an_engine_that_is_killed(tmp_path):
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE], env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    started = "grader-engine-scratch-*/work/started"
    assert eventually(lambda: engine.poll() is not None or list(tmp_path.glob(started)))
    assert engine.poll() is None
    left = [each.pid for each in psutil.Process(engine.pid).children(recursive=True)]
    assert len(left) >= 2  # one runs, one waits
    engine.kill()
    engine.wait()
    assert all(gone(pid) for pid in left)


def test_a_family_has_orphans_in_it_and_is_killed_whole():
    code = "sleep 600 & (sleep 600 & echo $!); echo $!; sleep 600"
    head = subprocess.Popen(["sh", "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    orphan, child = (int(head.stdout.readline()) for _ in range(2))
    assert {head.pid, orphan, child} <= set(family.members(head.pid))
    assert family.resident(head.pid) > 0
    family.kill(head.pid)
    assert all(gone(pid) for pid in (head.pid, orphan, child))
    assert head.wait() == -signal.SIGKILL
    head.stdout.close()
    assert family.resident(head.pid) == 0
    assert family.members(0) == []


@pytest.mark.parametrize("poll", [True, False])
def test_waiting_with_poll_and_without(monkeypatch, poll):
    if not poll:
        monkeypatch.delattr("select.poll")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        readable = waiting.readable(ours)
        assert not readable(0)
        theirs.send(b"x")
        assert readable(0)
        assert readable(None)
