"""What a verdict says: the mistakes that are known in general, gaps, other forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..words import COMPLEX, a, cut, thing

if TYPE_CHECKING:
    from ..probe.outcome import Outcome
    from .compare import Finding

PASS = "Right."
NOT_ATTEMPTED = "Not attempted yet."
NOT_ATTEMPTED_SAYS = (
    "The starter is as it was. Write your answer in the cell above, run it, then check again."
)
FILL_IN = "Fill in {where}: there is still a `____` in it."
A_LINE = "line {line} of {name}"
QUOTED = ", `{code}`"  # notebooks show no line numbers
A_GAP = "Fill in what is open: your answer, or a function that it calls, still gives back a `____`."

PATTERNS = {
    "upstream lost": (
        "Your gradient is right only while the upstream gradient is all ones. Multiply by the "
        "upstream gradient that comes in: a rule returns upstream · derivative."
    ),
    "true derivative": (
        "This is the true derivative of the forward function. Your surrogate never took effect."
    ),
    "none": (
        "TensorFlow returned None: no differentiable path leads from the output back to this "
        "input. Somewhere on the way the value leaves the tape."
    ),
    "nothing returned": "Your function returned None. Is a `return` missing?",
    "not none": "None is asked here, and a number came back: something is connected that should not be.",
    "zeros": (
        "The gradient is zero everywhere. The path exists, but something on it multiplies by zero "
        "or two paths cancel."
    ),
    "nan": "There is a NaN. Look for 0 · inf, 0 / 0 or inf − inf on the way, also in branches not taken.",
    "shape": "The shape is not the one asked for.",
    "dtype": "The numbers are right, the dtype is not: an answer has the dtype of its input.",
    "transposed": "These are the right numbers, transposed: rows and columns are exchanged.",
    "not reduced": (
        "The gradient has the shape of the broadcast result. Sum it over the axes along which its "
        "input was stretched."
    ),
    "summed away": "You return one number, the sum. One number per element is asked.",
    "sign": "The sign is wrong: everything is −1 times what it should be.",
    "mean for sum": "Everything is {factor} times what it should be: a mean was taken where a sum is asked.",
    "constant factor": "Everything is {factor} times what it should be.",
    "below the floor": (
        "The labels are of the right shape and better than guessing, but too many are wrong. The "
        "accuracy and the floor it must reach stand below."
    ),
    "guessing": "Not better than guessing: this predictor has learned nothing about these images.",
    "passed through": "This is the upstream gradient itself, passed through unchanged.",
}

PARTLY = "Some of the calls are right. In the others {says}"

# The same patterns in what a function returns, where no gradient is asked of it.
OF_VALUES = {
    "none": (
        "Your function returned None. Is a `return` missing? If a tape in it answered None, no "
        "differentiable path led from its target to its source."
    ),
    "none inside": (
        "{which} of your function is None, where a tensor is asked. If a tape in it answered None, "
        "no differentiable path led from its target to its source."
    ),
    "zeros": (
        "All that came back is zero. A factor is zero, two terms cancel, or a loop never added "
        "anything."
    ),
}
MOST_KEYS = 60  # characters of a dictionary's keys
A_LIST, ONE_VALUE, A_TUPLE = "A list", "One value", "A tuple of {count}"
OTHER_FORM = "{asked} is asked, {came} came back. Return the answers in the form asked for."

_HEADLINES = {
    "value": "The value is not right",
    "gradient": "The gradient is not right",
    "robust": "Not right on every input",
}


def gap(line: int | None, name: str | None, code: str | None) -> str:
    """What to say of a gap: where it is, if that is known."""
    if line is None:
        return A_GAP
    where = A_LINE.format(line=line, name=name or "your answer")
    return FILL_IN.format(where=where + (QUOTED.format(code=code) if code else ""))


def headline(outcome: str, mistake: str | None, part: str | None) -> str:
    """The first line of a verdict that is not a pass."""
    if outcome == "error":
        return "Your code raised an exception."
    start = _HEADLINES.get(part or "", "Not right yet")
    return f"{start}: {mistake}." if mistake else f"{start}."


def pattern(name: str, wrong: Sequence[Finding], factor: str, partly: bool = False) -> str:
    """What to say of a general pattern: values are no gradients. partly: not in every call."""
    if partly:
        says = pattern(name, wrong, factor)
        return PARTLY.format(says=says[0].lower() + says[1:])
    if name in OF_VALUES and not any(f.key.startswith(("gradient", "second")) for f in wrong):
        inside = name == "none" and wrong[0].key.startswith("value[")
        which = thing(wrong[0].key).capitalize()
        return OF_VALUES["none inside" if inside else name].format(which=which)
    return PATTERNS[name].format(factor=factor)


RAISED = "Read the exception below; it was raised with the inputs shown."
UNNAMED = "No known mistake fits. Compare the worst element below with what you get on paper."
ODD_TYPE = "{kind} came back, which is not an answer here. Return a tensor of real numbers."
HANDED = (
    "`check` was handed {kind}. Hand over the function itself, by its name and without calling it."
)
UNNAMED_WORD = "No known mistake fits. What came out and what is right stand below."
ONE_ASKED = (
    "One True or False is asked, and an array of shape {shape} came back. `np.all` or `np.any` "
    "makes one of it."
)
HIDDEN = {  # the same where inputs, values and exceptions are not shown
    RAISED: "It was raised with inputs that are drawn for the score and not shown.",
    UNNAMED: "No known mistake fits. The inputs are drawn for the score and not shown.",
    UNNAMED_WORD: "No known mistake fits. The inputs are drawn for the score and not shown.",
}


def unknown(wrong: Sequence[Finding]) -> str:
    """What to say when no known mistake fits."""
    first = wrong[0]
    if first.status == "error":
        return RAISED
    if first.outcome.detail.get("handed"):
        return HANDED.format(kind=a(first.outcome.text))
    if first.status == "type":
        came = a(first.outcome.text or COMPLEX)
        return ODD_TYPE.format(kind=came[0].upper() + came[1:])
    if first.status == "missing" and first.outcome.text:
        return OTHER_FORM.format(asked=first.outcome.detail["asked"], came=first.outcome.text)
    if first.status == "missing":
        return (
            f"Nothing came back for {thing(first.key)}. Does your answer return all that is asked?"
        )
    if first.status == "skipped":
        return f"The gradient could not be taken: the value has shape {first.outcome.text}."
    if first.status == "word":
        array = first.outcome.array if isinstance(first.expected, bool) else None
        shape = array.shape if array is not None else ()
        return ONE_ASKED.format(shape=shape) if shape else UNNAMED_WORD
    return UNNAMED


def container(count: int, keys: str) -> str:
    """What came where one value was asked; `keys` is empty but for a dictionary."""
    if not keys:
        return f"a tuple or list of {count}"
    return f"a dictionary with the keys {cut(keys, MOST_KEYS)}"


def alone(outcome: Outcome) -> str:
    """What came where several outputs were asked."""
    if outcome.array is not None:
        return f"one tensor of shape {outcome.array.shape}"
    if outcome.kind == "none":
        return "None"
    return f"something of type {outcome.text}" if outcome.kind == "type" else f"one {outcome.kind}"
