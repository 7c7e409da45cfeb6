"""Control groups: when one may be used, and (in a small Linux of its own) that it holds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.engine import cgroup
from grader.engine.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
# A kernel that runs as a process (Debian's user-mode-linux), with groups that are nobody else's.
# Its root is this host's, read-only.
INIT = """#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys
for place in /run /var/tmp /dev/shm; do mkdir -p $place; mount -t tmpfs tmp $place; done
echo 1 > /proc/sys/kernel/printk
{mount}
export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/run PYTHONDONTWRITEBYTECODE=1
export GRADER_SMALL_MACHINE=1 {variable}
cd {root}
{python} -m pytest -q --color=no -p no:cacheprovider --basetemp=/run/p -k cgroup \
  tests/engine/test_memory.py 2>&1
echo "left over: [$(find {group} -mindepth 1 -name 'child-*')]"
echo o > /proc/sysrq-trigger; sleep 9
"""
MOUNTS = {
    "version 1": (
        "mount -t tmpfs cg /sys/fs/cgroup; mkdir /sys/fs/cgroup/memory\n"
        "mount -t cgroup -o memory memory /sys/fs/cgroup/memory; mkdir /sys/fs/cgroup/memory/own",
        "GRADER_CGROUP=/sys/fs/cgroup/memory/own", "/sys/fs/cgroup/memory/own",
    ),
    "version 2": (
        "mount -t cgroup2 cg /sys/fs/cgroup\n"
        "echo '+memory +pids' > /sys/fs/cgroup/cgroup.subtree_control; mkdir /sys/fs/cgroup/own",
        "GRADER_CGROUP=/sys/fs/cgroup/own", "/sys/fs/cgroup/own",
    ),
    "delegated": (
        "mount -t cgroup2 cg /sys/fs/cgroup\n"
        "echo '+memory +pids' > /sys/fs/cgroup/cgroup.subtree_control; mkdir /sys/fs/cgroup/own\n"
        "echo $$ > /sys/fs/cgroup/own/cgroup.procs\n"
        """{python} -c "import os; os.setxattr('/sys/fs/cgroup/own', 'trusted.delegate', b'1')" """,
        "", "/sys/fs/cgroup/own",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", MOUNTS)
def test_the_kernel_holds_the_limit(kind, tmp_path):
    linux = shutil.which("linux.uml")
    if linux is None:
        pytest.skip("Debian's user-mode-linux is not installed")
    mount, variable, group = MOUNTS[kind]
    mount = mount.replace("{python}", sys.executable)
    init = tmp_path / "init"
    init.write_text(INIT.format(mount=mount, variable=variable, group=group, root=ROOT,
                                python=sys.executable))  # fmt: skip
    init.chmod(0o755)
    done = subprocess.run(
        [linux, "mem=4G", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={init}",
         "con=null", "con0=fd:0,fd:1"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        cwd=tmp_path, timeout=500, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    told = done.stdout[-3000:]
    assert "\n5 passed" in told, told
    assert "left over: []" in told, told


@pytest.fixture(autouse=True)
def asked_anew(monkeypatch):
    monkeypatch.delenv(cgroup.NAMED, raising=False)
    cgroup.parent.cache_clear()
    yield
    cgroup.parent.cache_clear()


def test_no_group_is_used_that_was_not_given(tmp_path, monkeypatch):
    own = tmp_path / "user.slice/session"
    own.mkdir(parents=True)
    (tmp_path / "own").write_text("4:memory:/x\n0::/user.slice/session\n")
    monkeypatch.setattr(cgroup, "V2", tmp_path)
    monkeypatch.setattr(cgroup, "OWN", tmp_path / "own")
    assert cgroup.parent() is None
    assert cgroup.enter(os.getpid(), Limits()) is None
    assert list(own.iterdir()) == []


def test_a_delegated_group_is_found_and_the_engine_moves_one_down(tmp_path, monkeypatch):
    own = tmp_path / "user.slice/scope"
    own.mkdir(parents=True)
    (tmp_path / "own").write_text("0::/user.slice/scope\n")
    (own / "cgroup.procs").write_text("")
    try:
        os.setxattr(own, "user.delegate", b"1")
    except OSError:
        pytest.skip("no extended attributes here")
    monkeypatch.setattr(cgroup, "V2", tmp_path)
    monkeypatch.setattr(cgroup, "OWN", tmp_path / "own")
    assert cgroup.parent() == cgroup.Parent(own, 2)
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert (own / "engine").is_dir()
    cgroup.parent.cache_clear()
    (tmp_path / "own").write_text("0::/user.slice/scope/engine\n")  # a second engine
    assert cgroup.parent() == cgroup.Parent(own, 2)


def test_a_group_that_cannot_be_used_leaves_the_limit_to_the_watchdog(tmp_path, monkeypatch):
    monkeypatch.setenv(cgroup.NAMED, str(tmp_path / "missing"))
    assert cgroup.parent() is None
    cgroup.parent.cache_clear()
    (tmp_path / "memory.limit_in_bytes").write_text("0")
    monkeypatch.setenv(cgroup.NAMED, str(tmp_path))
    assert cgroup.parent() == cgroup.Parent(tmp_path, 1)
    assert cgroup.enter(os.getpid(), Limits()) is None  # no cgroup.procs: a plain directory
    assert [path.name for path in tmp_path.iterdir()] == ["memory.limit_in_bytes"]


@pytest.mark.parametrize(
    ("version", "name", "text", "count"),
    [
        (1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", 3),
        (2, "memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\noom_group_kill 1\n", 2),
        (2, "other", "", 0),
    ],
)
def test_what_the_kernel_killed_is_read(tmp_path, version, name, text, count):
    (tmp_path / name).write_text(text)
    assert cgroup.Group(tmp_path, version).kills() == count


def test_a_group_that_could_not_be_made_is_not_waited_for_at_the_end(tmp_path, monkeypatch):
    given = tmp_path / "given"
    given.mkdir()
    (given / "memory.limit_in_bytes").write_text("0")
    monkeypatch.setenv(cgroup.NAMED, str(given))
    assert cgroup.parent() == cgroup.Parent(given, 1)
    shutil.rmtree(given)
    assert cgroup.enter(os.getpid(), Limits()) is None
    assert cgroup._left == []
