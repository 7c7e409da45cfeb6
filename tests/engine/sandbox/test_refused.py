"""A host that refuses namespaces: no grading without leave; with it, Landlock, seccomp and limits hold."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.cli.conftest import ANSWER, Class
from tests.engine.sandbox.test_attacks import ALLOWED

# What Docker's default profile and Ubuntu's AppArmor do: every way to a namespace is refused.
REFUSE = """
import pyseccomp
rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for name in ("unshare", "setns", "mount", "umount2", "pivot_root", "mount_setattr"):
    rules.add_rule(pyseccomp.ERRNO(1), name)
rules.load()
"""

ATTEMPTS = {
    "shadow": "open('/etc/shadow')",
    "write": "open('/usr/x', 'w')",
    "home": "os.listdir(os.path.expanduser('~root'))",
    "tmp": "os.listdir('/tmp')",
    "secret": "open(SECRET)",
    "tcp": "import socket; socket.create_connection(('127.0.0.1', 1), 1)",
    "udp": "import socket; socket.socket(2, 2).sendto(b'x', ('127.0.0.1', 9))",
    "unix": "import socket; socket.socket(1).connect('/run/dbus/system_bus_socket')",
    "processes": "os.listdir('/proc')",
    "environment": "open(f'/proc/{os.getppid()}/environ')",
    "signal": "os.kill(os.getppid(), 9)",
    "session": "os.setsid()",
    "group": "os.setpgid(0, 0)",
    "limits": "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)",
    "cores": "os.sched_setaffinity(os.getppid(), {0})",
    "scheduler": "os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0))",
    "parameters": "os.sched_setparam(os.getppid(), os.sched_param(0))",
    "niceness": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "niceness of the user": "os.setpriority(os.PRIO_USER, 0, 19)",
    "disk": "called(libc.syscall(251, 1, os.getppid(), 3 << 13))",
    "disk of the user": "called(libc.syscall(251, 3, 0, 3 << 13))",
    "owner": "os.chown('x', os.getuid(), os.getgid())",
    "attribute": "unsupported(os.setxattr, 'x', 'user.x', b'1')",
    "attribute away": "unsupported(os.removexattr, 'x', 'user.x')",
    "watch": "called(libc.inotify_add_watch(libc.inotify_init(), b'/', 0xfff))",
    "datagram": "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "datagram by another name": "socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)",
    "semaphores": "called(libc.semget(0, 10, 0o600))",
    "messages": "called(libc.msgget(0, 0o600))",
    "lease": "import fcntl; fcntl.fcntl(open('x'), 1024, 1)",
    "parent's end": "called(libc.prctl(1, 0))",
}
CALLED = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def called(result):
    if result < 0: raise OSError(ctypes.get_errno(), "refused")
def unsupported(call, *arguments):
    try: call(*arguments)
    except OSError as error:
        if error.errno == 95: raise PermissionError
print(os.getuid())
"""
DEATH = CALLED + "held = ctypes.c_int(); libc.prctl(2, ctypes.byref(held)); print(held.value)"
# By path, by descriptor, by a folder's descriptor, and as a program does it.
CLOSES = """
os.mkdir('mine'); os.chmod('mine', 0); os.chmod(os.open('mine', 0), 0); os.chmod('mine', 0, dir_fd=os.open('.', 0))
libc.syscall(452, -100, b'mine', 0, 0); os.utime('mine', (1, 1)); os.system('chmod 0 mine; touch -d @1 mine')
print(oct(os.stat('mine').st_mode & 0o700), os.stat('mine').st_mtime > 1)
"""
PROGRAM = (
    REFUSE
    + """
import json, os, sys, time
from nbformat.v4 import new_code_cell, new_notebook
from grader.engine import processes, work
from grader.engine.host import Zygote
from grader.engine.limits import Limits, MIB

def run(*cells, **limits):
    cells = [new_code_cell(source) for source in cells]
    job = work.Job(new_notebook(cells=cells), Limits(grace=5, **limits), allow_unsandboxed=True,
                   traits={"timeout": 20, "interrupt_on_timeout": True})
    return work.run(z, job), [str([o.get("text") or o.get("ename") for o in c.outputs]) for c in cells]

z = Zygote(tensorflow=False)
told = {}
try:
    work.run(z, work.Job(new_notebook(cells=[new_code_cell("1")]), Limits()))
except work.Unsafe as error:
    told["refused"] = str(error)
first, texts = run(%(called)r + "SECRET = %(secret)s", "print(open('x', 'w').write('abc'))",
                   "1/0", "!echo from the shell", *%(attempts)r)
told["allowed"] = run(*%(allowed)r)[0].notebook.cells
told["layers"] = {layer.name: layer.on for layer in first.layers}
told["fault"], told["texts"] = first.fault, texts
forks = "import os, time\\nfor n in range(30):\\n    if os.fork() == 0:\\n        x = bytearray(b'x' * (100 << 20)); time.sleep(60)\\ntime.sleep(60)"
told["memory"] = run(forks, total=512 * MIB)[0].fault
daemon = "import os, time\\nif os.fork() == 0:\\n    if os.fork() == 0: time.sleep(600)\\n    os._exit(0)\\nos.wait(); print('started')"
told["daemon"] = run(daemon)[1]
bomb = "import os, time\\nn = 0\\ntry:\\n    while n < 5000:\\n        if os.fork() == 0: time.sleep(60)\\n        n += 1\\nexcept OSError: pass\\nprint('made', n, 'processes')"
bombed, told["bomb"] = run(bomb)
told["bomb fault"] = bombed.fault
told["next"] = run("'next'")[0].fault
for _ in range(100):
    left = [pid for pid in processes.members(os.getpid())[1:] if pid != z.process.pid and processes.resident(pid)]
    if not left: break
    time.sleep(0.1)
told["left"] = left
z.close()
print(json.dumps(told))
"""
)


