"""The memory of a submission as a whole, with the watchdog and (where one is given) a control group."""

import os
from pathlib import Path

import pytest

from grader.engine import cgroup, memory, processes, sandbox
from grader.engine.host import wait_ready
from grader.engine.limits import MIB, Limits
from grader.engine.sandbox import doctor
from tests.eventually import eventually

# User-mode Linux, where test_cgroup.py runs these tests, gives a process 65,530 pages at most.
SCALE = 5 if "GRADER_SMALL_MACHINE" in os.environ else 1
TOTAL, SIZE = 1024 // SCALE, 200 // SCALE
FORKS = f"""
import os, time
for n in range(30):
    if os.fork() == 0:
        held = bytearray(b'x' * ({SIZE} << 20))
        time.sleep(60)
time.sleep(60)
"""
GROWS = """
import time
held = []
try:
    while True: held.append(bytearray(b'x' * (1 << 24)))
except MemoryError:  # RLIMIT_DATA spoke first
    time.sleep(60)
"""
SHARED = "import mmap\nheld = mmap.mmap(-1, 3 << 30)\nfor n in range(3 << 8): held.write(b'x' * (1 << 22))"
DAEMONS = FORKS.replace(
    "    if os.fork() == 0:\n", "    if os.fork() == 0:\n        if os.fork(): os._exit(0)\n"
)


@pytest.fixture(scope="module")
def given():
    """The control group that the engine was given, or one of version 1 made for these tests."""
    place = Path(f"/sys/fs/cgroup/memory/grader-tests-{os.getpid()}")
    if found := cgroup.parent():
        yield found
        return
    try:
        place.mkdir()
    except OSError:
        pytest.skip(f"no control group was given to this test ({cgroup.NAMED}), none can be made")
    yield cgroup.Parent(place, 1)
    cgroup._last_sweep()  # as at the end of a run
    place.rmdir()


@pytest.fixture(params=["watchdog", "cgroup"])
def held(request, monkeypatch):
    """Who holds the limit."""
    found = request.getfixturevalue("given") if request.param == "cgroup" else None
    monkeypatch.setattr(cgroup, "parent", lambda: found)
    return request.param


@pytest.mark.parametrize(
    "cell", [FORKS, DAEMONS, GROWS, SHARED], ids=["forks", "daemons", "a list", "shared"]
)
def test_what_takes_too_much_together_is_stopped_and_the_next_runs(held, run, zygote, cell):
    result = run("'before'", cell, "'after'", total=TOTAL * MIB)
    assert result.fault == (
        "memory",
        f"its processes together took more than {TOTAL} MiB of memory",
    )
    assert result.texts[0] == "'before'"
    assert all("DeadKernelError" in text and f"{TOTAL} MiB" in text for text in result.texts[1:])
    assert run("'next'").texts == ["'next'"]
    assert eventually(lambda: not living_children(zygote))


# Read in 2 MiB steps, so that each page of zeros needs a page of the tables: 4 KiB of no process.
TABLES = f"""
import mmap, time
space = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
space.madvise(15)  # no huge pages
for at in range(0, {TOTAL} << 29, 1 << 21): space[at]
time.sleep(60)
"""


def test_page_tables_count_too(run, monkeypatch):
    monkeypatch.setattr(cgroup, "parent", lambda: None)
    result = run(TABLES, total=TOTAL * MIB)
    assert result.fault == (
        "memory",
        f"its processes together took more than {TOTAL} MiB of memory",
    )


