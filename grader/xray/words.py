"""Every sentence that the X-ray says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grader.xray.blame import Blame
from grader.xray.record_types import Line, Override, OverrideMap

if TYPE_CHECKING:
    from grader.xray.picture import Arrow, Box

STATUS = {"alive": "alive", "none": "None", "zero": "zero", "nan": "NaN"}
_VERB = {
    "none": "{subject} cuts the gradient to {inputs}",
    "zero": "{subject} makes the gradient to {inputs} zero",
    "nan": "{subject} makes the gradient to {inputs} NaN",
}
_NAMES = {
    "SelectV2": "where",
    "Select": "where",
    "AddV2": "+",
    "Sub": "-",
    "Mul": "*",
    "RealDiv": "/",
    "Neg": "negation",
    "Greater": "the comparison >",
    "GreaterEqual": "the comparison >=",
    "Less": "the comparison <",
    "LessEqual": "the comparison <=",
    "Equal": "the comparison ==",
    "NotEqual": "the comparison !=",
    "PyFunc": "numpy_function",
    "PyFuncStateless": "numpy_function",
    "StatelessIf": "cond",
    "If": "cond",
    "StatelessWhile": "while_loop",
    "While": "while_loop",
    "StatelessCase": "switch_case",
    "Case": "switch_case",
    "GatherV2": "gather",
    "ResourceGather": "gather",
    "ClipByValue": "clip",
    "Minimum": "minimum (clip)",
    "Maximum": "maximum (clip)",
    "AssignVariableOp": "assign",
    "AssignAddVariableOp": "assign_add",
    "AssignSubVariableOp": "assign_sub",
    "ArgMax": "argmax",
    "ArgMin": "argmin",
    "Rint": "round (Rint)",
    "MatMul": "matmul",
    "BatchMatMulV2": "matmul",
    "Mean": "reduce_mean",
    "Sum": "reduce_sum",
    "Max": "reduce_max",
    "Min": "reduce_min",
    "Prod": "reduce_prod",
    "StridedSlice": "slice",
}
# {op} the operation's type, {name} what one calls it, {detail} see Blame
_REASON = {
    "no_derivative": "{op} has no derivative (its registered gradient returns None)",
    "not_differentiable": "{op} is registered as not differentiable",
    "unregistered": "no gradient is registered for {op}, so tape.gradient raises LookupError",
    "to_int": "{op} gives {detail}, and no gradient flows through {detail}",
    "index": "it is used as an index or a condition only",
    "stop_gradient": "that is what stop_gradient is for; the value passes, the gradient does not",
    "custom_none": "its custom gradient returns None",
    "override_none": "the overriding gradient {detail} returns None",
    "python_function": "NumPy computes there, and TensorFlow does not see inside "
    "(py_function with TensorFlow operations would keep the gradient)",
    "left_tensorflow": "there the value leaves TensorFlow and comes back as a constant",
    "numpy_call": "what NumPy computes is a constant to TensorFlow",
    "assigned": "a variable keeps the value, not the operations that made it",
    "unrecorded": "it ran while the tape was stopped",
    "unused": "with these inputs the result does not depend on it",
    "int_input": "it is {detail}, and only floats have gradients",
    "not_trainable": "the variable has trainable=False, so the tape does not watch it",
    "no_tensor": "the function returned {detail}, which is no tensor",
    "int_output": "the result is {detail}, and only floats have gradients",
    "branch": "another branch or turn was taken ({detail})",
    "flat": "{op} is flat: its derivative is zero wherever it has one",
    "saturated": "every entry lies where {op} does not move",
    "not_chosen": "{op} chose the other branch for every entry",
    "times_zero": "the other factor of {op} is zero",
    "cancel": "the paths through {op} cancel exactly",
    "upstream_cancels": "{op} has a derivative, but it sums to zero "
    "when the gradient from above is the same for all entries",
    "masked": "{op} has a derivative, but only for entries that get no gradient from above",
    "underflow": "the gradient is so small by then that it underflows to zero",
    "custom_zero": "its custom gradient returns zero",
    "override_zero": "the overriding gradient {detail} returns zero",
    "override_ignored": "the override with {detail} is ignored here, "
    "and what counts is the gradient of {op} itself",
    "zero_here": "the derivative of {op} is zero at these values",
    "zero_times_inf": "its derivative is infinite at one of the values, "
    "and times the zero that {detail} sends it is NaN",
    "inf_times_zero": "its derivative is infinite at one of the values, "
    "and {detail} then multiplies it by zero",
    "custom_nan": "its custom gradient returns NaN",
    "nan_input": "{detail} already holds a NaN",
    "condition": "it only decides which way is taken or how often a loop turns",
    "forward_nan": "its value is already NaN before any gradient",
    "nan_here": "its derivative is NaN at one of the values",
    "earlier": "the cause lies before the last operations, which are the ones looked at",
    "closed": "what happens inside was not looked at",
    "xla": "op by op it is not, but under jit_compile=True XLA computes the derivative differently",
    "shape_only": "only the shape or the dtype is used, not the values "
    "(a derivative that is constant looks so)",
    "tape_only": "the tape says {detail}, and no operation that can be looked at explains it",
    "refused": "tape.gradient raised {detail}",
    "unknown": "its gradient could not be looked at ({detail})",
}
_NOBODY = {
    "unused": "nothing leads from {inputs} to the result",
    "int_input": "{inputs} can have no gradient",
    "not_trainable": "{inputs} can have no gradient",
    "no_tensor": "no gradient can reach {inputs}",
    "int_output": "no gradient can reach {inputs}",
    "tape_only": "the gradient to {inputs} is {detail}",
    "earlier": "the gradient to {inputs} is {detail}",
    "xla": "the gradient to {inputs} is {detail}",
    "nan_input": "the gradient to {inputs} is NaN",
    "condition": "nothing leads from {inputs} to the result",
    "cancel": "the gradient to {inputs} cancels to zero",
    "branch": "{subject} took a way that does not use {inputs}",
}


# inside a tf.function a gradient that is None comes out of these as zeros
FILLED = "tf.cond, tf.while_loop and tf.switch_case hand that on as zeros"
_NONE_KINDS = {"no_derivative", "not_differentiable", "to_int", "stop_gradient", "python_function"}


def name_of(op: str) -> str:
    """What one calls an operation type: "Round" → "round", "SelectV2" → "where"."""
    if op in _NAMES:
        return _NAMES[op]
    if function := re.fullmatch(r"__(?:forward|inference|backward)_(.*)_\d+", op):
        return f"{function.group(1)} (tf.function)"
    bare = re.sub(r"V\d+$", "", op)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", bare).lower()


def subject(blame: Blame) -> str:
    """Who is to blame, as the subject of a sentence."""
    if blame.kind in ("left_tensorflow", "numpy_call"):
        return blame.detail
    if blame.kind.startswith("custom"):
        own = blame.detail and blame.detail != "IdentityN"
        return f"custom_gradient {blame.detail}" if own else "custom_gradient"
    return name_of(blame.op)


def reason(blame: Blame) -> str:
    """The part of the sentence after the colon."""
    detail = blame.detail
    if blame.override is not None and blame.kind.startswith("override"):
        detail = blame.override.name
    if blame.kind in ("zero_times_inf", "inf_times_zero"):
        detail = name_of(detail) if detail else "the operation above"
    return _REASON[blame.kind].format(op=blame.op, name=name_of(blame.op), detail=detail)


def at(line: Line | None) -> str:
    """ " (line 3)", or nothing."""
    return "" if line is None else f" (line {line.number})"


def finding(blame: Blame, status: str, inputs: Sequence[str]) -> str:
    """One line: who does what to the gradient of which inputs, and why."""
    names = listed(inputs)
    pattern = _NOBODY.get(blame.kind, _VERB[status])
    detail = STATUS.get(blame.detail, blame.detail)
    head = pattern.format(subject=subject(blame), inputs=names, detail=detail)
    filled = f"; {FILLED}" if status == "zero" and blame.kind in _NONE_KINDS else ""
    return f"{head}{at(blame.line)}: {reason(blame)}{filled}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """ "x", "x and w", "x, w and b", or the first ones and a count."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def all_alive(names: Sequence[str]) -> str:
    """The finding when nothing is wrong."""
    return f"the gradient to {listed(names)} is alive" if names else NOTHING


