"""What a cell finds around it: variables, directories, randomness, arguments, first names."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.course import MARK
from grader.engine import sandbox
from grader.engine.sandbox import root

CLOSED = (
    "is not there, or cannot be read by the user as whom submissions run: try chmod -R go+rX on "
    "it and on what it lies in; a mount for one user alone (by sshfs, say) needs -o allow_other"
)


def settle(order: dict[str, Any], scratch: str, prepared: sandbox.Prepared) -> None:
    """A clean environment, a working directory, files of the submission, randomness of its own."""
    temporary = "/tmp" if "/tmp" in prepared.writable else f"{scratch}/tmp"
    os.environ.update({"HOME": scratch, "TMPDIR": temporary, **order["environment"]})
    python = os.path.dirname(sys.executable)  # as an activated environment has it
    os.environ["PATH"] = os.pathsep.join([python, os.environ.get("PATH", os.defpath)])
    os.environ["IPYTHONDIR"] = f"{scratch}/.ipython"
    tempfile.tempdir = None  # AutoGraph writes there; the zygote's place does not exist here
    fresh_numbers()
    cwd = Path(order["cwd"] if Path(order["cwd"]).is_absolute() else f"{scratch}/{order['cwd']}")
    order["cwd"] = str(cwd)
    for place in (temporary, str(cwd)):
        os.makedirs(place, exist_ok=True)
    _course(Path(scratch), order["course"], prepared.namespaced)
    os.chdir(cwd)


def fresh_numbers() -> None:
    """What is drawn without a seed differs between processes, as it does between kernels."""
    import numpy as np

    random.seed()
    np.random.seed()


def _course(home: Path, folders: dict[str, str], namespaced: bool) -> None:
    """Make the home, which is above the working directory, the root of a course for checks."""
    if folders:
        (home / MARK).write_text("")
    for name, path in folders.items():
        try:
            (home / name).symlink_to(f"{root.COURSE}/{name}" if namespaced else path)
        except FileExistsError:
            pass
        except OSError:  # Windows gives links only to those it trusts
            shutil.copytree(path, home / name)


def closed(order: dict[str, Any], scratch: str, prepared: sandbox.Prepared) -> str:
    """What of Python or of the course this process cannot read, and what to do; empty where it
    reads all. An import or a check would fail, and cost points. Rights that files show are not all
    there is: a mounted file system may be its owner's alone."""
    for path in prepared.python:
        if not _readable(path):
            return f"{path} {CLOSED}"
    for name, top in order["course"].items():
        for path in _tree(f"{scratch}/{name}"):
            if not _readable(path):
                return f"{top}{path.removeprefix(f'{scratch}/{name}')} {CLOSED}"
    return ""


def _tree(top: str) -> Iterator[str]:
    yield top
    for place, folders, files in os.walk(top):
        paths = (os.path.join(place, name) for name in (*folders, *files))
        yield from (path for path in paths if not os.path.islink(path))


def _readable(path: str) -> bool:
    return os.access(path, os.R_OK | (os.X_OK if os.path.isdir(path) else 0))


def personal(shell: Any, scratch: str) -> None:
    """What the zygote's own start left in the shell becomes what a kernel's start leaves there."""
    for name, value in vars(shell.prepare_user_module()[0]).items():
        shell.user_ns.setdefault(name, value)  # `reset` takes __doc__ and the like away
    shell.user_ns["_dh"][:] = [Path.cwd()]
    _modules_beside_the_notebook()
    spec = importlib.util.find_spec("ipykernel_launcher")
    launcher = spec.origin if spec and spec.origin else "ipykernel_launcher.py"
    sys.argv[:] = [launcher, "-f", f"{scratch}/kernel.json"]
    sys.breakpointhook = _no_debugger


def _modules_beside_the_notebook() -> None:
    """Found after Python's own and before installed ones, as IPython has it: it does nothing in a
    process that was started with -I, as the zygote was."""
    installed = ("site-packages", "dist-packages")
    at = next((i for i, place in enumerate(sys.path) if place.endswith(installed)), 0)
    if "" not in sys.path:
        sys.path.insert(at, "")


def _no_debugger(*_: Any, **__: Any) -> None:
    """`breakpoint()` in a kernel is debugpy's, and without a front end attached does nothing."""
