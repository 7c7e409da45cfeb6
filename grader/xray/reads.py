"""Variable reads that TensorFlow does in C, where no op callback hears of them.

`x * v` with a variable `v` reads it on the way into the operation: the operation's record has an
input that nothing made. What can be seen is that `v._handle` was asked for just before.
"""

from __future__ import annotations

from typing import Any

from grader.xray.execute import read
from grader.xray.local import array, is_trainable


class HandleSpy:
    """Stands for the attribute `_handle` of all variables, and notes who was asked for it."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __get__(self, variable: Any, owner: Any = None) -> Any:
        """The variable's own handle, noted."""
        if variable is None:
            return self
        try:
            handle = variable.__dict__["_handle"]
        except KeyError:
            raise AttributeError("_handle") from None
        self.asked.append(handle)
        return handle

    def __set__(self, variable: Any, value: Any) -> None:
        """Keep it where it would be without us."""
        variable.__dict__["_handle"] = value

    def take(self) -> list[Any]:
        """The handles asked for since the last time, each once."""
        asked, self.asked = self.asked, []
        return list({h._id: h for h in asked if hasattr(h, "_id")}.values())


def matching(tensor: Any, handles: list[Any]) -> Any:
    """The variable handle whose value a tensor is, or None."""
    if not handles or not is_trainable(tensor):
        return None
    for handle in handles:
        value = read(handle)
        if value is None or value.dtype != tensor.dtype or value.shape != tensor.shape:
            continue
        mine, theirs = array(tensor), array(value)
        if mine is not None and theirs is not None and mine.tobytes() == theirs.tobytes():
            return handle
    return None
