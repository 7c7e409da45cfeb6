"""Says in a notebook that TensorFlow is loading: it takes some seconds of silence otherwise."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

LOADING = "TensorFlow is loading, which takes some seconds. Read on meanwhile."
LOADED = "TensorFlow {version} is loaded ({seconds:.0f} s)."


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Shows a line at once and replaces it when the work in the block is done."""
    handle = None if os.environ.get("NBGRADER_EXECUTION") else _display()
    began = time.monotonic()
    yield
    if handle is not None:
        version = getattr(sys.modules.get("tensorflow"), "__version__", "")
        done = LOADED.format(version=version, seconds=time.monotonic() - began)
        handle.update(_plain(done), raw=True)


def _display() -> Any:
    """A display that can be updated; None outside of a notebook."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython
    from IPython.display import display

    if getattr(get_ipython(), "kernel", None) is None:
        return None
    return display(_plain(LOADING), raw=True, display_id=True)


def _plain(text: str) -> dict[str, str]:
    return {"text/plain": text}
