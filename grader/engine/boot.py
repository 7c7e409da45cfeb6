"""What the zygote loads and warms up, so that no child has to. Runs no TensorFlow operation.

Order matters: streams and shell exist before TensorFlow is imported, inside the shell's builtins,
since TensorFlow decides at import where tf.print and its logger write.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import os
import sys
import threading
import warnings
from contextlib import suppress
from types import ModuleType
from typing import Any

from grader.engine.kernel import PipeApp, PipeKernel

MODULES = """
keras matplotlib.pyplot matplotlib_inline.backend_inline numpy.testing nbformat IPython.display
ipywidgets tensorflow.python.data.ops.dataset_ops grader grader.probe grader.probe.run
grader.probe.wire grader.check grader.display grader.plots grader.xray
""".split()
WARM_CELLS = ("x = 1\nx", "1/0", "assert False, 'no'", "def f(:\n", "print('x')")


def boot(tensorflow: bool = True) -> PipeKernel:
    """Make kernel and shell, import the heavy modules, run the code paths that every child runs.

    Raises RuntimeError if a thread or TensorFlow's runtime was started: neither survives a fork.
    """
    sys.modules["debugpy"] = None  # type: ignore[assignment] # 1.2 s that no grading run needs
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="ipykernel")
    kernel = _application().boot()
    sys.modules.pop("debugpy", None)
    _remember_modules()
    shell: Any = kernel.shell
    with shell.builtin_trap:
        if tensorflow:
            importlib.import_module("tensorflow")
        for name in MODULES if tensorflow else MODULES[1:1]:
            with suppress(ImportError):
                importlib.import_module(name)
    if tensorflow:
        _warm_tensorflow()
        _warm_figure()
    _warm_shell(kernel)
    _assert_forkable(tensorflow)
    gc.collect()
    gc.freeze()
    return kernel


def _application() -> PipeApp:
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False  # it would start a thread and a database
    config.IPKernelApp.capture_fd_output = False
    app: PipeApp = PipeApp.instance(config=config, log_level=50)
    app.init_profile_dir()
    return app


def _remember_modules() -> None:
    """Tracebacks ask for the module of each frame; with TensorFlow in, each answer walks 3700."""
    original = inspect.getmodule
    known: dict[str, ModuleType | None] = {}

    def getmodule(object: Any, _filename: str | None = None) -> ModuleType | None:
        if _filename is None:
            return original(object)
        if _filename not in known:
            known[_filename] = original(object, _filename)
        return known[_filename]

    inspect.getmodule = getmodule


def _warm_tensorflow() -> None:
    from tensorflow.python.framework import kernels, op_def_registry

    for name in ("AddV2", "Mul", "Const", "Identity", "Reshape"):
        op_def_registry.get(name)
        with suppress(Exception):
            kernels.get_registered_kernels_for_op(name)


def _warm_figure() -> None:
    import io

    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot([0, 1], label="x")
    axes.legend()
    figure.savefig(io.BytesIO(), bbox_inches="tight")
    plt.close("all")


def _warm_shell(kernel: PipeKernel) -> None:
    shell: Any = kernel.shell
    hook, shell._showtraceback = shell._showtraceback, lambda *_: None
    for cell in WARM_CELLS:
        shell.run_cell(cell, store_history=False, silent=False)
    shell._showtraceback = hook
    shell.reset(new_session=True)
    shell.execution_count = 1
    shell._last_traceback = None


def _assert_forkable(tensorflow: bool) -> None:
    if threading.active_count() != 1 or len(os.listdir("/proc/self/task")) != 1:
        names = [thread.name for thread in threading.enumerate()]
        raise RuntimeError(f"the zygote has more than one thread: {names}")
    if tensorflow:
        from tensorflow.python.eager import context

        current = context._context
        if current is not None and current._context_handle is not None:
            raise RuntimeError("the zygote has started TensorFlow's runtime")
