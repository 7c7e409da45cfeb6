"""Every sentence the check says to a learner. What happened, where, what to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .probe.outcome import Outcome
    from .verdict.compare import Finding

PASS = "Right."
NOT_ATTEMPTED = "Not attempted yet."
NOT_ATTEMPTED_SAYS = (
    "The starter is as it was. Write your answer in the cell above, run it, then check again."
)
NOT_GRADED = "Your notebook could not be graded."
NOT_GRADED_SAYS = (
    "Open it in JupyterLab, let Kernel → Restart Kernel and Run All Cells go through to its end, "
    "save it under the name it had, and hand it in again, or ask who gave it to you."
)
FILL_IN = "Fill in {where}: there is still a ____ in it."
A_LINE = "line {line} of {name}"
A_GAP = "Fill in what is open: your answer, or a function that it calls, still gives back a ____."

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

FLOAT32_INSIDE = (
    "With float64 inputs something on the way is float32, which holds half the digits and no number "
    "beyond 3.4e38. Compute in the dtypes of what comes in: of the inputs, of the upstream gradient."
)
MOST_KEYS = 60  # characters of a dictionary's keys
A_LIST, ONE_VALUE, A_TUPLE = "A list", "One value", "A tuple of {count}"
OTHER_FORM = "{asked} is asked, {came} came back. Return the answers in the form asked for."

_HEADLINES = {
    "value": "The value is not right",
    "gradient": "The gradient is not right",
    "robust": "Right on the usual input, but not on every one",
}

MODES = {
    "eager": "called directly",
    "outside": "traced by tf.function, tape outside",
    "inside": "tape inside the tf.function",
    "graph": "in a tf.Graph with tf.compat.v1.gradients",
    "xla": "compiled by XLA",
    "fit": "in model.fit",
}


def gap(line: int | None, name: str | None) -> str:
    """What to say of a gap: where it is, if that is known."""
    if line is None:
        return A_GAP
    return FILL_IN.format(where=A_LINE.format(line=line, name=name or "your answer"))


def headline(outcome: str, mistake: str | None, part: str | None) -> str:
    """The first line of a verdict that is not a pass."""
    if outcome == "error":
        return "Your code raised an exception."
    start = _HEADLINES.get(part or "", "Not right yet")
    return f"{start}: {mistake}." if mistake else f"{start}."


def pattern(name: str, wrong: Sequence[Finding], factor: str) -> str:
    """What to say of a general pattern: values are no gradients."""
    if name in OF_VALUES and all(f.key.startswith("value") for f in wrong):
        inside = name == "none" and wrong[0].key != "value"
        which = thing(wrong[0].key).capitalize()
        return OF_VALUES["none inside" if inside else name].format(which=which)
    return PATTERNS[name].format(factor=factor)


RAISED = "Read the exception below; it was raised with the inputs shown."
UNNAMED = "No known mistake fits. Compare the worst element below with what you get on paper."
COMPLEX = "tensor of complex numbers"
UNKNOWN_SHAPE = "XLA compiles for shapes that are known before it runs; this one is {shape}"
ODD_TYPE = "A {kind} came back, which is not an answer here. Return a tensor of real numbers."
HANDED = (
    "check was handed a {kind}. Hand over the function itself, by its name and without calling it."
)
HIDDEN = {  # the same where inputs, values and exceptions are not shown
    RAISED: "It was raised with inputs that are drawn for the score and not shown.",
    UNNAMED: "No known mistake fits. The inputs are drawn for the score and not shown.",
}


def unknown(wrong: Sequence[Finding]) -> str:
    """What to say when no known mistake fits."""
    first = wrong[0]
    if first.status == "error":
        return RAISED
    if first.outcome.detail.get("handed"):
        return HANDED.format(kind=first.outcome.text)
    if first.status == "type":
        return ODD_TYPE.format(kind=first.outcome.text or COMPLEX)
    if first.status == "missing" and first.outcome.text:
        return OTHER_FORM.format(asked=first.outcome.detail["asked"], came=first.outcome.text)
    if first.status == "missing":
        return (
            f"Nothing came back for {thing(first.key)}. Does your answer return all that is asked?"
        )
    if first.status == "skipped":
        return f"The gradient could not be taken: the value has shape {first.outcome.text}."
    if first.status == "word":
        return "Read the entries below once more."
    return UNNAMED


def container(count: int, keys: str) -> str:
    """What came where one value was asked; `keys` is empty but for a dictionary."""
    if not keys:
        return f"a tuple or list of {count}"
    return (
        f"a dictionary with the keys {keys if len(keys) <= MOST_KEYS else keys[:MOST_KEYS] + '…'}"
    )


def alone(outcome: Outcome) -> str:
    """What came where several outputs were asked."""
    if outcome.array is not None:
        return f"one tensor of shape {outcome.array.shape}"
    if outcome.kind == "none":
        return "None"
    return f"something of type {outcome.text}" if outcome.kind == "type" else f"one {outcome.kind}"


def table(wrong: Sequence[Finding], options: Mapping[str, Any]) -> str:
    """One line per wrong entry of a dictionary, with its reason."""
    if wrong[0].outcome.detail.get("handed"):
        return f"A dictionary is asked, a {wrong[0].outcome.text} came."
    if options.get("planted"):
        return PLANTED_SCORE if len(wrong) > 1 else ""
    return "\n".join(f"{name_entry(f)}: {_entry(f, options)}" for f in wrong)


def name_entry(finding: Finding) -> str:
    """The entry as the learner wrote it."""
    return finding.key.removeprefix("entry:")


NOT_ANSWERED = "not answered yet."
MISSPELT = " Nothing is asked about {near!r}: is it misspelt?"


def _entry(finding: Finding, options: Mapping[str, Any]) -> str:
    if finding.status in ("blank", "none", "missing"):
        near = finding.outcome.detail.get("near")
        return NOT_ANSWERED + (MISSPELT.format(near=near) if near else "")
    allowed = options["allowed"]
    answer = finding.outcome.word if finding.outcome.kind == "word" else None
    if finding.outcome.array is not None and finding.outcome.array.shape == ():
        answer = finding.outcome.array.item()
    if isinstance(answer, str) and answer in map(str, allowed) and answer not in allowed:
        return f"not {answer!r}, a text: write it without quotes."
    if answer not in allowed:
        return f"not one of {', '.join(str(word) for word in allowed)}."
    return f"not {answer}. {options['because'][finding.key]}"


PLANTED_SCORE = "Score: faults caught, less one for every false alarm. The table says which."


def planted(found: Sequence[Finding], options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """One row per planted function: what the learner's checker made of it."""
    faults = options.get("planted", ())
    return tuple(
        (name_entry(f), _planted(f, name_entry(f) in faults, options)) for f in found if faults
    )


