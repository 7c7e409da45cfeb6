"""What TensorFlow lists once in every process, listed ahead of the fork.

Nothing here starts TensorFlow's runtime or a thread, runs an operation or builds a graph.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

OFTEN = ("AddV2", "Mul", "Const", "Identity", "Reshape")
# What the first function of a process calls before it is compiled; Python has no name for it.
XLA_KERNELS = "_ZN10tensorflow13XlaOpRegistry26RegisterCompilationKernelsEv"


def fill() -> None:
    """Operations, their kernels, and the kernels that XLA would compile."""
    from tensorflow.python.framework import op_def_registry

    for name in OFTEN:
        op_def_registry.get(name)
        _kernels_of(name)
    # The first name that it does not know makes TensorFlow list all it knows, for a log that
    # nobody reads; in a child that name is the first function's.
    op_def_registry.get("NoSuchOperation")
    with suppress(OSError, AttributeError):
        _xla_kernels()


def _kernels_of(name: str) -> None:
    from tensorflow.python.framework import kernels

    with suppress(Exception):
        kernels.get_registered_kernels_for_op(name)


def _xla_kernels() -> None:
    """Raises OSError or AttributeError where TensorFlow is built in another way."""
    import tensorflow as tf

    library = Path(tf.sysconfig.get_lib(), "libtensorflow_cc.so.2")
    register = getattr(ctypes.CDLL(str(library)), XLA_KERNELS)
    register.restype = None
    register()
