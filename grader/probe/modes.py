"""The ways in which TensorFlow can run and differentiate one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import words
from ..contract import EAGER, GRAPH, INSIDE, OUTSIDE, XLA, Case, Source
from .autograph import as_traced
from .outcome import Outcome, flatten
from .targets import targets

Function = Callable[..., Any]


def compile_source(source: Source | str) -> Function:
    """The function behind a `Source`, with `tf` and `np` in scope."""
    import tensorflow as tf

    text = source.text if isinstance(source, Source) else source
    function: Function = eval(text, {"tf": tf, "np": np})
    # AutoGraph cannot read the source of an evaluated lambda; tell it not to try, and not to warn.
    return tf.autograph.experimental.do_not_convert(function)


def tensors(case: Case) -> dict[str, Any]:
    """The case's inputs as TensorFlow sees them: tensors, variables, functions, plain values."""
    import tensorflow as tf

    made: dict[str, Any] = {}
    for name, value in case.inputs.items():
        if isinstance(value, Source):
            made[name] = compile_source(value)
        elif isinstance(value, np.ndarray):
            made[name] = tf.Variable(value) if name in case.variables else tf.constant(value)
        else:
            made[name] = value
    return made


def sources(case: Case, made: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs a gradient is asked for: the floating tensors and variables."""
    return {
        name: made[name]
        for name, value in case.inputs.items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "fV"
    }


def _differentiate(call: Function, case: Case, made: Mapping[str, Any]) -> dict[str, Any]:
    """Value, gradient and second derivative by tapes, wherever this is called."""
    import tensorflow as tf

    wanted = sources(case, made)
    # Only where it is asked for: a second tape also differentiates the backward pass, which not
    # every right answer allows, and makes tracing many times slower.
    if "second" not in case.wants:
        return _once(call, case, made, wanted)
    with tf.GradientTape() as outer:
        outer.watch(list(wanted.values()))
        answers = _once(call, case, made, wanted)
        sums = [tf.reduce_sum(v) for k, v in answers.items() if _live_gradient(k, v)]
    grads = outer.gradient(sums, list(wanted.values()))
    answers |= dict(zip((f"second:{n}" for n in wanted), grads, strict=True))
    return answers


def _once(
    call: Function, case: Case, made: Mapping[str, Any], wanted: Mapping[str, Any]
) -> dict[str, Any]:
    """Value and gradient by one tape; by none where only the value is asked for, since a traced
    function under a tape is differentiated when it is called."""
    import tensorflow as tf

    if case.wants == ("value",):
        return flatten(call(made), "value")
    answers: dict[str, Any] = {}
    with tf.GradientTape() as tape:
        tape.watch(list(wanted.values()))
        result = call(made)
    if "gradient" in case.wants or "second" in case.wants:
        answers |= _gradients(tape, result, case, wanted)
    if "value" in case.wants:
        answers |= flatten(result, "value")
    return answers


def _live_gradient(key: str, answer: Any) -> bool:
    return key.startswith("gradient:") and _is_tensor(answer)


def _gradients(tape: Any, result: Any, case: Case, wanted: Mapping[str, Any]) -> dict[str, Any]:
    keys = [f"gradient:{name}" for name in wanted]
    found = targets(result, case)
    if isinstance(found, Outcome):
        return dict.fromkeys(keys, found)
    reached, upstreams = found
    grads = tape.gradient(reached, list(wanted.values()), output_gradients=upstreams)
    return dict(zip(keys, grads, strict=True))


def _eager(f: Function, case: Case) -> dict[str, Any]:
    return _differentiate(lambda made: f(*made.values()), case, tensors(case))


def _outside(f: Function, case: Case) -> dict[str, Any]:
    """Traced by tf.function; the tape stays outside."""
    import tensorflow as tf

    made = tensors(case)
    given = {k: v for k, v in made.items() if isinstance(case.inputs[k], np.ndarray)}
    call = as_traced(f)
    # Arguments go by position: a tf.custom_gradient called by keyword skips its own rule.
    traced = tf.function(
        lambda given: call(*(given.get(k, v) for k, v in made.items())), autograph=False
    )
    return _differentiate(lambda _: traced(given), case, made)


def _inside(f: Function, case: Case, *, jit: bool = False) -> dict[str, Any]:
    """Function and tape in one tf.function; with `jit` XLA compiles the two together."""
    import tensorflow as tf

    made = tensors(case)
    call = _of_known_shape(as_traced(f), case) if jit else as_traced(f)
    skipped: dict[str, Any] = {}

    def everything() -> dict[str, Any]:
        # Only tensors may leave a tf.function; None and skipped answers are kept aside.
        answers = _differentiate(lambda made: call(*made.values()), case, made)
        skipped.update({k: v for k, v in answers.items() if not _is_tensor(v)})
        return {k: v for k, v in answers.items() if _is_tensor(v)}

    return tf.function(everything, autograph=False, jit_compile=jit or None)() | skipped


def _of_known_shape(call: Function, case: Case) -> Function:
    """XLA ends the process over some gradients of lists whose length tracing does not know."""
    import tensorflow as tf

    def called(*inputs: Any) -> Any:
        result = call(*inputs)
        for leaf in flatten(result, "value").values() if "gradient" in case.wants else ():
            if tf.is_tensor(leaf) and not leaf.shape.is_fully_defined():
                raise ValueError(words.UNKNOWN_SHAPE.format(shape=leaf.shape))
        return result

    return called


def _is_tensor(value: Any) -> bool:
    import tensorflow as tf

    return tf.is_tensor(value) or isinstance(value, tf.IndexedSlices)


def _graph(f: Function, case: Case) -> dict[str, Any]:
    """A tf.Graph with tf.compat.v1.gradients, run in a session."""
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        made = tensors(case)
        wanted = sources(case, made)
        result = f(*made.values())
        answers: dict[str, Any] = flatten(result, "value") if "value" in case.wants else {}
        if "gradient" in case.wants:
            answers |= _graph_gradients(result, case, wanted)
        live = {k: v for k, v in answers.items() if _is_tensor(v)}
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(tf.compat.v1.global_variables_initializer())
            return answers | session.run({k: tf.convert_to_tensor(v) for k, v in live.items()})


def _graph_gradients(result: Any, case: Case, wanted: Mapping[str, Any]) -> dict[str, Any]:
    import tensorflow as tf

    keys = [f"gradient:{name}" for name in wanted]
    found = targets(result, case)
    if isinstance(found, Outcome):
        return dict.fromkeys(keys, found)
    grads: Sequence[Any] = tf.compat.v1.gradients(found[0], list(wanted.values()), found[1])
    return dict(zip(keys, grads, strict=True))


MODES: dict[str, Callable[[Function, Case], dict[str, Any]]] = {
    EAGER: _eager,
    OUTSIDE: _outside,
    INSIDE: _inside,
    GRAPH: _graph,
    # With the tape outside XLA would compile twice, forward and backward: 50 to 100 ms more.
    XLA: lambda f, case: _inside(f, case, jit=True),
}
