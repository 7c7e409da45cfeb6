"""`!command` as IPython runs it, without the terminal that there is not in the sandbox.

Stands in for IPython.utils._process_posix.ProcessHandler.system, which opens a pseudo-terminal:
standard error is mixed into the output, lines end as on a terminal, and all of it is printed, so
that %%capture and widgets catch it.
"""

from __future__ import annotations

import codecs
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress

from grader.engine import waiting

TICK = 0.1  # seconds between looks at whether the shell has ended
GRACE = 1.0  # seconds it is given after an interrupt


def run(cmd: str) -> int:
    """Run `cmd` in a shell and print what it prints; its exit status, or minus the signal."""
    shell = shutil.which("sh") or "/bin/sh"
    child = subprocess.Popen([shell, "-c", cmd], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    assert child.stdout is not None
    try:
        _print(child.stdout.fileno(), child)
    except KeyboardInterrupt:  # ends the command, not the cell
        _end(child)
    finally:
        child.stdout.close()
    status = child.wait()
    return 128 - status if status > 128 else status


def _print(pipe: int, child: subprocess.Popen[bytes]) -> None:
    """Until the pipe is closed, or the shell has ended and left others behind who hold it."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    readable = waiting.readable(pipe)
    ended = False
    while True:
        if readable(0 if ended else TICK):
            block = os.read(pipe, 65536)
            print(decode(block, final=not block).replace("\n", "\r\n"), end="")
            sys.stdout.flush()
            if not block:
                return
        elif ended:
            return
        else:
            ended = child.poll() is not None  # its last words may have come meanwhile: look again


def _end(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        child.wait(GRACE)
    child.kill()
