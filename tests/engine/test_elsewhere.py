"""macOS and Windows, as far as Linux can play them: what they lack is taken away, then all is as it was."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Before anything of grader is imported. asyncio and psutil look at their own system as they load;
# SIGKILL stays, as the standard library kills by it; sys.platform "win32" would break asyncio.
TAKEN_AWAY = """
import asyncio, multiprocessing.util, os, platform, psutil, select, shutil, signal, socket, subprocess, sys
import urllib.request, send2trash  # these would ask for parts of a Mac
sys.modules.update(fcntl=None, resource=None)
import nbgrader.apps, ipykernel.kernelapp, matplotlib.pyplot
sys.modules.update(pwd=None, grp=None)  # nbgrader imports them wherever sys.platform is not "win32"
shutil._use_fd_functions = False  # as where the flags below are missing
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
os.process_cpu_count = os.cpu_count  # Python 3.13's, where there is no affinity to ask for
sys.platform, platform.mac_ver = "darwin", lambda: ("10.8", (), "")  # before App Nap
"""
IMPORTS = "import importlib\nfor name in %r: importlib.import_module(name)\nprint(len(%r))"
ENGINE = """
import json, os, pathlib
from grader.engine import meeting, processes, warm
from grader.cli import app
from typer.testing import CliRunner
meeting.COMMAND[2:] = ["-c", %(taken_away)r + "from grader.engine import single; single.main()"]
processes.PROC = "/nowhere"
root = pathlib.Path(%(root)r)
os.chdir(root)
"""
GRADES = """
from grader.engine.batch import GradingError, grade, probe_sandbox
from grader.engine.journal import Busy, Journal
told = {}
try:
    grade(root, "ps")
except GradingError as error:
    told["refused"] = str(error)
for each in grade(root, "ps", jobs=2, allow_unsandboxed=True).outcomes:
    told[each.student] = [each.state, each.kind, each.score]
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
JUDGES = """
from grader.cli.app import chosen
from grader.grading import make_class
course, (chapter,) = chosen(None)
make_class(course, chapter, 5)
options = "--json --jobs 1 --allow-unsandboxed --student demo-01 --student demo-05".split()
done = CliRunner().invoke(app, ["grade", *options])
warm.close()
told = [json.loads(line) for line in done.output.splitlines()]
graded = {line["student"]: line["score"] for line in told if line.get("state") == "graded"}
print(json.dumps([done.exit_code, graded]))
"""
ANSWERS = {
    "right": {
        "mul": "import os\nos.system('echo from C')\nprint('from Python')\ndef mul(a, b): return a * b"
    },
    "wrong": {"add": "def add(a, b): return 0", "mul": "while True: pass"},
    "sleep": {"mul": "import time; time.sleep(600)"},
    "crash": {"mul": "import os; os.abort()"},
}


def play(code, root=None, temporary=None):
    """The last line that `code` prints on such a system; the course at `root`, if it is named."""
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": "/nowhere"}
    if root is not None:
        child = TAKEN_AWAY.replace("nbgrader.apps, ", "")
        code = ENGINE % {"root": str(root), "taken_away": child} + code
        environment["TMPDIR"] = str(temporary)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", TAKEN_AWAY + code],
                          capture_output=True, text=True, env=environment)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def temporary(tmp_path):
    """Where all temporary files go; nothing is left there."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def test_every_module_of_the_engine_can_be_imported():
    paths = (ROOT / "grader/engine").rglob("*.py")
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    found = sorted(name.removesuffix(".__init__") for name in names)
    assert "grader.engine.zygote" in found
    assert play(IMPORTS % (found, found)) == len(found)


def test_grading_goes_on_and_says_what_is_missing(tiny, temporary):
    for student, answers in ANSWERS.items():
        tiny.submit(student, p2=None, **answers)
    told = play(GRADES, tiny.root, temporary)
    assert told["right"] == ["graded", "", 5]
    assert "from C\nfrom Python\n" in str(tiny.autograded("right").cells[2].outputs[0].text)
    assert told["wrong"] == ["graded", "", 0]  # interrupted: the next cell has run
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
    assert told["left"] == []


def test_the_command_line_grades_a_chapter_and_the_judge_decides(mini, tmp_path, temporary):
    root = shutil.copytree(mini.root, tmp_path / "mini")
    code, scores = play(JUDGES, root, temporary)
    assert code == 0
    assert scores["demo-01"] == 100  # the solution
    assert 0 < scores["demo-05"] < 100  # mistakes of several kinds
