"""`____`: what a starter leaves open. It absorbs any use, so that only the check speaks of it."""

from __future__ import annotations

import linecache
import sys
from typing import Any

from .whose import is_learners, is_ours


class Blank:
    """A gap in an answer.

    Every use of it (call, attribute, arithmetic, index, iteration) gives the blank again, so that
    a half-filled answer runs up to its check. `line` is the line in which the learner's code last
    used the gap, counted from the first line of the function `name`, and `code` what stands in it;
    None where it did not.
    """

    line: int | None = None
    name: str | None = None
    code: str | None = None

    def forget(self) -> None:
        """From here on nothing has used the gap."""
        self.line = self.name = self.code = None

    def _used(self, *args: Any, **kwargs: Any) -> Blank:
        frame = sys._getframe(1)
        while frame is not None and not is_learners(file := frame.f_code.co_filename):
            if is_ours(file) and file != __file__:
                return self  # the probe's, or a check's: what stands behind it is no answer
            frame = frame.f_back  # type: ignore[assignment]
        if frame is not None:
            code = frame.f_code
            inside = code.co_name not in ("<module>", "<lambda>")
            self.line = frame.f_lineno - (code.co_firstlineno - 1 if inside else 0)
            self.name = code.co_name if inside else None
            self.code = linecache.getline(code.co_filename, frame.f_lineno).strip() or None
        return self

    def __getattr__(self, name: str) -> Blank:
        if name.startswith("_"):  # protocols of NumPy, TensorFlow, IPython look here: not a use
            raise AttributeError(name)
        return self._used()

    def __iter__(self) -> Any:
        return iter((self, self))

    def __repr__(self) -> str:
        return "____"

    def __bool__(self) -> bool:
        self._used()
        return False

    def __hash__(self) -> int:
        return id(self)


_OPERATORS = (
    "call add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul "
    "rmatmul and rand or ror xor rxor neg pos abs invert eq ne lt le gt ge getitem enter exit"
)
for _name in _OPERATORS.split():
    setattr(Blank, f"__{_name}__", Blank._used)

____ = Blank()
