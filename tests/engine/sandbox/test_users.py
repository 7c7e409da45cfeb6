"""Submissions are users of their own also where root may not leave its namespaces, as in a container."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from grader.engine import sandbox
from grader.engine.sandbox import users

PROGRAM = """
import json
from pathlib import Path
from grader.engine.host import Zygote, wait_ready
from grader.engine.limits import Limits
from grader.engine.processes import outer_pid

z = Zygote(tensorflow=False)
children = [z.spawn(Limits()) for _ in range(2)]
ready = [wait_ready(child, Limits()) for child in children]
who = [Path(f"/proc/{outer_pid(child.pidfd)}").stat().st_uid for child in children]
groups = [Path(f"/proc/{outer_pid(child.pidfd)}/status").read_text() for child in children]
told = {"namespaced": z.namespaced, "users": who, "layers": ready[0]["layers"],
        "groups": [text.split("Groups:")[1].splitlines()[0].split() for text in groups]}
for child in children:
    child.kill()
z.close()
print(json.dumps(told))
"""


@pytest.fixture
def without(all_on):
    """What children say of an engine that is root without these capabilities."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root has capabilities to give up, by setpriv")

    def without(*capabilities):
        lost = ",".join(f"-{name}" for name in capabilities)
        done = subprocess.run(
            ["setpriv", "--bounding-set", lost, sys.executable, "-c", PROGRAM],
            capture_output=True, text=True, cwd="/",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout.splitlines()[-1])
        all_on([sandbox.Layer(**each) for each in told["layers"]] + [sandbox.Layer("memory", True)])
        return told

    return without


def test_root_that_may_not_mount_has_a_user_for_each_submission(without):
    told = without("sys_admin")
    assert told["namespaced"]
    assert len(set(told["users"])) == 2
    assert all(users.FIRST <= each <= users.LAST for each in told["users"])
    assert told["groups"] == [[], []]


@pytest.mark.parametrize("lost", ["setuid", "setgid"])
def test_root_that_may_not_change_users_either_has_its_own_alone(without, lost):
    told = without("sys_admin", lost)
    assert told["namespaced"]
    assert told["users"] == [0, 0]


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("0 0 4294967295\n", True),
        ("         0       1000          1\n         1     100000      65536\n", True),
        ("0 0 1\n", False),
        ("0 100000 61200\n", False),
        (f"{users.FIRST} 5 {users.LAST - users.FIRST}\n", False),
        (f"{users.FIRST} 5 {users.LAST - users.FIRST + 1}\n", True),
    ],
)
def test_numbers_that_the_namespace_does_not_know_are_given_to_nobody(text, may, monkeypatch):
    monkeypatch.setattr(users, "_known", lambda what: users._ranges(text))
    monkeypatch.setattr(users, "_capable", lambda: True)
    assert users.may_change() == may
