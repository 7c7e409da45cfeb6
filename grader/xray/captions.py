"""Words in and under the drawing, and on what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grader.xray.graphs import LIMIT
from grader.xray.record_types import Override
from grader.xray.words import STATUS, first_line

if TYPE_CHECKING:
    from grader.xray.boxes import Arrow, Box

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
    if not count:
        return "The function did not run."
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


def earlier(count: int) -> str:
    """The box for what was dropped."""
    return f"{count} earlier operations"


def dropped(before: int, kept: int) -> str:
    """What was left out of a very long run."""
    return f"the last {kept} operations were looked at, the {before} before them were not"


def closed(name: str, error: str) -> str:
    """A tf.function that could not be opened."""
    why = f"more than {LIMIT} operations" if error == "TooMuch" else error
    return f"the inside of {name} was not looked at ({why}); it is taken as one operation"


def unseen(op: str) -> str:
    """An operation whose own gradient could not be computed."""
    return f"the gradient of {op} could not be computed a second time; the tape's answer is shown"


def not_drawn(count: int) -> str:
    """What the drawing leaves out."""
    return f"{count} operations are folded together in the drawing"


def not_drawn_at_all(error: BaseException) -> str:
    """The drawing failed."""
    return f"the graph could not be drawn ({type(error).__name__}: {first_line(error)})"
