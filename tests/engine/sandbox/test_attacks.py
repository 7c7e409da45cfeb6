"""What a submission must not be able to do, tried in the sandbox it really gets."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from grader.engine import sandbox
from grader.engine.host import wait_ready
from grader.engine.limits import Limits
from tests.eventually import eventually

TRY = """
def attempt(what):
    try:
        print('GOT', what())
    except BaseException as error:
        print('DENIED', type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def full(zygote, all_on):
    """The layers of a full sandbox, which these tests are about."""
    process = zygote.spawn(Limits())
    layers = [sandbox.Layer(**layer) for layer in wait_ready(process, Limits())["layers"]]
    process.kill()
    return all_on(layers)


@pytest.fixture
def attack(full, run):
    def attack(*lines, **limits):
        """The outcome of each attempt: what it printed."""
        cell = "\n".join([TRY, *(f"attempt(lambda: {line})" for line in lines)])
        result = run(cell, **limits)
        said = [out.text for out in result.notebook.cells[0].outputs if out.name == "stdout"]
        texts = "".join(said).splitlines()  # on stderr Python 3.12 and later warn of forks
        assert len(texts) == len(lines), texts
        return texts

    return attack


def test_the_report_names_every_layer(full):
    assert [layer.name for layer in full] == list(sandbox.NAMES[:-1])  # memory is held from outside
    line = sandbox.report([sandbox.Layer("user", True), sandbox.Layer("net", False, "refused")])
    assert line == "sandbox: user: on; net: OFF (refused)"


def test_the_course_and_the_system_are_not_readable(attack, secret_course):
    places = [
        secret_course / "solutions/ch/ch.ipynb", secret_course / "submitted/bob/ch/ch.ipynb",
        secret_course / "gradebook.db", secret_course / ".course_key", "/etc/shadow",
        "/etc/ssh/ssh_host_rsa_key", Path.home() / ".bashrc",
        Path.home() / ".ssh/id_rsa", "/var/log/syslog", "/dev/mem", "/dev/kmsg", "/proc/kcore",
        "/run/docker.sock",
    ]  # fmt: skip
    for place, text in zip(
        places, attack(*(f"open({str(p)!r}).read()" for p in places)), strict=True
    ):
        assert text.startswith("DENIED"), (place, text)
        assert "SECRET" not in text


def test_what_a_learner_needs_is_readable(attack):
    got = attack(
        "open('/course/data/words.json').read()", "__import__('grader').__file__",
        "__import__('numpy').__version__",
    )  # fmt: skip
    assert got[0] == "GOT PUBLIC"
    assert all(text.startswith("GOT") for text in got)


def test_the_command_line_names_no_place_of_the_course(attack, secret_course):
    (told,) = attack("open('/proc/self/cmdline').read().split(chr(0))")
    assert told.startswith("GOT")
    assert str(secret_course) not in told
    assert "hidden" not in told


def test_no_secret_of_the_environment_is_handed_down(full, tmp_path, monkeypatch):
    from nbformat.v4 import new_code_cell, new_notebook

    from grader.engine import work
    from grader.engine.host import Zygote

    monkeypatch.setenv("JUPYTER_TOKEN", "SECRET-TOKEN")
    own = Zygote(tensorflow=False)
    nb = new_notebook(
        cells=[
            new_code_cell("import os; print(dict(os.environ), open('/proc/self/environ').read())")
        ]
    )
    work.run(own, work.Job(nb, Limits()))
    own.close()
    assert "SECRET" not in nb.cells[0].outputs[0].text
    assert "HOME" in nb.cells[0].outputs[0].text


def test_nothing_outside_the_scratch_directory_can_be_written(attack, secret_course):
    places = ["/usr/x", "/etc/passwd", "/x", "/course/data/words.json", "/course/data/new",
              sys.prefix + "/x", str(secret_course / "x"), "/proc/sys/kernel/hostname",
              "/sys/x", "/home/x", "/dev/x"]  # fmt: skip
    for text in attack(*(f"open({place!r}, 'w').write('x')" for place in places)):
        assert text.startswith("DENIED"), text
    assert (secret_course / "data/words.json").read_text() == "PUBLIC"
    assert (
        attack("open('x', 'w').write('x')", "open('/dev/shm/x', 'w').write('x')") == ["GOT 1"] * 2
    )


def test_no_network_not_even_loopback(attack):
    server = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0grader-test-abstract")
    abstract.listen()
    port = server.getsockname()[1]
    texts = attack(
        f"__import__('socket').create_connection(('127.0.0.1', {port}), 2)",
        "__import__('socket').socket(2, 2).sendto(b'x', ('127.0.0.1', 9))",
        "__import__('socket').socket(10, 1).connect(('::1', 9))",
        "__import__('socket').socket(16, 3, 0)", "__import__('socket').socket(17, 3, 0)",
        "__import__('socket').socket(1).connect('\\0grader-test-abstract')",
        "__import__('urllib.request').request.urlopen('http://1.1.1.1', timeout=2)",
    )  # fmt: skip
    server.close()
    abstract.close()
    assert all(text.startswith("DENIED") for text in texts), texts


def test_other_processes_are_neither_seen_nor_touched(attack):
    victim = subprocess.Popen(["sleep", "60"])
    texts = attack(
        "[p for p in __import__('os').listdir('/proc') if p.isdigit() and p != '1']",
        f"__import__('os').kill({victim.pid}, 9)", f"__import__('os').kill({os.getpid()}, 9)",
        "__import__('os').getppid()",
        f"open('/proc/{os.getpid()}/mem', 'rb').read(1)",
        f"__import__('os').pidfd_open({victim.pid})",
    )  # fmt: skip
    assert victim.poll() is None
    victim.kill()
    victim.wait()
    assert texts[0] == "GOT []"
    assert texts[3] == "GOT 0"
    assert all(text.startswith("DENIED") for text in (*texts[1:3], *texts[4:]))


def test_killing_everything_in_sight_kills_only_oneself(run, full):
    result = run("import os, signal\nos.kill(-1, signal.SIGKILL)", "'still here'")
    assert "ProcessLookupError" in result.texts[0]
    assert result.texts[1] == "'still here'"
    assert run("'next'").texts == ["'next'"]


LIBC = "import ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)"
DENIED_CALLS = {
    "mount": "mount(b'x', b'/tmp', b'tmpfs', 0, None)",
    "umount": "umount2(b'/proc', 2)",
    "unshare": "unshare(0x10000000)",
    "ptrace": "ptrace(0, 0, 0, 0)",
    "bpf": "syscall(321, 0, 0, 0)",
    "io_uring": "syscall(425, 8, 0)",
    "keyctl": "syscall(250, 0, 0)",
    "perf": "syscall(298, 0, 0, 0, 0, 0)",
    "userfaultfd": "syscall(323, 0)",
    "process_vm_readv": "syscall(310, 1, 0, 0, 0, 0, 0)",
    "chroot": "chroot(b'/tmp')",
    "sethostname": "sethostname(b'x', 1)",
    "clone into namespaces": "syscall(56, 0x10000011, 0, 0, 0, 0)",
    "semget": "semget(0, 10, 0o600)",
    "msgget": "msgget(0, 0o600)",
    "signal of the parent's end": "prctl(1, 0)",
    "the same, with an odd upper half": "syscall(157, ctypes.c_long((7 << 32) + 1), 0)",
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="system call numbers of x86-64")
def test_the_kernels_sharper_tools_are_out_of_reach(run, full):
    """By name: another error than this would be about their arguments."""
    said = "(libc.{}, errno.errorcode.get(ctypes.get_errno()))"
    result = run(LIBC, *(said.format(call) for call in DENIED_CALLS.values()))
    told = dict(zip(DENIED_CALLS, result.texts[1:], strict=True))
    assert told == dict.fromkeys(DENIED_CALLS, "(-1, 'EPERM')")


def test_no_other_user_is_to_be_had(run, full):
    """The kernel knows of no root in there."""
    result = run(LIBC, "(libc.setuid(0), errno.errorcode.get(ctypes.get_errno()))", "libc.getuid()")
    assert result.texts[1] == "(-1, 'EINVAL')"
    assert result.texts[2] != "0"


def test_no_way_back_to_root(attack):
    texts = attack(
        "open('/proc/self/status').read().splitlines()",
        "__import__('subprocess').run(['su', '-c', 'id'], capture_output=True).returncode != 0",
    )
    assert texts[-1] == "GOT True"
    status = dict(line.split(":\t") for line in eval(texts[0].removeprefix("GOT ")))
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    sets = {name: int(held, 16) for name, held in status.items() if name.startswith("Cap")}
    assert sets == dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0)