def _planted(finding: Finding, fault: bool, options: Mapping[str, Any]) -> str:
    if finding.right:
        return "fault caught" if fault else "correct, passed"
    if finding.status == "error":
        detail, text = finding.outcome.detail, finding.outcome.text
        return f"your checker raised {detail.get('type')}: {text}"
    start = "fault missed" if fault else "false alarm"
    return f"{start}. {options['because'][finding.key]}"


def thing(key: str) -> str:
    """A key in words: "gradient:x" is "the gradient to x"."""
    what, _, name = key.partition(":")
    if what == "value":
        return "the value"
    if key.startswith("value["):
        return f"output {key.removeprefix('value')}"
    named = {"gradient": "the gradient to", "second": "the second derivative to", "entry": "entry"}
    return f"{named[what]} {name}" if what in named else key


WHERE, GOT, EXPECTED, RATIO = "where", "yours", "right", "yours / right"
ELEMENT, TOLERANCE, INPUTS, LINE = "worst element", "tolerance", "inputs", "your line {line}"


def where(case: str, mode: str) -> str:
    """The case and the way of running."""
    return f"{case}, {MODES[mode]}" if mode in MODES else case


def tolerance(rtol: float, dtype: str) -> str:
    """The tolerance that was applied."""
    return f"{rtol:.0e} of the magnitude ({dtype})"


def checked(cases: Sequence[str], modes: Sequence[str], rtol: float) -> str:
    """What a pass rests on."""
    return f"Checked on {_list(cases)}; {_list(modes)}; to {rtol:.0e} of the magnitude."


FOR_THE_SCORE = "{title}, for the score"  # beside the learner's own check of the same
ACCURACY, FLOOR, BESIDE = "held-out accuracy", "floor", "trivial models"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def all_entries(count: int) -> str:
    """What a pass of a table rests on."""
    return f"All {count} entries are right."


def _list(things: Sequence[str]) -> str:
    return things[0] if len(things) == 1 else ", ".join(things[:-1]) + " and " + things[-1]


HINT = "Hint {number} of {count}."
REREAD = "Reread: {section}."


def failed(exercise: str, part: str | None, headline: str) -> str:
    """The one line of a CheckFailed."""
    return f"{exercise}{f', {part}' if part else ''}: {headline}"


PREDICT_FIRST = "Predict first."
COMMIT = (
    "Replace ____ by one of {choices} and run the cell again, or choose a button. Then it runs."
)
NO_SUCH_GUESS = "{guess!r} is not a prediction. Use one of: {choices}."
GUESS, TRUTH = "you said", "TensorFlow says"
PREDICTED, MISPREDICTED = "As you predicted.", "Not what you predicted."


STATUS = {
    "done": "done",
    "attempted": "attempted",
    "regressed": "was right once and no longer is",
    "open": "open",
}
HINTS_USED = "2h: two hints used"
OUTCOME = {"pass": "right", "fail": "not right", "error": "error", "unattempted": ""}
NEAREST = " Do you mean {near!r}?"
ALSO = "Also right: {also}"


def progress(
    done: int, total: int, next: tuple[str, str] | None, right: int, predicted: int
) -> str:
    """The map in a sentence or two."""
    said = f"{done} of {total} exercises done."
    said += f" Next: {next[1]} in {next[0]}." if next else " Nothing is left to do."
    return said + (f" {right} of {predicted} first predictions were right." if predicted else "")
