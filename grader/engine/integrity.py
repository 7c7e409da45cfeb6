"""What cheaters replace, noted for the instructor. A report, not a fence: points never hang on it.

The zygote remembers the originals; the child compares when the judge asks.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

WATCHED = """
builtins:abs builtins:all builtins:any builtins:print builtins:__import__ builtins:isinstance
numpy.testing:assert_allclose numpy.testing:assert_equal numpy.testing:assert_array_equal
numpy.testing:assert_almost_equal numpy.testing:assert_array_almost_equal numpy:allclose
numpy:array_equal numpy:isclose
tensorflow:GradientTape tensorflow:GradientTape.gradient tensorflow:GradientTape.jacobian
tensorflow:custom_gradient tensorflow:Tensor.__eq__ tensorflow:convert_to_tensor
tensorflow.debugging:assert_near tensorflow.debugging:assert_equal
grader:check grader.check:check grader.probe:run grader.probe.wire:pack_observation
grader.probe.wire:unpack_request
IPython.core.interactiveshell:InteractiveShell.run_cell_async
IPython.core.interactiveshell:InteractiveShell.run_code
ipykernel.ipkernel:IPythonKernel.do_execute grader.engine.kernel:PipeKernel.do_execute
ipykernel.zmqshell:ZMQInteractiveShell.run_cell_async
ipykernel.zmqshell:ZMQInteractiveShell.run_code jupyter_client.session:Session.msg
""".split()
# Of the running objects: a method of a subclass, or of the object alone, goes before a class's.
USED = {"shell": ("run_cell_async", "run_code"), "kernel": ("do_execute",),
        "session": ("msg", "send")}  # fmt: skip
_ORIGINALS: dict[str, Any] = {}


def _find(name: str) -> Any:
    module, _, path = name.partition(":")
    if module not in sys.modules:
        if module in ("numpy.testing", "builtins"):
            importlib.import_module(module)
        else:
            return None
    found: Any = sys.modules[module]
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def remember() -> None:
    """Take note of the originals (zygote)."""
    _ORIGINALS.update((name, _find(name)) for name in WATCHED)
    _ORIGINALS["hooks"], _ORIGINALS["used"] = _hooks(), _used()


def _hooks() -> dict[str, int]:
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return {}
    manager = shell.input_transformer_manager
    callbacks = shell.events.callbacks
    return {
        "ast_transformers": len(shell.ast_transformers),
        "input_transformers_cleanup": len(manager.cleanup_transforms),
        "input_transformers_post": len(manager.line_transforms),
        **{f"{event} hook": len(callbacks[event]) for event in ("pre_run_cell", "pre_execute")},
    }


def _used() -> dict[str, Any]:
    """What runs and speaks for every cell, as it would be found when it is called."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    kernel = getattr(shell, "kernel", None)
    owners = {"shell": shell, "kernel": kernel, "session": getattr(kernel, "session", None)}
    return {
        f"IPython:{owner}.{name}": inspect.getattr_static(owners[owner], name, None)
        for owner, names in USED.items()
        for name in names
    }


def replaced() -> list[str]:
    """Names whose object is no longer the original, new hooks, tracing."""
    found = [name for name in WATCHED if _find(name) is not _ORIGINALS.get(name)]
    now, before = _hooks(), _ORIGINALS.get("hooks", {})
    found += [f"IPython:{name}" for name, count in now.items() if count > before.get(name, 0)]
    used = _ORIGINALS.get("used", {})
    found += [name for name, method in _used().items() if method is not used.get(name)]
    found += ["sys:settrace"] if sys.gettrace() is not None else []
    found += ["sys:setprofile"] if sys.getprofile() is not None else []
    return found
