"""Keeps TensorFlow's chatter off stderr, where nbgrader would give 0 points for it."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from . import loading


def install() -> None:
    """Makes a coming `import tensorflow` silent; does nothing if it has been imported.

    TF_CPP_MIN_LOG_LEVEL alone does not do it: the look-up of CUDA libraries logs before
    TensorFlow has read that setting, straight to file descriptor 2.
    """
    # oneDNN off: the order of float additions, and so the last bits, stay the same in every run.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    installed = any(isinstance(finder, _Finder) for finder in sys.meta_path)
    if "tensorflow" not in sys.modules and not installed:
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """Finds TensorFlow as usual and wraps its loader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "tensorflow":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads with file descriptor 2 turned away."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self.loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        with loading.shown(), descriptor_away(2):
            self.loader.exec_module(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)


@contextlib.contextmanager
def descriptor_away(number: int) -> Iterator[None]:
    """Sends what is written to a file descriptor to nowhere."""
    kept = os.dup(number)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, number)
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)
        os.close(nowhere)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps warnings, logs of TensorFlow and prints to stderr away while a probe runs."""
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
