"""Where namespaces are to be had but no file system in them, all of them are left alone."""

import json
import os
import subprocess
import sys

import pytest

from grader.engine.sandbox import trial

# Kernels before 5.12 have no mount_setattr; a container with masked parts of /proc lets nobody mount
# it, and is stood for by one that lets nobody mount at all.
PROGRAM = """
import errno, json, os, sys
import pyseccomp
from nbformat.v4 import new_code_cell, new_notebook
from grader.engine import places, work
from grader.engine.host import Zygote
from grader.engine.limits import Limits

rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
rules.add_rule(pyseccomp.ERRNO(errno.{errno}), "{call}")
rules.load()
z = Zygote(tensorflow=False)
z.start()
job = work.Job(new_notebook(cells=[new_code_cell("import os; os.getpid()")]), Limits(), allow_unsandboxed=True)
result = work.run(z, job)
told = {{"namespaced": z.namespaced, "fault": result.fault, "home": os.listdir(z.folder.path),
        "layers": {{each.name: [each.on, each.reason] for each in result.layers}}}}
z.close()
print(json.dumps(told))
"""
CALLS = [("mount", "EPERM"), ("mount_setattr", "ENOSYS"), ("pivot_root", "EPERM")]


@pytest.fixture(params=["me", "nobody"])
def without(request):
    """What comes of a run without one system call, as the user who tests and an ordinary one."""

    def without(call, errno):
        code = PROGRAM.format(call=call, errno=errno)
        if request.param == "nobody":
            if os.geteuid() != 0:
                pytest.skip("this is the same user")
            done = request.getfixturevalue("as_nobody")(code)
        else:
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, cwd="/"
            )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return without


@pytest.mark.parametrize(("call", "errno"), CALLS)
def test_it_runs_without_namespaces_and_says_which_call_was_refused(without, call, errno):
    told = without(call, errno)
    assert not told["namespaced"]
    assert told["fault"] is None
    for name in ("mount", "pid", "net", "ipc"):
        on, reason = told["layers"][name]
        assert not on
        assert reason.startswith(("unshare", call))  # unshare: where no namespace is to be had
        assert "trial-" not in reason
    assert all(told["layers"][name][0] for name in ("seccomp", "caps", "rlimits"))
    assert not [name for name in told["home"] if name.startswith(("trial-", "root-"))]


# The tests' process may have threads of its runner, which no fork here needs.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_what_is_tried_is_another_process(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    before = os.readlink("/proc/self/ns/mnt")

    def refused():
        assert os.getpid() != me
        raise PermissionError(1, f"not in {os.listdir(tmp_path)[0]}")

    me = os.getpid()
    with pytest.raises(OSError, match="not in trial-"):
        trial.trial(refused)
    with pytest.raises(OSError, match="ended with"):
        trial.trial(lambda: os.kill(os.getpid(), 9))
    with pytest.raises(OSError, match="ValueError: odd"):
        trial.trial(lambda: exec("raise ValueError('odd')"))
    monkeypatch.setattr(trial.root, "build_root", lambda *_: os.kill(os.getpid(), 9))
    with pytest.raises(OSError, match="ended with"):
        trial.trial(lambda: None)
    monkeypatch.setattr(trial.root, "build_root", lambda *_: None)
    trial.trial(lambda: None)
    assert os.readlink("/proc/self/ns/mnt") == before
    assert os.listdir(tmp_path) == []
