"""What is said around a verdict: labels, hints, predictions, progress, pages without a verdict.

The verdict's own sentences are in `verdict.words` and `verdict.tables`, the pictures' in
`plots.words` and `xray.words`.
"""

from __future__ import annotations

from collections.abc import Sequence

NOT_GRADED = "Your notebook could not be graded."
NOT_GRADED_SAYS = (
    "Open it in JupyterLab, let Kernel → Restart Kernel and Run All Cells go through to its end, "
    "save it under the name it had, and hand it in again, or ask who gave it to you."
)
NOT_SHOWN = "What stood here is not shown: it has too many HTML tags."

FLOAT32_INSIDE = (
    "With float64 inputs something on the way is float32, which holds half the digits and no number "
    "beyond 3.4e38. Compute in the dtypes of what comes in: of the inputs, of the upstream gradient."
)

MODES = {
    "eager": "called directly",
    "outside": "traced by tf.function, tape outside",
    "inside": "tape inside the tf.function",
    "graph": "in a tf.Graph with tf.compat.v1.gradients",
    "xla": "compiled by XLA",
    "fit": "in model.fit",
}
COMPLEX = "tensor of complex numbers"
UNKNOWN_SHAPE = "XLA compiles for shapes that are known before it runs; this one is {shape}"


def a(noun: str) -> str:
    """A noun, such as a type's name, with its article: "an int", "a dict"."""
    heard = noun.lower()
    vowel = heard.startswith(("a", "e", "i", "o", "nd", "un")) and not heard.startswith("uni")
    return f"{'an' if vowel else 'a'} {noun}"


def cut(text: str, most: int) -> str:
    """The text, or its first characters and a mark that there are more."""
    return text if len(text) <= most else f"{text[:most]}…"


def thing(key: str) -> str:
    """A key in words: "gradient:x" is "the gradient to x"."""
    what, _, name = key.partition(":")
    if what == "value":
        return "the value"
    if key.startswith("value["):
        return f"output {key.removeprefix('value')}"
    named = {"gradient": "the gradient to", "second": "the second derivative to", "entry": "entry"}
    return f"{named[what]} {name}" if what in named else key


WHERE, WHAT, GOT, EXPECTED, RATIO = "where", "asked", "yours", "right", "yours / right"
ELEMENT, TOLERANCE, INPUTS, LINE = "worst element", "tolerance", "inputs", "your line {line}"


def called(case: str) -> str:
    """A case by its name, which may be no more than a dtype."""
    return f"inputs in {case}" if case.startswith("float") and case[5:].isdecimal() else case


def where(case: str, mode: str) -> str:
    """The case and the way of running."""
    return f"{called(case)}, {MODES[mode]}" if mode in MODES else called(case)


def tolerance(rtol: float, dtype: str) -> str:
    """The tolerance that was applied."""
    return f"{decimals(rtol)} of the magnitude ({dtype})"


def decimals(rtol: float) -> str:
    """A small number written out, since 2e-05 breaks at its hyphen; a very small one is not."""
    return f"{rtol:.0e}" if rtol < 1e-6 else f"{float(f'{rtol:.0e}'):.6f}".rstrip("0")


def checked(cases: Sequence[str], modes: Sequence[str], rtol: float) -> str:
    """What a pass rests on; `rtol` is 0 where no numbers were compared with a tolerance."""
    to = [f"to {decimals(rtol)} of the magnitude"] if rtol else []
    return f"Checked on {'; '.join([*map(called, cases), *modes, *to])}."


FOR_THE_SCORE = "{title}, for the score"  # beside the learner's own check of the same
ACCURACY, FLOOR, BESIDE = "held-out accuracy", "floor", "trivial models"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{share:.1%}"


def all_entries(count: int) -> str:
    """What a pass of a table rests on."""
    return f"All {count} entries are right."


HINT = "Hint {number} of {count}."
REREAD = "Reread: {section}."


def failed(exercise: str, part: str | None, headline: str) -> str:
    """The one line of a CheckFailed."""
    return f"{exercise}{f', {part}' if part else ''}: {headline}"


SOME_NAME = "name"  # where none can be told
USAGE = {
    "check": (
        "Give the exercise's name, in quotes, and your answer: "
        'check("{name}", {name}). The names are in progress().'
    ),
    "hint": """Give the exercise's name, in quotes: hint("{name}"). The names are in progress().""",
    "predict": (
        "Give a name, a function that makes the gradient, and your prediction: "
        'predict("{name}", run, "none").'
    ),
}


PREDICT_FIRST = "Predict first."
COMMIT = "Replace `____` by one of {choices} and run the cell again. Then it runs."
OR_CHOOSE, RUN_AGAIN = "Or choose:", "Run this cell again for buttons to choose with."
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
