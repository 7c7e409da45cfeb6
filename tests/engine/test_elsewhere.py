"""macOS and Windows, as far as Linux can play them: what they lack is taken away, then all is as it was."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Before anything of grader is imported. asyncio and psutil look at their own system as they load;
# SIGKILL stays, as the standard library kills by it; sys.platform "win32" would break asyncio.
TAKEN_AWAY = """
import asyncio, multiprocessing.util, os, platform, psutil, select, signal, socket, subprocess, sys
sys.modules.update(fcntl=None, resource=None)
import nbgrader.apps, ipykernel.kernelapp, matplotlib.pyplot
sys.modules.update(pwd=None, grp=None)  # nbgrader imports them wherever sys.platform is not "win32"
pair, family = socket.socketpair, socket.AF_UNIX
socket.socketpair = lambda *_: pair(family)  # what asyncio wakes itself by: on Windows by TCP
for module, names in (
    (os, "fork forkpty setsid getsid killpg getpgid getuid geteuid getgid getegid setresuid setresgid "
         "setgroups chown pidfd_open sched_getaffinity memfd_create sysconf O_NOFOLLOW O_NONBLOCK"),
    (signal, "pidfd_send_signal pthread_kill"), (select, "poll epoll"),
    (socket, "AF_UNIX SOCK_SEQPACKET send_fds recv_fds"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
sys.platform, platform.mac_ver = "darwin", lambda: ("10.8", (), "")  # before App Nap
"""
IMPORTS = "import importlib\nfor name in %r: importlib.import_module(name)\nprint(len(%r))"
GRADES = """
import json, pathlib
from grader.engine import meeting, processes, warm
meeting.COMMAND[2:] = ["-c", %(taken_away)r + "from grader.engine import single; single.main()"]
processes.PROC = "/nowhere"
root = pathlib.Path(%(root)r)
from grader.engine.batch import GradingError, grade, probe_sandbox
from grader.engine.journal import Busy, Journal
told = {}
try:
    grade(root, "ps")
except GradingError as error:
    told["refused"] = str(error)
for each in grade(root, "ps", jobs=2, allow_unsandboxed=True).outcomes:
    told[each.student] = [each.state, each.kind, each.score]
from typer.testing import CliRunner
from grader.cli import app
told["doctor"] = CliRunner().invoke(app, ["doctor"]).output
with Journal(root).locked():
    try:
        Journal(root).locked().__enter__()
    except Busy:
        told["locked"] = True
warm.close()
told["left"] = [each.pid for each in psutil.Process().children(recursive=True)]
print(json.dumps(told))
"""
ANSWERS = {
    "right": {
        "mul": "import os\nos.system('echo from C')\nprint('from Python')\ndef mul(a, b): return a * b"
    },
    "wrong": {"add": "def add(a, b): return 0", "mul": "while True: pass"},
    "sleep": {"mul": "import time; time.sleep(600)"},
    "crash": {"mul": "import os; os.abort()"},
}


def play(code, **options):
    """The last line that `code` prints on such a system."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", TAKEN_AWAY + code],
                          capture_output=True, text=True, **options)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_module_of_the_engine_can_be_imported():
    paths = (ROOT / "grader/engine").rglob("*.py")
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    found = sorted(name.removesuffix(".__init__") for name in names)
    assert "grader.engine.zygote" in found
    assert play(IMPORTS % (found, found)) == len(found)


def test_grading_goes_on_and_says_what_is_missing(tiny, tmp_path):
    for student, answers in ANSWERS.items():
        tiny.submit(student, p2=None, **answers)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(tiny.root / "none"),
        "TMPDIR": str(temporary),
    }
    code = GRADES % {
        "root": str(tiny.root),
        "taken_away": TAKEN_AWAY.replace("nbgrader.apps, ", ""),
    }
    told = play(code, cwd=tiny.root, env=environment)
    assert told["right"] == ["graded", "", 5]
    assert "from C\nfrom Python\n" in str(tiny.autograded("right").cells[2].outputs[0].text)
    # Interrupted, so the next cell has run: its own assertion (or none) is what it shows.
    assert told["wrong"] == ["graded", "", 0]
    assert tiny.autograded("wrong").cells[3].outputs[0].ename == "NameError"
    assert told["sleep"] == ["fault", "timeout", 2]  # no signal wakes it: killed
    assert told["crash"] == ["fault", "died", 2]
    for name in ("user", "mount", "pid", "net", "ipc", "caps", "seccomp", "landlock", "rlimits"):
        assert f"{name}: OFF (darwin has none)" in told["refused"]
        assert f"{name}: OFF (darwin has none). Missing: " in told["doctor"]
    assert "--allow-unsandboxed" in told["refused"]
    assert "WSL2" in told["doctor"]
    assert "memory: on" in told["doctor"]
    assert told["locked"] is True
    assert told["left"] == list(temporary.iterdir()) == []
