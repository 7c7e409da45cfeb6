"""Running the engine as somebody who is not root."""

import os
import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def as_nobody(tmp_path_factory):
    """Run Python code as uid 65534; as root through a view of the disk where that uid may read it."""
    if os.geteuid() == 0 and not (shutil.which("unshare") and shutil.which("setpriv")):
        pytest.skip("needs unshare and setpriv to become an ordinary user")

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