def program(secret):
    return PROGRAM % {
        "secret": repr(str(secret)), "called": CALLED, "attempts": list(ATTEMPTS.values()),
        "allowed": [*ALLOWED, DEATH, CLOSES],
    }  # fmt: skip


@pytest.fixture(scope="module", params=["me", "nobody"])
def told(request, tmp_path_factory):
    """What the program says, run as the user who tests (root, maybe) and as an ordinary one."""
    secret = tmp_path_factory.mktemp("course") / "gradebook.db"
    secret.write_text("SECRET")
    if request.param == "me":
        done = subprocess.run(
            [sys.executable, "-c", program(secret)], capture_output=True, text=True, cwd="/"
        )
    else:
        if os.geteuid() != 0:
            pytest.skip("this is the same user")
        done = request.getfixturevalue("as_nobody")(program(secret))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_without_leave_nothing_runs_and_the_report_says_why(told):
    assert told["refused"].startswith("sandbox: ")
    for name in ("mount", "pid", "net", "ipc"):
        assert f"{name}: OFF (unshare: Operation not permitted)" in told["refused"]


def test_with_leave_the_other_layers_hold(told):
    assert told["fault"] is None
    for name in ("caps", "seccomp", "landlock", "rlimits", "memory"):
        assert told["layers"][name], name
    assert not any(told["layers"][name] for name in ("mount", "pid", "net", "ipc"))
    _own, written, error, shell, *attempts = told["texts"]
    assert "3" in written
    assert "ZeroDivisionError" in error
    assert "from the shell" in shell
    for name, text in zip(ATTEMPTS, attempts, strict=True):
        assert text == "['PermissionError']", (name, text)


def test_what_libraries_do_to_their_own_process_stays_allowed(told):
    *allowed, death, closes = told["allowed"]
    for cell in allowed:
        assert "error" not in [output["output_type"] for output in cell["outputs"]], str(cell)
    assert death["outputs"][0]["text"].split()[-1] == "9"  # ends with the warm process
    assert closes["outputs"][0]["text"] == "0o700 True\n"  # it might have been the course's folder


def test_bombs_and_daemons_end_with_the_submission(told):
    assert told["memory"][0] == "memory"
    assert "started" in told["daemon"][0]
    made = re.search(r"made (\d+) processes", told["bomb"][0])
    # By RLIMIT_NPROC, or where the child is root itself and that does not count, by the watchdog.
    assert int(made[1]) < 300 if made else told["bomb fault"][0] == "processes"
    assert told["next"] is None
    assert told["left"] == []


GRADE = (
    REFUSE
    + """
import json
from pathlib import Path
from grader.engine.batch import GradingError, grade, probe_sandbox
told = {"probed": {layer.name: layer.on for layer in probe_sandbox(Path(%(root)r), tensorflow=False)}}
try:
    grade(Path(%(root)r), "ps")
except GradingError as error:
    told["refused"] = str(error)
run = grade(Path(%(root)r), "ps", allow_unsandboxed=True)
told["graded"] = [(each.student, each.state, each.score) for each in run.outcomes]
print(json.dumps(told))
"""
)


def test_grading_asks_for_leave_and_then_grades(tiny):
    tiny.submit("ada")
    tiny.submit("bob", add="def add(a, b):\n    return 0")
    code = GRADE % {"root": str(tiny.root)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["probed"]["seccomp"]
    assert not told["probed"]["mount"]
    assert "mount: OFF (unshare: Operation not permitted)" in told["refused"]
    assert "grader doctor" in told["refused"]
    assert "--allow-unsandboxed" in told["refused"]
    assert "c.EngineExecute.allow_unsandboxed = True" in told["refused"]  # formgrader has no option
    assert sorted(told["graded"]) == [["ada", "graded", 9.0], ["bob", "graded", 7.0]]
    assert tiny.scores("ada") == (9, False)


def test_the_command_tells_the_layers_and_the_way_out(tmp_path):
    pupils = Class(tmp_path / "course")
    pupils.submit(ann=ANSWER)
    for leave, code, says in (([], 2, "--allow-unsandboxed"), (["--allow-unsandboxed"], 0, "")):
        asks = f"{REFUSE}\nfrom grader.cli import app\napp({['grade', *leave]})"
        done = subprocess.run(
            [sys.executable, "-c", asks], capture_output=True, text=True, cwd=pupils.root
        )
        assert (done.returncode, says in done.stderr) == (code, True), done.stderr
        assert "mount: OFF (unshare: Operation not permitted)" in done.stdout
    assert pupils.scores() == {"ann": 3}
