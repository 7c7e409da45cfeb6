"""The probe for gradient functions of the form `(op, grad, …)`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ..contract import Case
from .modes import MODES, compile_source
from .outcome import handed


def probe(options: Mapping[str, Any]) -> Callable[[Any, Case, str], dict[str, Any]]:
    """Registers the learner's function under a fresh name and maps an op type onto it.

    options: "op", the op type; "forward", a Python expression for the function that emits it.
    Beside value and gradients it reports under "returns" what kind of thing the learner's
    function gave for each input ("tensor", "none", or a type's name).
    """

    def run(answer: Any, case: Case, mode: str) -> dict[str, Any]:
        if not callable(answer):
            return {"error": handed(answer)}
        returned: list[str] = []
        forward = compile_source(options["forward"])
        overridden = _overridden(answer, forward, options["op"], returned)
        answers = MODES[mode](overridden, case)
        if returned:
            answers["gradient returns"] = returned[0]
        return answers

    return run


def _overridden(
    answer: Callable[..., Any], forward: Callable[..., Any], op_type: str, returned: list[str]
) -> Callable[..., Any]:
    import tensorflow as tf

    name = f"grader-{uuid.uuid4().hex}"  # the registry is global and takes a name only once

    @tf.RegisterGradient(name)
    def gradient(op: Any, *grads: Any) -> Any:
        result = answer(op, *grads)
        returned.append(", ".join(_kind(part) for part in _parts(result)))
        return result

    @tf.autograph.experimental.do_not_convert
    def overridden(*inputs: Any) -> Any:
        with tf.compat.v1.get_default_graph().gradient_override_map({op_type: name}):
            return forward(*inputs)

    return overridden


def _parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


def _kind(value: Any) -> str:
    import tensorflow as tf

    if value is None:
        return "none"
    is_tensor = tf.is_tensor(value) or isinstance(value, tf.IndexedSlices)
    return "tensor" if is_tensor else type(value).__name__