NOTHING = "there is no tensor or variable to ask a gradient for"
IN_GRAPH = "the function does not run in eager execution; it was looked at inside tf.function"


def raised(error: BaseException, line: Line | None) -> str:
    """The finding when the function itself raised."""
    return f"the function raised {type(error).__name__}{at(line)}: {first_line(error)}"


def missing_gradient(name: str, op: str) -> str:
    """The finding when a map names a gradient that nobody registered."""
    return (
        f'the function raised LookupError: the override of {op} names the gradient "{name}", '
        "and no gradient is registered under that name"
    )


def refused(error: BaseException) -> str:
    """A warning: asking for all gradients at once fails."""
    return f"tape.gradient raises {type(error).__name__}: {first_line(error)}"


def gradient_error(error: BaseException) -> str:
    """The finding when the backward pass raised."""
    return f"the forward pass runs, but tape.gradient raised {type(error).__name__}: " + (
        first_line(error)
    )


def first_line(error: BaseException) -> str:
    """The first telling line of an error (TensorFlow puts its traceback into the message)."""
    lines = [part.strip() for part in str(error).splitlines() if part.strip()]
    telling = [t for t in lines if re.match(r"\w*(Error|Exception)\b.*:", t)]
    text = re.sub(r"\{\{.*?\}\}\s*", "", (telling or lines or [""])[0])
    counts = re.search(r"do not match num inputs \d+", str(error))
    text += f" {counts.group()}" if counts and counts.group() not in text else ""
    return text if len(text) <= 200 else text[:197] + "..."