def test_no_lease_holds_up_who_opens_a_file_of_the_course(attack):
    (text,) = attack(
        "__import__('fcntl').fcntl(open('/course/data/words.json'), 1024, 1)",
    )
    assert text.startswith("DENIED PermissionError")


def test_all_processes_stay_in_one_session(attack):
    """Each session has a part of the processor of its own, where autogroups are on."""
    texts = attack(
        "__import__('subprocess').run(['echo'], start_new_session=True)",
        "__import__('os').fork() or __import__('os')._exit(__import__('ctypes').CDLL(None).setsid() + 1)",
        "__import__('os').waitstatus_to_exitcode(__import__('os').wait()[1])",
        "__import__('os').getsid(0) == __import__('os').getpid()",
    )
    assert texts[0].startswith("DENIED PermissionError")
    assert texts[2:] == ["GOT 0", "GOT True"]


# One cell each: what a learner's libraries do to their own process and files.
ALLOWED = (
    "import os, resource; resource.setrlimit(resource.RLIMIT_NOFILE, (100, 512))",
    "print(resource.prlimit(0, resource.RLIMIT_NOFILE))",
    "os.nice(1), os.sched_setaffinity(0, os.sched_getaffinity(0))",
    "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))",
    "import psutil; psutil.Process().cpu_percent(); psutil.Process().memory_info()",
    "import shutil; open('a', 'w').write('x'); shutil.copy2('a', 'b'); shutil.copytree('.', '../copy')",
    "import zipfile, tarfile\nwith tarfile.open('a.tar', 'w') as t: t.add('b')\n"
    "with tarfile.open('a.tar') as t: t.extractall('out')",
    "import subprocess; print(subprocess.run(['cp', '-r', '--preserve=mode,timestamps', 'out', 'out2'], check=True))",
    "import asyncio; print(await asyncio.create_subprocess_shell('true'))",
    "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))",
    "!echo from the shell",
    "%%bash\necho from bash | cat",
)
POOL = "import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [-1, -2]))"  # /dev/shm


