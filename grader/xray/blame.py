"""What can be to blame, as data: the sentences are in `grader.xray.words`."""

from __future__ import annotations

from dataclasses import dataclass

from grader.xray.record_types import Line, Override


@dataclass(frozen=True)
class Blame:
    """Why the gradient to one input is None, zero or NaN.

    input: the input's name; kind: a word of `KINDS`; op: the operation's type ("" where none is
    to blame); node: its index in the recording (-1: none); line: where the user's code made it;
    detail: what else the sentence needs (a dtype, a Python word, a function's name, an error).
    """

    input: str
    kind: str
    op: str = ""
    node: int = -1
    line: Line | None = None
    detail: str = ""
    override: Override | None = None


KINDS = {
    # None
    "no_derivative": "registered, and its gradient function returns None",
    "not_differentiable": "registered as having no gradient",
    "unregistered": "no gradient registered: asking the tape raises LookupError",
    "to_int": "turns floats into integers, booleans or strings",
    "index": "used as an index or a condition only",
    "stop_gradient": "tf.stop_gradient",
    "custom_none": "a custom gradient that returns None",
    "override_none": "an overriding gradient that returns None",
    "python_function": "numpy_function or py_func",
    "left_tensorflow": "Python or NumPy read the value",
    "numpy_call": "a NumPy call in the function's code",
    "assigned": "written into a variable",
    "unrecorded": "ran while the tape was stopped",
    "unused": "does not take part in the result",
    "int_input": "the input is no float",
    "not_trainable": "a variable with trainable=False",
    "no_tensor": "the result is no tensor",
    "int_output": "the result is no float",
    "branch": "the branch that uses it was not taken",
    # zero
    "flat": "the derivative is zero everywhere",
    "saturated": "outside the range where it moves",
    "not_chosen": "the other branch of a where",
    "times_zero": "multiplied by zero",
    "cancel": "paths that cancel",
    "upstream_cancels": "zero only for a gradient that is the same everywhere",
    "masked": "only entries count that get no gradient from above",
    "underflow": "numbers too small for the dtype",
    "rounding": "zero but for rounding",
    "custom_zero": "a custom gradient that returns zero",
    "override_zero": "an overriding gradient that returns zero",
    "override_ignored": "a zero or missing derivative whose override is ignored",
    "zero_here": "the derivative is zero at these values",
    # NaN
    "zero_times_inf": "an infinite derivative times a zero",
    "inf_times_zero": "an infinite derivative, multiplied by a zero further down",
    "inf_minus_inf": "infinite contributions of both signs",
    "custom_nan": "a custom gradient that returns NaN",
    "nan_input": "an input holds NaN",
    "condition": "only decides which way is taken",
    "forward_nan": "the value itself is NaN",
    "nan_here": "the derivative is NaN at these values",
    # any
    "earlier": "before the operations that were kept",
    "closed": "inside a tf.function that could not be opened",
    "xla": "only as compiled by XLA",
    "shape_only": "only the shape is used",
    "tape_only": "seen only in the tape's own pass",
    "refused": "tape.gradient raises",
    "unknown": "not found",
}
