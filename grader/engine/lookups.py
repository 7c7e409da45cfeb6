"""Walks over every loaded module, cut short: with TensorFlow in there are some 3,700 of them.

Each walk takes 20 ms, and in a forked child far more: it touches every module, and each page that
is touched has to be copied. Used by the warm process and so by its children only.
"""

from __future__ import annotations

import inspect
import sys
from itertools import islice
from types import ModuleType
from typing import Any


def remember_modules() -> None:
    """Tracebacks ask for the module of each frame: one walk for each file instead."""
    original = inspect.getmodule
    known: dict[str, ModuleType | None] = {}

    def getmodule(object: Any, _filename: str | None = None) -> ModuleType | None:
        name = object.f_code.co_filename if inspect.isframe(object) else _filename
        if name is None:
            return original(object)
        if name not in known:
            known[name] = original(object, _filename)
        return known[name]

    inspect.getmodule = getmodule


def remember_files() -> None:
    """AutoGraph walks for every function it reads, to mend what linecache holds of its file; it
    finds nothing to mend where no module has that file, as for a cell of a notebook."""
    from tensorflow.python.autograph.pyct import inspect_utils

    original = inspect_utils._fix_linecache_record
    files = frozenset(filter(None, map(_file, list(sys.modules.values()))))
    count = len(sys.modules)

    def fix(obj: Any) -> None:
        if hasattr(obj, "__module__"):
            file = inspect.getfile(obj)
            later = islice(reversed(sys.modules.values()), max(0, len(sys.modules) - count))
            if file in files or any(_file(module) == file for module in later):
                original(obj)

    inspect_utils._fix_linecache_record = fix


def _file(module: Any) -> str | None:
    return getattr(module, "__file__", None)
