"""Operations that are called eagerly, run without the function that TensorFlow wraps around each.

TensorFlow 2.21 makes a function of every such operation: it builds the function's graph, places it
and optimises it, which takes 0.5 to 0.8 ms at the first use of each operation, dtype and attribute.
The kernel alone takes 0.08 ms. It is the same kernel, and so are the numbers; an error's message
lacks the wrapper's name, `{{function_node __wrapped__AddV2_device_…}}`.

TensorFlow has no public switch for it. Where it does not have this one, nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OPTION, SWITCH = "TFE_ContextOptionsSetRunEagerOpAsFunction", "TFE_ContextSetRunEagerOpAsFunction"


def always() -> None:
    """For the whole of a process whose TensorFlow runtime has not started yet."""
    from tensorflow.python import pywrap_tfe

    original = getattr(pywrap_tfe, OPTION, None)
    if original is not None and not _always():
        setattr(pywrap_tfe, OPTION, _Never(original))


class _Never:
    """Stands for the option's setter: whatever is asked, no operation is wrapped."""

    def __init__(self, original: Any) -> None:
        self.original = original

    def __call__(self, options: Any, _: bool) -> None:
        self.original(options, False)


def _always() -> bool:
    from tensorflow.python import pywrap_tfe

    return isinstance(getattr(pywrap_tfe, OPTION, None), _Never)


@contextmanager
def directly() -> Iterator[None]:
    """For a while; starts TensorFlow's runtime. Operations of the cells around stay as they are."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context

    switch = getattr(pywrap_tfe, SWITCH, None)
    if switch is None or _always():
        yield
        return
    current = context.context()
    current.ensure_initialized()
    switch(current._handle, False)
    try:
        yield
    finally:
        switch(current._handle, True)