def test_pages_that_forks_share_count_once(held, run):
    cell = f"""
import os, time, warnings
warnings.simplefilter("ignore")  # Python 3.12 and later warn of forks amid threads
held = bytearray(b'x' * ({SIZE} << 20))
pids = []
while len(pids) < 8:
    pids.append(os.fork())
    if pids[-1] == 0:
        time.sleep(3); os._exit(0)
print(sum(held[::4096]) > 0, [os.waitpid(pid, 0)[1] for pid in pids])
"""
    result = run(cell, total=(TOTAL * 9 // 10) * MIB)
    assert result.fault is None
    assert result.texts == ["True [0, 0, 0, 0, 0, 0, 0, 0]\n"]


def test_memory_of_no_process_is_not_to_be_had(run):
    calls = "import os, ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    shm = "print(libc.shmget(0, 4096, 0o1600), ctypes.get_errno())"
    result = run(calls + "os.memfd_create('x')", calls + shm)
    assert "PermissionError" in result.texts[0]
    assert result.texts[1] == "-1 1\n"


def test_the_sizes_are_those_of_the_processes(zygote):
    process = zygote.spawn(Limits())
    wait_ready(process, Limits())
    try:
        pid = processes.outer_pid(process.pidfd)
        assert processes.members(pid) == [pid]
        assert processes.members(os.getpid())[0] == os.getpid()
        assert zygote.process.pid in processes.members(os.getpid())
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        rss = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
        assert processes.resident(pid) == pytest.approx(rss * 1024, rel=0.1)
        assert 0 < processes.proportional(pid) < processes.resident(pid)
        assert os.getpid() in processes.members(os.getsid(0), by_session=True)
    finally:
        process.kill()
    assert eventually(lambda: processes.resident(pid) == 0)
    assert processes.members(0) == []


def test_what_hides_its_pages_counts_in_full(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "PROC", str(tmp_path))
    (tmp_path / "7").mkdir()
    (tmp_path / "7/statm").write_text("900 10 5 0 0 0 0")
    assert processes.proportional(7) == processes.resident(7) == 10 * processes.PAGE


def test_it_is_among_the_layers_and_doctor_explains_it(run, monkeypatch, tmp_path):
    layer = run("1").layers[-1]
    assert layer.name == "memory" == sandbox.NAMES[-1]
    assert layer.on
    assert "watchdog" in layer.reason or "control group" in layer.reason
    monkeypatch.setattr(cgroup, "parent", lambda: None)
    monkeypatch.setenv(cgroup.NAMED, str(tmp_path))
    told = memory.layer().reason
    assert told.startswith("by a watchdog of the engine, twice a second; GRADER_CGROUP names no")
    assert told.endswith(str(tmp_path))
    monkeypatch.setattr(cgroup, "parent", lambda: cgroup.Parent(Path("/sys/fs/cgroup/x"), 2))
    assert "/sys/fs/cgroup/x" in doctor.doctor([memory.layer()])[-1]
    monkeypatch.setattr(cgroup, "parent", lambda: None)
    assert cgroup.NAMED in doctor.doctor([memory.layer()])[-1]
    (tmp_path / "self").mkdir()
    monkeypatch.setattr(processes, "PROC", str(tmp_path))
    assert not memory.layer().on
    assert "CONFIG_PROC_CHILDREN" in doctor.doctor([memory.layer()])[-1]


def living_children(zygote):
    """Processes below the warm one, without its own init and those that have ended."""
    found = processes.members(zygote.process.pid)[2:]
    return [pid for pid in found if processes.resident(pid)]


class Struck:
    """A child in name only, which does not end at once when it is killed."""

    pidfd, pid, scratch = -1, os.getpid(), None

    def __init__(self):
        self.struck = 0

    def strike(self):
        self.struck += 1


def test_a_child_is_stopped_once_and_its_end_is_told_by_the_reason(monkeypatch):
    monkeypatch.setattr(memory, "members", lambda pid, by_session: [pid])
    guard, watchdog = memory.Guard(Struck(), Limits(total=1)), memory.Watchdog()
    died = ("died", "the process ended")
    assert guard.blame(died) == died
    watchdog.guards.add(guard)
    assert watchdog._look(guard)
    assert not watchdog._look(guard)  # it has a reason
    assert guard.process.struck == 1
    assert guard.blame(died) == guard.blame(None) == ("memory", guard._too_much())
    gone = memory.Guard(Struck(), Limits(total=1))
    watchdog.add(gone)
    watchdog.drop(gone)
    assert not watchdog._look(gone)  # its pidfd may be another's by now
    assert gone.process.struck == 0


def test_too_many_processes_have_a_reason_of_their_own(monkeypatch):
    most = Limits(processes=3)
    for count, reason in ((3 + memory.SPARE, ""), (4 + memory.SPARE, "more than 3 processes at")):
        monkeypatch.setattr(memory, "members", lambda *_, n=count: [0] * n)
        guard = memory.Guard(Struck(), most)
        guard.look()
        assert guard.reason.startswith(reason)
        assert (guard.process.struck, guard.kind) == ((1, "processes") if reason else (0, ""))


def test_of_two_limits_that_one_look_finds_broken_the_first_is_told(monkeypatch):
    most = Limits(processes=3, total=1)
    monkeypatch.setattr(memory, "members", lambda *_: [os.getpid()] * (4 + memory.SPARE))
    guard = memory.Guard(Struck(), most)
    assert guard.look() > guard.most
    assert guard.blame(None)[0] == guard.kind == "processes"
