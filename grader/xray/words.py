"""Every sentence that the X-ray says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.message import bare
from grader.words import a
from grader.xray.blame import Blame
from grader.xray.reasons import NAMES, NOBODY, REASON
from grader.xray.record_types import Line, OverrideMap

MOST_CODE = 60  # characters of a line
STATUS = {"alive": "alive", "none": "None", "zero": "zero", "nan": "NaN"}
_VERB = {
    "none": "{subject} cuts the gradient to {inputs}",
    "zero": "{subject} makes the gradient to {inputs} zero",
    "nan": "{subject} makes the gradient to {inputs} NaN",
}


# inside a tf.function a gradient that is None comes out of these as zeros
FILLED = "tf.cond, tf.while_loop and tf.switch_case hand that on as zeros"
_NONE_KINDS = {"no_derivative", "not_differentiable", "to_int", "stop_gradient", "python_function"}


def name_of(op: str) -> str:
    """What one calls an operation type: "Round" → "round", "SelectV2" → "where"."""
    if op in NAMES:
        return NAMES[op]
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
    return REASON[blame.kind].format(op=blame.op, name=name_of(blame.op), detail=detail)


def at(line: Line | None) -> str:
    """ " (line 3: y = tf.round(x))", since notebooks show no line numbers, or nothing."""
    if line is None:
        return ""
    code = line.text if len(line.text) <= MOST_CODE else line.text[:MOST_CODE] + " …"
    return f" (line {line.number}: {code})" if code else f" (line {line.number})"


def finding(blame: Blame, status: str, inputs: Sequence[str]) -> str:
    """One line: who does what to the gradient of which inputs, and why."""
    names = listed(inputs)
    pattern = NOBODY.get(blame.kind, _VERB[status])
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


def no_function(kind: str) -> str:
    """The finding when something else than a function was handed over."""
    return f"{a(kind)} is no function: hand over the function itself and its inputs, explain(f, x)"


def other_inputs(name: str, asked: Sequence[str], given: int) -> str:
    """The finding when a function was handed over without its inputs, or with others."""
    call = ", ".join([name, *asked])
    came = {0: "no input was", 1: "one input was"}.get(given, f"{given} inputs were")
    return f"{name} takes {listed(asked) or 'no inputs'}, and {came} given: call explain({call})"


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
    lines = [part.strip() for part in bare(str(error)).splitlines() if part.strip()]
    telling = [t for t in lines if re.match(r"\w*(Error|Exception)\b.*:", t)]
    text = (telling or lines or [""])[0]
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


def more_notes(count: int) -> str:
    """In place of more notes of that kind."""
    return f"{count} more gradients have such entries"


def infinite(name: str) -> str:
    """A note on an alive gradient with infinite entries."""
    return f"the gradient to {name} has infinite entries"


def through_override(name: str, op: str, override: str) -> str:
    """A note: what an override that acts is worth."""
    return (
        f"the gradient to {name} passes the override of {op} with {override}; "
        "a tape inside the same tf.function would ignore it"
    )


def broken(error: BaseException) -> str:
    """The X-ray itself failed."""
    return f"the X-ray could not follow this function ({type(error).__name__}: {first_line(error)})"
