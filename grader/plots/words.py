"""Every sentence that a picture says: titles, labels, notes, alt texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from grader.plots.card import Card
    from grader.plots.curve import Jump

NO_GRADIENT = "The tape returns None: no gradient reaches x."
COUPLED = (
    "Each output depends on the other entries of x, too: these curves hold only for this batch."
)
FORWARD = "forward"
SMOOTH = "what the surrogate differentiates"
AVERAGED = "forward averaged over the noise"
TRUE = "true derivative"
TRUE_WITH_JUMPS = "true derivative (arrows: jumps)"
SURROGATE = "surrogate, from the tape"
EXPECTED = "expected surrogate"
EXPECTED_FORWARD = "expected value"


def card_title(f: Callable[[Any], Any]) -> str:
    """The title of a function's surrogate card."""
    name = getattr(f, "__name__", "") or type(f).__name__
    return "Surrogate card" if name == "<lambda>" else f"Surrogate card: {name}"


def only_traced(eager: NDArray[np.float64] | None) -> str:
    """Why a card shows the gradient of the traced function."""
    says = "None" if eager is None else "zero"
    return f"Drawn: traced by tf.function, the tape outside. Eagerly the tape returns {says}."


def not_finite(values: NDArray[np.float64], places: NDArray[np.float64]) -> str:
    """Where the surrogate is NaN or infinite."""
    what = "NaN" if np.any(np.isnan(values)) else "infinite"
    if places.size == values.size:
        return f"The tape returns {what} everywhere."
    low, high = float(places.min()), float(places.max())
    where = f"at x = {number(low)}" if high - low < 1e-3 else f"{number(low)} ≤ x ≤ {number(high)}"
    return f"The tape returns {what}: {where}."


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
            parts.append(f"The surrogate from the tape is {number(float(y[0]))} everywhere.")
        elif y.size:
            ends = f"between {number(float(y.min()))} and {number(float(y.max()))}"
            parts.append(f"The surrogate from the tape lies {ends}.")
    if card.smooth is not None:
        first, last = float(card.smooth.y[0]), float(card.smooth.y[-1])
        parts.append(f"It differentiates a function from {number(first)} to {number(last)}.")
    if card.expected is not None:
        parts.append("The expected surrogate is drawn beneath.")
    return " ".join([*parts, card.note]).strip()


def _jumps(jumps: Sequence[Jump]) -> str:
    if not jumps:
        return "has no jumps"
    if len(jumps) > 6:
        return f"has {len(jumps)} jumps"
    several = [f"at {number(j.x)} by {number(j.mass)}" for j in jumps]
    return "jumps " + ", ".join(several)
