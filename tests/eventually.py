"""Waiting in tests for what other processes do."""

import time


def eventually(holds, looks=1200, pause=0.05):
    """Whether `holds()` gets true. Looks are counted and not seconds: a machine that stands still
    for a while takes none of them away, and the kernel may end a namespace's last ones late."""
    for _ in range(looks):
        if holds():
            return True
        time.sleep(pause)
    return bool(holds())
