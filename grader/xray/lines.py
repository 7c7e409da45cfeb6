"""Which line of the user's code made an operation."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import FrameType
from typing import Any

from grader.xray.record_types import Line

_HERE = os.path.dirname(os.path.abspath(__file__))
_RUN = os.path.join(_HERE, "run.py")  # calls the user's function: above it is not its code
_STDLIB = sysconfig.get_paths()["stdlib"]
_library: dict[str, bool] = {}


def is_library(file: str) -> bool:
    """Whether a file belongs to a library rather than to the user."""
    known = _library.get(file)
    if known is None:
        known = (
            "site-packages" in file
            or "dist-packages" in file
            or file.startswith((_HERE, _STDLIB, "<frozen"))
        )
        _library[file] = known
    return known


def is_ours(file: str) -> bool:
    """Whether a file belongs to the X-ray."""
    return file.startswith(_HERE)


def current(depth: int = 1) -> Line | None:
    """The nearest line of user code that is running.

    depth: how many of the caller's own frames to leave out.
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and frame.f_code.co_filename != _RUN:
        if not is_library(frame.f_code.co_filename):
            return Line(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def of_graph_op(op: Any) -> Line | None:
    """The line that made a graph operation (autograph's map leads back to the source)."""
    try:
        frames = list(op.traceback)
    except Exception:
        return None
    for frame in reversed(frames):
        if not is_library(frame.filename):
            return Line(frame.filename, frame.lineno)
        if frame.filename.startswith(_HERE):
            return None
    return None
