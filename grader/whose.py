"""Whose code a file is: the learner's, or a library's, Python's own or this package's."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

PROBES = "<chapter probes>"  # what a chapter's probes.py is compiled as
_OURS = str(Path(__file__).resolve().parent)
_LIBRARIES = (sysconfig.get_paths()["purelib"], sysconfig.get_paths()["stdlib"], sys.prefix)
_OTHERS = ("<frozen", "<string>", "<attrs", "<__array_function__", PROBES)


def is_ours(filename: str) -> bool:
    """Whether this package's code has this name."""
    return filename.startswith(_OURS)


def is_learners(filename: str) -> bool:
    """Whether the code of this name, as a frame has it, was written by the learner."""
    if is_ours(filename):
        return False
    if "ipykernel_" in filename or filename.startswith("<"):
        return not filename.startswith(_OTHERS)
    return not filename.startswith(_LIBRARIES) and "__autograph_generated_file" not in filename
