"""Imports that take seconds and that nothing here needs, left out while others are imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

# ipykernel's debugger (1.2 s), and jsonschema's grammar of international addresses (2 to 3 s).
UNUSED = ("debugpy", "rfc3987_syntax")


@contextmanager
def spared(*names: str) -> Iterator[None]:
    """Within the block `names` cannot be imported, which their users take for "not installed".

    What is imported already stays as it is.
    """
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type] # None: do not look
    try:
        yield
    finally:
        for name in absent:
            sys.modules.pop(name, None)