def ignored(op: str, override: str, registered: bool) -> str:
    """A warning: this override does nothing here."""
    missing = "" if registered else " (no gradient of that name is registered)"
    return (
        f"the override of {op} with {override}{missing} is ignored: eager execution, and a tape "
        "inside the function that holds the map, use the gradient of the operation itself. It acts "
        "when the map is inside a tf.function and the tape outside; tf.custom_gradient acts "
        "everywhere."
    )


def ignored_inside(op: str, override: str) -> str:
    """A warning: the function holds a tape and a map."""
    return (
        f"the override of {op} with {override} is ignored by the tape inside the same tf.function; "
        "take the gradient outside of it, or use tf.custom_gradient"
    )


def no_such_op(entry: OverrideMap, op: str) -> str:
    """A warning: nothing of that type ran inside the map."""
    ran = listed(sorted(set(entry.ran)), 6) or "nothing"
    return f'the override map names "{op}"{at(entry.line)}, but what ran inside it is: {ran}'


def also_leaves(word: str, line: Line | None) -> str:
    """A warning for a gradient that is alive on another path."""
    return f"{word}{at(line)} takes a value out of TensorFlow; that path carries no gradient"


def zeros(name: str, count: int, size: int) -> str:
    """A note on an alive gradient with zero entries."""
    return f"{count} of {size} entries of the gradient to {name} are zero"


def infinite(name: str) -> str:
    """A note on an alive gradient with infinite entries."""
    return f"the gradient to {name} has infinite entries"


def earlier(count: int) -> str:
    """The box for what was dropped."""
    return f"{count} earlier operations"


def dropped(before: int, kept: int) -> str:
    """What was left out of a very long run."""
    return f"the last {kept} operations were looked at, the {before} before them were not"


def closed(name: str, error: str) -> str:
    """A tf.function that could not be opened."""
    return f"the inside of {name} could not be looked at ({error}); it is taken as one operation"


def unseen(op: str) -> str:
    """An operation whose own gradient could not be computed."""
    return f"the gradient of {op} could not be computed a second time; the tape's answer is shown"


def not_drawn(count: int) -> str:
    """What the drawing leaves out."""
    return f"{count} operations are folded together in the drawing"


def not_drawn_at_all(error: BaseException) -> str:
    """The drawing failed."""
    return f"the graph could not be drawn ({type(error).__name__}: {first_line(error)})"


def through_override(name: str, op: str, override: str) -> str:
    """A note: what an override that acts is worth."""
    return (
        f"the gradient to {name} passes the override of {op} with {override}; "
        "a tape inside the same tf.function would ignore it"
    )


def broken(error: BaseException) -> str:
    """The X-ray itself failed."""
    return f"the X-ray could not follow this function ({type(error).__name__}: {first_line(error)})"


LEGEND = {
    "alive": "the gradient comes back alive",
    "none": "cut: None comes back",
    "zero": "zero comes back",
    "nan": "NaN comes back",
    "off": "no gradient arrives",
}
KIND_LEGEND = {
    "blamed": "thick red frame: to blame",
    "override": "solid orange frame: its gradient is overridden",
    "custom": "solid orange frame: custom gradient",
    "ignored": "dashed frame: an override that is ignored",
    "stop": "cut corners: stop_gradient",
    "way_out": "pointed box: the value leaves TensorFlow",
}
MARK = {"none": "None", "zero": "0", "nan": "NaN"}
STATUS_TITLE = "The gradient to each input"
LEFT_OUT = "Left out: "


def override_note(override: Override) -> str:
    """The second line in an overridden box."""
    if not override.registered:
        return f"gradient {override.name}: MISSING"
    return f"gradient {override.name}" + ("" if override.acts else ": ignored")


def custom_label(op: str, in_graph: bool) -> str:
    """What a box with a custom gradient is called."""
    return "custom_gradient" if in_graph or op == "IdentityN" else f"{op} (custom)"


def hidden(count: int) -> str:
    """Inputs that the list leaves out."""
    return f"and {count} more"


def runs(count: int) -> str:
    """How often the user's code ran."""
    times = {1: "once", 2: "twice"}.get(count, f"{count} times, tracing included")
    return f"The function ran {times}."


def alt(headline: str, arrows: Sequence[Arrow], boxes: Mapping[str, Box]) -> str:
    """The picture in one paragraph, for those who do not see it."""
    edges = [
        f"{boxes[a.start].label} to {boxes[a.end].label}: "
        + STATUS.get(a.state, "no gradient arrives")
        for a in arrows[:40]
    ]
    more = f"; and {len(arrows) - 40} more arrows" if len(arrows) > 40 else ""
    return f"Graph of the function. {headline}. Arrows: {'; '.join(edges)}{more}."
