"""What is known of `gradient_override_map` and of the registry of gradients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grader.xray import lines
from grader.xray.record_types import Override, OverrideMap, Recording

# tf.custom_gradient and tf.function register a gradient of their own on each trace; it acts
# everywhere, so it is not what one calls an override.
_OWN = ("CustomGradient-", "PartitionedCall-", "StatefulPartitionedCall-")


def registry() -> Any:
    """TensorFlow's registry of gradients (private; only read)."""
    from tensorflow.python.framework import ops

    return ops._gradient_registry


def is_registered(name: str) -> bool:
    """Whether a gradient of that name (or for that operation type) exists."""
    try:
        registry().lookup(name)
    except LookupError:
        return False
    return True


def is_no_gradient(op_type: str) -> bool:
    """Whether the type is registered as having no gradient at all (`tf.no_gradient`)."""
    try:
        return registry().lookup(op_type) is None
    except LookupError:
        return False


def gradient_name(op: Any) -> str | None:
    """The name of the gradient that a graph operation was given, if any."""
    try:
        name = op.get_attr("_gradient_op_type")
    except ValueError:
        return None
    return name.decode() if isinstance(name, bytes) else str(name)


def of_graph_op(op: Any) -> Override | None:
    """The override on a graph operation; None for the gradients TensorFlow puts there itself."""
    name = gradient_name(op)
    if name is None or name.startswith(_OWN):
        return None
    return Override(name, is_registered(name), acts=True)


def is_custom_gradient(op: Any) -> bool:
    """Whether a graph operation is the IdentityN that `tf.custom_gradient` leaves."""
    return (gradient_name(op) or "").startswith("CustomGradient-")


@contextmanager
def watched_map(
    original: Any, graph: Any, mapping: Any, recording: Recording, active: list[dict[str, str]]
) -> Iterator[None]:
    """`Graph.gradient_override_map`, noting which operation types ran inside it."""
    import tensorflow as tf

    eager = tf.executing_eagerly()
    entry = OverrideMap(_strings(mapping), lines.current(5), eager, [])
    before = recording.dropped + len(recording.nodes), _size(graph)
    if eager:
        active.append(entry.mapping)
    try:
        with original(graph, mapping):
            yield
    finally:
        if eager:
            active.remove(entry.mapping)
            entry.ran.extend(
                node.type for node in recording.nodes[max(0, before[0] - recording.dropped) :]
            )
        else:
            entry.ran.extend(op.type for op in graph.get_operations()[before[1] :])
        if not any(name.startswith(_OWN) for name in entry.mapping.values()):
            recording.maps.append(entry)


def _strings(mapping: Any) -> dict[str, str]:
    if not isinstance(mapping, dict):
        return {}
    return {k: v for k, v in mapping.items() if isinstance(k, str) and isinstance(v, str)}


def _size(graph: Any) -> int:
    return len(graph.get_operations())
