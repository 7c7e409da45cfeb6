"""Run single operations eagerly, and look into variables, unseen by any callback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def execute(op: Any, inputs: list[Any], attrs: tuple[Any, ...]) -> list[Any]:
    """Run one graph operation eagerly on given values, without any callback."""
    import tensorflow as tf
    from tensorflow.python.eager import context
    from tensorflow.python.eager import execute as eager

    if op.type == "Const":
        return [tf.constant(tf.make_ndarray(op.get_attr("value")), op.get_attr("dtype"))]
    if op.type == "PlaceholderWithDefault":
        return inputs
    out = eager.quick_execute(op.type, len(op.outputs), inputs, attrs, context.context())
    return list(out or [])


def attributes(op: Any) -> tuple[Any, ...]:
    """An operation's attributes as the flat tuple that eager execution takes."""
    flat: list[Any] = []
    for attr in op.op_def.attr:
        flat += [attr.name, _plain(attr.type, op.get_attr(attr.name))]
    return tuple(flat)


def _plain(kind: str, value: Any) -> Any:
    if kind.startswith("list("):
        return [_plain(kind[5:-1], v) for v in value]
    if kind == "type":
        return value.as_datatype_enum
    if kind == "shape":
        import tensorflow as tf

        shape = tf.TensorShape(value)
        return None if shape.rank is None else shape.as_list()
    return value


def snapshot(graph: Any, captured: Sequence[Any]) -> list[tuple[Any, Any]]:
    """(handle, value) of each captured variable, if the graph writes to any variable."""
    if not any(writes(op) for op in graph.get_operations()):
        return []
    return [(h, v) for h in captured if (v := read(h)) is not None]


def read(handle: Any) -> Any:
    """The value of the variable behind a resource handle, or None if it holds none."""
    import tensorflow as tf
    from tensorflow.python.eager import context
    from tensorflow.python.eager import execute as eager

    if getattr(handle, "dtype", None) != tf.resource:
        return None
    try:
        dtype = handle._handle_data.shape_and_type[0].dtype
        attrs = ("dtype", dtype)
        return eager.quick_execute("ReadVariableOp", 1, [handle], attrs, context.context())[0]
    except Exception:
        return None


def write(handle: Any, value: Any) -> None:
    """Put a value into the variable behind a resource handle."""
    import tensorflow as tf

    tf.raw_ops.AssignVariableOp(resource=handle, value=value)


def writes(op: Any) -> bool:
    """Whether an operation writes to a variable."""
    return "Assign" in op.type or op.type.startswith("ResourceScatter")
