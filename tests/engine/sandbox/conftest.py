"""Running the engine as somebody who is not root."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress

import pytest

from grader.engine import sandbox

SPACES = "--mount --pid --net --ipc --uts --fork --mount-proc".split()


@pytest.fixture(scope="session")
def all_on():
    """Says whether these layers are a full sandbox. Where the host refuses namespaces to any
    program the test is skipped; where it gives them, a layer that is off is a failure."""
    refused = _refused()

    def all_on(layers):
        if refused and not sandbox.enough(layers):
            pytest.skip(f"{refused}; {sandbox.report(layers)}")
        assert sandbox.enough(layers), sandbox.report(layers)
        return layers

    return all_on


def _refused():
    """Why namespaces are not to be had here, as another program than ours is told; empty where they
    are. Root needs no user namespace, but may have to make do with one."""
    said = "no program `unshare` to ask with"
    for user in ([], ["--user", "--map-root-user"]):
        with suppress(FileNotFoundError):
            asked = subprocess.run(
                ["unshare", *user, *SPACES, "true"], capture_output=True, text=True
            )
            said = asked.stderr.strip()
            if asked.returncode == 0:
                return ""
    return said


@pytest.fixture(scope="session")
def as_nobody(tmp_path_factory):
    """Run Python code as uid 65534; as root through a view of the disk where that uid may read it."""
    if os.geteuid() == 0 and not (shutil.which("unshare") and shutil.which("setpriv")):
        pytest.skip("needs unshare and setpriv to become an ordinary user")
    if (
        os.geteuid() == 0
        and subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode
    ):
        pytest.skip("root may not mount here, and so makes no view for an ordinary user")

    def run(code):
        if os.geteuid() != 0:
            command = [sys.executable, "-c", code]
        else:
            base, place = sys.base_prefix, tmp_path_factory.mktemp("view")
            top = "/" + base.split("/")[1]
            view = (
                f"mount --bind {base} {place} && mount -t tmpfs none {top} && "
                f"mkdir -p {base} && mount --bind {place} {base} && "
                if top not in ("/usr", "/opt")
                else ""
            )
            become = (
                'exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp "$0" -c "$1"'
            )
            command = ["unshare", "-m", "sh", "-c", view + become, sys.executable, code]
        return subprocess.run(command, capture_output=True, text=True, cwd="/")

    return run
