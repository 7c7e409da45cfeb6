"""What the zygote loads and warms up, so that no child has to. Runs no TensorFlow operation.

Order matters: streams and shell exist before TensorFlow is imported, inside the shell's builtins,
since TensorFlow decides at import where tf.print and its logger write.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from grader import direct
from grader.engine import heap, lookups, registries, surroundings
from grader.engine.kernel import PipeApp, PipeKernel
from grader.spared import UNUSED, spared

MODULES = """
keras matplotlib.pyplot matplotlib_inline.backend_inline numpy.testing numpy.random nbformat
IPython.display tensorflow.python.data.ops.dataset_ops grader.checking grader.companions
grader.display grader.hints grader.plots grader.predictions grader.probe.wire grader.xray
""".split()
OPTIONAL = ("ipywidgets",)
WARM_CELLS = ("x = 1\nx", "1/0", "assert False, 'no'", "def f(:\n", "print('x')")
WARM_FIGURE = "import matplotlib.pyplot as plt\nplt.plot([0, 1], label='x')\nplt.legend();"
NEVER = 1 << 30


def boot(tensorflow: bool = True) -> PipeKernel:
    """Make kernel and shell, import the heavy modules, run the code paths that every child runs.

    Raises RuntimeError if a thread or TensorFlow's runtime was started: neither survives a fork.
    """
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="ipykernel")
    with _oldest_left_alone():
        kernel = _loaded(tensorflow)
        _warm(kernel, tensorflow)
    _assert_forkable(tensorflow)
    gc.collect()
    heap.fill()
    gc.freeze()
    return kernel


@contextmanager
def _oldest_left_alone() -> Iterator[None]:
    """Nearly all of what is imported stays; to look through it again and again for garbage would
    take a tenth of the start."""
    usual = gc.get_threshold()
    gc.set_threshold(*usual[:2], NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _loaded(tensorflow: bool) -> PipeKernel:
    with spared(*UNUSED):
        kernel = _application().boot()
        lookups.remember_modules()
        shell: Any = kernel.shell
        with shell.builtin_trap:
            if tensorflow:
                _load()
    return kernel


def _warm(kernel: PipeKernel, tensorflow: bool) -> None:
    if tensorflow:
        direct.always()
        lookups.remember_files()
        registries.fill()
        _warm_autograph()
        _warm_check()
    surroundings.fresh_numbers()  # imports at its first call
    _warm_shell(kernel, (*WARM_CELLS, WARM_FIGURE) if tensorflow else WARM_CELLS)
    if tensorflow:
        _spare_a_drawing(kernel.shell)


def _application() -> PipeApp:
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False  # it would start a thread and a database
    config.IPKernelApp.capture_fd_output = False
    app: PipeApp = PipeApp.instance(config=config, log_level=50)
    app.log.setLevel(50)  # its handler drops all below, but every cell would make a record
    app.init_profile_dir()
    return app


def _load() -> None:
    importlib.import_module("tensorflow")
    for name in MODULES:
        importlib.import_module(name)
    for name in OPTIONAL:
        with suppress(ImportError):
            importlib.import_module(name)


def _warm_autograph() -> None:
    import tensorflow as tf

    tf.autograph.to_graph(_branches)


def _branches(x: Any, n: int) -> Any:
    """Has one of everything that AutoGraph rewrites; is never called."""
    for i in range(n):
        if x > i and not x < 0:
            x = 2 * x if i else x + 1
    while x > 1:
        x = abs(x - 1)
    return x


def _warm_check() -> None:
    """A verdict and its display, on an answer made up here."""
    import io

    import numpy as np

    from grader import display, verdict
    from grader.contract import Case, Exercise
    from grader.display.report import report
    from grader.key import key, terms
    from grader.probe import Outcome

    case = Case("warm", {"x": np.ones(2, "float32")}, np.ones(2, "float32"))
    warm = Exercise(
        "warm", lambda _: [case], lambda _: {"value": np.ones(2)}, {"value": 1}, ("", "")
    )
    for array in (np.ones(2), np.zeros(2)):
        seen = {("warm", mode, "value"): Outcome("array", array) for mode in case.modes}
        told = verdict.decide(terms(warm), key(warm, [case]), [case], seen, "value")
        display.bundle(report(told))
    file = io.BytesIO()
    np.savez(file, x=np.ones(2))
    file.seek(0)
    with np.load(file) as stored:
        stored["x"]


def _warm_shell(kernel: PipeKernel, cells: tuple[str, ...]) -> None:
    shell: Any = kernel.shell
    hook, shell._showtraceback = shell._showtraceback, lambda *_: None
    for cell in cells:
        shell.run_cell(cell, store_history=False, silent=False)
    shell._showtraceback = hook
    shell.reset(new_session=True)
    shell.execution_count = 1
    shell._last_traceback = None


def _spare_a_drawing(shell: Any) -> None:
    """A kernel draws an open figure three times: for pyplot, to measure it, to print it. The first
    is left out where no layout engine goes on from it and nobody listens."""
    from matplotlib._pylab_helpers import Gcf

    def settle() -> None:
        for manager in Gcf.get_all_fig_managers():
            figure = manager.canvas.figure
            heard = figure.canvas.callbacks.callbacks.get("draw_event")
            if figure.get_layout_engine() is None and not heard:
                figure.stale = False

    shell.events.callbacks["post_execute"].insert(0, settle)


def _assert_forkable(tensorflow: bool) -> None:
    if not sys.platform.startswith("linux"):
        return  # this process will not fork
    if threading.active_count() != 1 or len(os.listdir("/proc/self/task")) != 1:
        names = [thread.name for thread in threading.enumerate()]
        raise RuntimeError(f"the zygote has more than one thread: {names}")
    if tensorflow:
        from tensorflow.python.eager import context

        current = context._context
        if current is not None and current._context_handle is not None:
            raise RuntimeError("the zygote has started TensorFlow's runtime")
