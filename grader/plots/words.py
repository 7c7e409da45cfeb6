"""What cards and marbles say: titles, labels, notes, alt texts. The rest is in captions.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from grader.plots.card import Card
    from grader.plots.curve import Jump
    from grader.plots.descent import Descent

NO_GRADIENT = "The tape returns None: no gradient reaches x."
COUPLED = "Each output depends on the other entries of x, too: the curves hold for this batch."
RANDOM = "Another call gives other values: these curves are one draw."
FORWARD = "forward"
SMOOTH = "what the surrogate differentiates"
AVERAGED = "forward averaged over the noise"
TRUE = "true derivative"
TRUE_WITH_JUMPS = "true derivative (arrows: jumps)"
SURROGATE = "surrogate, from the tape"
FORMULA = "surrogate"
AVERAGED_SLOPE = "derivative of that average"
EXPECTED = "expected surrogate"
PANEL = "{} over x: {}."
EXPECTED_FORWARD = "expected value"
BANDS = (AVERAGED, AVERAGED_SLOPE, EXPECTED, EXPECTED_FORWARD)


def card_title(f: Callable[[Any], Any]) -> str:
    """The title of a function's surrogate card."""
    name = getattr(f, "__name__", "") or type(f).__name__
    return "Surrogate card" if name == "<lambda>" else f"Surrogate card: {name}"


def only_traced(eager: NDArray[np.float64] | None) -> str:
    """Why a card shows the gradient of the traced function."""
    says = "None" if eager is None else "zero"
    return f"Drawn: traced by tf.function, the tape outside. Eagerly the tape returns {says}."


def not_finite(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """Where a gradient is NaN or infinite; empty when it is nowhere."""
    bad = np.flatnonzero(~np.isfinite(y))
    if not bad.size:
        return ""
    what = "NaN" if np.any(np.isnan(y)) else "infinite"
    if bad.size == y.size:
        return f"The tape returns {what} everywhere."
    runs = [x[run] for run in np.split(bad, np.flatnonzero(np.diff(bad) > 1) + 1)]
    said = [_run(float(run[0]), float(run[-1])) for run in runs]
    more = ", and elsewhere" if len(said) > 4 else ""
    return f"The tape returns {what}: {', '.join(said[:4])}{more}."


def _run(low: float, high: float) -> str:
    if high - low < 1e-3:
        return f"at x = {number(low)}"
    return f"{number(low)} ≤ x ≤ {number(high)}"


def number(value: float, digits: int = 3) -> str:
    """A number in few digits, with a true minus sign."""
    return f"{value + 0.0:.{digits}g}".replace("-", "−")


def mass(jump: Jump) -> str:
    """The label of a jump's arrow."""
    return ("+" if jump.mass > 0 else "") + number(jump.mass)


def card_alt(card: Card) -> str:
    """What a surrogate card shows, for those who do not see it."""
    parts = [f"{card.title}. For x from {number(card.low)} to {number(card.high)}."]
    parts.append(f"The forward function {_jumps(card.forward.jumps)}.")
    if card.surrogate is not None:
        y = card.surrogate.y[np.isfinite(card.surrogate.y)]
        if y.size and y.min() == y.max():
            parts.append(f"The surrogate is {number(float(y[0]))} everywhere.")
        elif y.size:
            ends = f"between {number(float(y.min()))} and {number(float(y.max()))}"
            parts.append(f"The surrogate lies {ends}.")
    if card.smooth is not None:
        first, last = float(card.smooth.y[0]), float(card.smooth.y[-1])
        parts.append(f"It differentiates a function from {number(first)} to {number(last)}.")
    if card.expected is not None and card.averaged is not None and card.slope is not None:
        parts.append("The forward averaged over the noise, and its derivative, are drawn beneath.")
    elif card.expected is not None:
        parts.append("The expected surrogate is drawn beneath.")
    return " ".join([*parts, card.note]).strip()


def _jumps(jumps: Sequence[Jump]) -> str:
    if not jumps:
        return "has no jumps"
    if len(jumps) > 6:
        return f"has {len(jumps)} jumps"
    several = [f"at {number(j.x)} by {number(j.mass)}" for j in jumps]
    return "jumps " + ", ".join(several)


UNDER_TRUE = "under the true derivative"
UNDER_SURROGATE = "under the surrogate"


def marble_alt(title: str, true: Descent, learner: Descent) -> str:
    """Where both marbles began and ended."""
    ends = [
        f"{name} it ends at x = {number(path.x[-1])}, f(x) = {number(path.y[-1])}"
        for name, path in ((UNDER_TRUE, true), (UNDER_SURROGATE, learner))
    ]
    begin = f"{title}. A marble starts at x = {number(true.x[0])}; after {true.x.size - 1} steps"
    none = " The tape returns None, so there it stays." if np.all(np.isnan(learner.slope)) else ""
    return f"{begin} {ends[0]}, {ends[1]}.{none}"
