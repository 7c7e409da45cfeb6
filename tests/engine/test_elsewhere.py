"""macOS and Windows, as far as Linux can play them: a plain refusal instead of a traceback."""

import json
import os
import subprocess
import sys

PROGRAM = """
import json, os, sys
for name in ("fcntl", "resource"):  # what Windows has not
    sys.modules[name] = None
from pathlib import Path
import nbgrader.apps  # noqa: F401
from grader.engine import host
from grader.engine.batch import GradingError, grade, probe_sandbox
for name in ("fork", "pidfd_open", "sched_getaffinity", "getuid", "geteuid"):
    delattr(os, name)
sys.platform = "darwin"
told = {"lacking": host.lacking()}
for name, what in (("grade", lambda: grade(Path(%(root)r), "ps", allow_unsandboxed=True)),
                   ("probe", lambda: probe_sandbox(Path(%(root)r), tensorflow=False))):
    try:
        what()
    except GradingError as error:
        told[name] = str(error)
from typer.testing import CliRunner
from grader.cli import app
told["doctor"] = CliRunner().invoke(app, ["doctor"]).output
print(json.dumps(told))
"""


def test_without_linux_the_engine_says_what_is_missing(tiny):
    tiny.submit("ada")
    code = PROGRAM % {"root": str(tiny.root)}
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(tiny.root / "none")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tiny.root,
                          env=environment)  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["grade"] == told["probe"] == told["lacking"]
    assert told["lacking"].startswith("darwin: ")
    assert "WSL2" in told["lacking"]
    assert told["doctor"].split() == ["error:", *told["lacking"].split()]
    assert not (tiny.root / "autograded").exists()


def test_on_linux_nothing_is_lacking():
    from grader.engine import host

    assert host.lacking() == ""
