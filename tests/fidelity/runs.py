"""One notebook, run twice: by nbclient with a kernel of its own, and by the engine in its sandbox.

Both get the same surroundings, a home of their own with a working directory in it, and none of the
variables that a test run sets (ipykernel captures nothing where it sees PYTEST_CURRENT_TEST).
"""

import copy
import os
import shutil
import sys
from pathlib import Path
from queue import Empty
from subprocess import DEVNULL
from time import monotonic
from typing import Any

import matplotlib
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output

from grader.engine import work
from grader.engine.host import KEPT, Zygote
from grader.engine.limits import Limits
from grader.engine.sandbox.root import HOME

SECONDS = 300
TRAITS = {"allow_errors": True, "timeout": SECONDS}


class Stock(NotebookClient):  # type: ignore[misc]
    """nbclient as it is, but for a look at the replies once a second.

    Its Output widget sends on the socket on which it waits for the reply, and sending can take away
    the sign that a reply is there (ZeroMQ's is edge-triggered); it would then wait out the timeout.
    """

    started = 0

    async def async_start_new_kernel_client(self) -> Any:
        client = await super().async_start_new_kernel_client()
        channel = client.shell_channel
        original = channel.get_msg

        async def get_msg(timeout: float | None = None) -> Any:
            end = monotonic() + (SECONDS if timeout is None else timeout)
            while True:
                try:
                    return await original(timeout=max(0.0, min(1.0, end - monotonic())))
                except Empty:
                    if monotonic() >= end:
                        raise

        channel.get_msg = get_msg
        return client

    async def async_execute_cell(self, cell: Any, cell_index: int, **options: Any) -> Any:
        self.started = cell_index
        return await super().async_execute_cell(cell, cell_index, **options)


def stock(notebook: NotebookNode, home: Path, **variables: str) -> NotebookNode:
    """Run by nbclient and ipykernel in `home`/work; a kernel's death becomes an output."""
    done = copy.deepcopy(notebook)
    folder = home / "work"
    folder.mkdir(parents=True, exist_ok=True)
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"  # an activated environment
    env |= {"HOME": str(home), "IPYTHONDIR": str(home / ".ipython"),
            "MPLCONFIGDIR": matplotlib.get_configdir(), **variables}  # fmt: skip
    place = {"metadata": {"path": str(folder)}}
    client = Stock(done, kernel_name="python3", resources=place, **TRAITS)
    try:
        client.execute(env=env, stdout=DEVNULL, stderr=DEVNULL)
    except DeadKernelError:
        died = new_output("error", ename="DeadKernelError", evalue="", traceback=[])
        done.cells[client.started].outputs.append(died)
    return done


def engine(notebook: NotebookNode, zygote: Zygote, course: dict[str, str] | None = None
           ) -> NotebookNode:  # fmt: skip
    """Run by the engine, sandbox on; its home is `HOME`."""
    limits = Limits(notebook=4 * SECONDS)
    job = work.Job(copy.deepcopy(notebook), limits, traits=TRAITS, course=course or {})
    return work.run(zygote, job).notebook


def fresh(home: Path) -> Path:
    """`home` anew and empty."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    return home


__all__ = ["HOME", "engine", "fresh", "stock"]
