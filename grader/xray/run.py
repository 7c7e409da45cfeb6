"""Run the user's function once under a tape, listening; then open up the tf.functions it called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from grader.xray.execute import read, write
from grader.xray.graphs import GraphRunner
from grader.xray.local import is_trainable, seen_once, state
from grader.xray.record_types import Node, Recording
from grader.xray.recorder import Recorder
from grader.xray.replay import connect
from grader.xray.sources import Source, captured, prepare

_NEEDS_GRAPH = ("when eager execution is enabled", "eager execution enabled", "Eager mode")


@dataclass
class Run:
    """One run and what the tape said about it.

    error: what the function raised; gradient_error: what `tape.gradient` raised; runs: how often
    the function's own code ran (Python runs, traces and runs of its graph, taken together).
    """

    recording: Recording
    sources: list[Source]
    args: list[Any]
    result: Any = None
    targets: list[Any] = field(default_factory=list)
    grads: dict[str, Any] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    error: BaseException | None = None
    gradient_error: BaseException | None = None
    runs: int = 0
    in_graph: bool = False
    foreign: list[str] = field(default_factory=list)
    function: Any = None


def run(f: Callable[..., Any], inputs: Sequence[Any]) -> Run:
    """Run `f` on `inputs` under a tape; errors of `f` are kept in the result, not raised."""
    args, sources = prepare(f, inputs)
    done = _attempt(f, args, sources)
    if done.error is not None and not _is_graph_function(f) and _needs_graph(done.error):
        import tensorflow as tf

        again = _attempt(tf.function(f), args, sources)
        if again.error is None:
            again.runs += done.runs
            again.in_graph = True
            done = again
    done.runs += expand(done) if done.error is None else 0
    return done


def _attempt(f: Callable[..., Any], args: list[Any], sources: list[Source]) -> Run:
    import tensorflow as tf

    recorder = Recorder(s.key for s in sources)
    done = Run(recorder.recording, list(sources), args, function=f)
    traced = _traces(f)
    with tf.GradientTape() as tape, _quiet_warnings():
        for source in sources:
            if not isinstance(source.value, tf.Variable) and is_trainable(source.value):
                tape.watch(source.value)
        try:
            with recorder.listening():
                done.result = f(*args)
                done.targets = _targets(done)
        except Exception as error:
            done.error = error
    done.runs = 1 + _traces(f) - traced
    done.sources += captured(f, tape.watched_variables(), done.sources)
    if done.error is None:
        _ask(done, tape)
    return done


def _ask(done: Run, tape: Any) -> None:
    """The truth: what `tape.gradient` returns for all sources at once."""
    asked = [s for s in done.sources if is_trainable(s.value)]
    try:
        with seen_once(done.recording):
            found = tape.gradient(done.targets, [s.value for s in asked]) if done.targets else []
    except Exception as error:
        done.gradient_error = error
        return
    done.grads = {s.name: None for s in done.sources}
    done.grads.update(zip([s.name for s in asked], found, strict=False))
    for name, grad in done.grads.items():
        done.status[name] = "none" if grad is None else state(_tensor(grad))


def _tensor(grad: Any) -> Any:
    """An eager custom_gradient may hand back a Python number; it counts as its value."""
    import tensorflow as tf

    return tf.constant(grad) if isinstance(grad, int | float) else grad


def _targets(done: Run) -> list[Any]:
    """The float tensors of the (nested) result; what is no tensor goes to `foreign`."""
    import tensorflow as tf

    found = []
    for value in tf.nest.flatten(done.result, expand_composites=True):
        if isinstance(value, tf.Variable) or hasattr(value, "_value"):
            value = tf.convert_to_tensor(value)
        if not isinstance(value, tf.Tensor):
            done.foreign.append(type(value).__name__)
        elif value.dtype.is_floating or value.dtype.is_complex:
            found.append(value)
    return found


def expand(done: Run) -> int:
    """Replace each tf.function call that a gradient may pass by the operations of its graph.

    Returns 1 if any graph was run again for that, else 0.
    """
    closed = done.recording
    flow = connect(closed)
    used = flow.backward(closed.key(t) for t in done.targets)
    reached = flow.forward(s.key for s in done.sources)
    opened = replace(closed, nodes=[])
    for index, node in enumerate(closed.nodes):
        touched = any(k in reached for k in flow.keys_in(index))
        wanted = any(k in used for k in flow.keys_out(index)) or bool(node.snapshot)
        inside = _open(opened, node) if node.kind == "call" and touched and wanted else None
        if inside is None:
            opened.add(node)
        else:
            opened.absorb(inside)
    done.recording = opened
    return int(opened.expanded > 0)


def _open(recording: Recording, node: Node) -> Recording | None:
    graph = node.concrete.graph
    inside = Recording(reached={t._id for t in node.inputs})
    recording.expanded += 1
    try:
        with _variables_as_before(node):
            outputs = GraphRunner(inside).run(graph, node.inputs, (graph.name,))
    except Exception as error:
        recording.left_out.append(f"closed:{graph.name}:{type(error).__name__}")
        return None
    for real, copy in zip(node.outputs, outputs, strict=False):
        if real._id != copy._id:
            inside.alias[real._id] = copy._id
    return inside


@contextmanager
def _variables_as_before(node: Node) -> Iterator[None]:
    """Variables hold what they held before the call while its graph runs again."""
    after = [(handle, read(handle)) for handle, _ in node.snapshot]
    try:
        for handle, value in node.snapshot:
            write(handle, value)
        yield
    finally:
        for handle, value in after:
            write(handle, value)


@contextmanager
def _quiet_warnings() -> Iterator[None]:
    """Keep TensorFlow's advice about our own tape off the learner's screen."""
    import logging

    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _is_graph_function(f: Any) -> bool:
    return hasattr(f, "get_concrete_function") or hasattr(f, "captured_inputs")


def _traces(f: Any) -> int:
    count = getattr(f, "experimental_get_tracing_count", None)
    try:
        return int(count()) if count is not None else 0
    except Exception:
        return 0


def _needs_graph(error: BaseException) -> bool:
    text = str(error)
    return any(part in text for part in _NEEDS_GRAPH)
