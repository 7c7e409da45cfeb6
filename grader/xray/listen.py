"""Who reads a tensor's value, and which of some values are eager tensors."""

from __future__ import annotations

from typing import Any

from grader.xray import lines

WORDS = {
    "numpy": ".numpy()",
    "__array__": "NumPy",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "an index",
    "__bool__": "a Python condition",
    "__complex__": "complex()",
}
CONDITION = "condition"  # TensorFlow's own cond and loops read their predicate in eager
_DECIDERS = ("/while_loop.py", "/cond.py", "/tensor_util.py", "/control_flow_switch_case.py")


def reader(file: str, word: str, caller: str = "") -> str:
    """Who reads a value: the user's code (its word), tf.cond or a loop ("condition"), or "".
    `caller` is the function in `file`: a variable's `float()` reads its value by `.numpy()`."""
    if lines.is_ours(file):
        return ""
    name = file.replace("\\", "/")
    if name.endswith("resource_variable_ops.py"):
        return WORDS.get(caller, word)
    if "/tensorflow/" not in name:
        return word
    return CONDITION if name.endswith(_DECIDERS) else ""


def eager_tensors(values: Any) -> tuple[Any, ...]:
    """The eager tensors among some values (variables give their handle)."""
    found = []
    for value in values or ():
        tensor = getattr(value, "handle", value)
        if hasattr(tensor, "_id") and hasattr(tensor, "_numpy"):
            found.append(tensor)
    return tuple(found)


def tape_listens() -> bool:
    """Whether any tape records what runs now."""
    from tensorflow.python.eager import record

    return bool(record.could_possibly_record())
