import os
import signal
import subprocess
import sys

import pytest

from grader.engine import interrupt

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows holds no signal back")


@pytest.mark.parametrize("pressed", [False, True])
def test_after_the_block_ctrl_c_is_what_it_was_before(pressed):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("ctrl-c"))
    try:
        with interrupt.held():
            if pressed:
                os.kill(os.getpid(), signal.SIGINT)
        assert heard == ["ctrl-c"] * pressed
        os.kill(os.getpid(), signal.SIGINT)
        assert heard == ["ctrl-c"] * (pressed + 1)
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_is_held_back_is_heard_afterwards_and_not_by_programs():
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012  (it is the block's end that raises)
        with interrupt.held():
            os.kill(os.getpid(), signal.SIGINT)
            told = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('whole')"
            done.append(subprocess.run([sys.executable, "-c", told], stdout=subprocess.PIPE))
        done.append("too late")
    (program,) = done
    assert (program.returncode, program.stdout) == (0, b"whole\n")
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