def test_what_libraries_do_to_their_own_process_stays_allowed(run, full):
    result = run(*ALLOWED, POOL)
    assert result.fault is None
    for source, cell in zip((*ALLOWED, POOL), result.notebook.cells, strict=True):
        assert not any(output.output_type == "error" for output in cell.outputs), (source, cell)
    assert result.texts[-3:] == ["from the shell\r\n", "from bash\n", "[1, 2]\n"]


def test_a_shell_command_at_its_limit_is_interrupted(run, full):
    result = run("!sleep 600", "!sleep 600; echo on", "'after'", job={"traits": {"timeout": 1}})
    assert result.fault is None
    assert all("CellTimeoutError" in text for text in result.texts[:2])
    assert result.texts[2] == "'after'"


def test_bombs_stay_inside(run, full):
    fork = "import os, time\nn = 0\ntry:\n    while n < 5000:\n        if os.fork() == 0: time.sleep(60)\n        n += 1\nexcept OSError: pass\nprint('forked', n)"
    result = run(fork, job={"traits": {"timeout": 20}})
    assert int(result.texts[0].split("forked")[1].split()[0]) < 250
    threads = "import threading, time\nn = 0\ntry:\n    while n < 5000:\n        threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); n += 1\nexcept RuntimeError: pass\nprint('threads', n)"
    result = run(threads, job={"traits": {"timeout": 20}})
    assert int(result.texts[0].split("threads")[1].split()[0]) < 250
    memory = "x = []\nwhile True: x.append(bytearray(1 << 26))"
    result = run(memory, memory=1 << 30, job={"traits": {"timeout": 30}})
    assert "MemoryError" in result.texts[0] or result.fault
    assert run("'next'").texts == ["'next'"]


def test_disk_and_inodes_are_bounded(run, full):
    one = "try:\n    with open('big', 'wb') as f:\n        while True: f.write(b'x' * (1 << 20))\nexcept OSError as e: print('stopped', e.errno)"
    many = "import os\ntry:\n    for i in range(10**7): os.close(os.open(f'f{i}', os.O_CREAT))\nexcept OSError as e: print('stopped', e.errno)"
    assert "stopped" in run(one).texts[0]
    assert "stopped" in run(many, inodes=2000).texts[0]


def test_nothing_outlives_the_notebook(run, full):
    marker = f"grader-daemon-{os.getpid()}-{time.time_ns()}"
    daemon = (
        "import os, sys, subprocess\nif os.fork() == 0:\n"
        f"    os.execv('/bin/sh', ['{marker}', '-c', 'sleep 300'])\nprint('started')"
    )
    result = run(daemon)
    assert "started" in result.texts[0]
    assert eventually(lambda: not _running(marker)), _running(marker)


def _running(marker):
    """The state of every process with the marker in its command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in entry.read_bytes():
                found.append((entry.parent / "status").read_text()[:300])
        except OSError:
            continue
    return found


def test_children_do_not_see_one_another(zygote, full):
    one, two = (zygote.spawn(Limits()) for _ in range(2))
    try:
        for process in (one, two):
            wait_ready(process, Limits())
        spaces = [
            {os.readlink(f"/proc/{_outer(p)}/ns/{kind}") for kind in ("pid", "net", "mnt", "ipc")}
            for p in (one, two)
        ]
        assert not spaces[0] & spaces[1]
    finally:
        one.kill()
        two.kill()


def _outer(process):
    """The child's pid as this test sees it."""
    for line in Path(f"/proc/self/fdinfo/{process.pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    raise AssertionError("no pid")


def test_killing_the_engine_kills_its_children(tmp_path):
    """A parent that is killed -9 leaves nothing behind."""
    code = (
        "from grader.engine.host import Zygote, wait_ready\nfrom grader.engine.limits import Limits\n"
        "z = Zygote(tensorflow=False); p = z.spawn(Limits()); wait_ready(p, Limits())\n"
        "print(z.process.pid, flush=True); input()"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
    warm = psutil.Process(int(parent.stdout.readline()))
    family = [warm, *warm.children(recursive=True)]
    assert len(family) >= 2
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    assert eventually(lambda: not any(each.is_running() for each in family))
