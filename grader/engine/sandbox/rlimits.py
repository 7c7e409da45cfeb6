"""The layer `rlimits`: what the kernel counts for each process by itself, as far as it does."""

from __future__ import annotations

import os

from grader.engine.limits import Limits
from grader.engine.sandbox.layers import Layer, attempt, nowhere

OOM = "/proc/self/oom_score_adj"


def limit_resources(limits: Limits, others: int = 0) -> Layer:
    """Child: rlimits, and first in line for the kernel's out-of-memory killer. `others` are tasks
    that count towards RLIMIT_NPROC besides the child's, where it is no user of its own. A limit
    that this system does not know is left out; Windows knows none."""
    wanted = {
        "CORE": 0,
        "FSIZE": limits.file,
        "NOFILE": limits.files,
        "CPU": limits.cpu,
        "DATA": limits.memory,
        "MEMLOCK": 0,
        "MSGQUEUE": 0,
        "NPROC": limits.processes + others,
    }

    try:
        import resource
    except ImportError:
        return nowhere("rlimits")

    def step() -> None:
        if os.path.exists(OOM):
            with open(OOM, "w") as file:
                file.write("1000")
        for name, value in wanted.items():
            number = getattr(resource, f"RLIMIT_{name}", None)
            if number is not None:
                most = resource.getrlimit(number)[1]
                value = value if most == resource.RLIM_INFINITY else min(value, most)
                resource.setrlimit(number, (value, value))

    return attempt("rlimits", step)
