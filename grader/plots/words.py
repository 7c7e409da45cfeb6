"""Every sentence that a picture says: titles, labels, notes, alt texts."""

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


GOT = "got"
EXPECTED_ARRAY = "expected"
RATIO = "got / expected"
POSITIVE = "positive"
NEGATIVE = "negative"
WRONG_RIBBON = "wrong"
MISSING = "missing"


def shapes_differ(got: Sequence[int], expected: Sequence[int]) -> str:
    """Two matrices that cannot be compared."""
    return (
        f"Shapes differ: got {got[0]} × {got[1]}, expected {expected[0]} × {expected[1]} "
        "(outputs × inputs)."
    )


def heat_key(top: float) -> str:
    """What the colours of a heat map mean."""
    return f"Blue is below 0, orange above; the darkest is ±{number(top, 2)}."


def heat_note(wrong: NDArray[np.bool_], framed: bool, top: float) -> str:
    """How much of a heat map is wrong, and what its colours mean."""
    count = int(wrong.sum())
    says = "No entry is wrong." if not count else f"{count} of {wrong.size} entries are wrong"
    says += (" (framed)." if framed else ".") if count else ""
    return f"{says} {heat_key(top)} Ratio: white is 1."


def jacobian_alt(title: str, shape: Sequence[int], wrong: NDArray[np.bool_] | None) -> str:
    """How large a Jacobian is and what of it is wrong."""
    begin = f"{title}. A heat map of {shape[0]} outputs by {shape[1]} inputs."
    return begin if wrong is None else f"{begin} {_wrong(wrong)}"


def ribbons_alt(title: str, got: NDArray[np.float64], wrong: NDArray[np.bool_]) -> str:
    """How many inputs reach how many outputs."""
    ways = int(np.count_nonzero(got))
    begin = f"{title}. {got.shape[1]} inputs, {got.shape[0]} outputs, {ways} ribbons between them."
    return f"{begin} {_wrong(wrong)}"


def _wrong(wrong: NDArray[np.bool_]) -> str:
    places = np.argwhere(wrong)
    if not places.size:
        return "No entry is wrong."
    first = ", ".join(f"({i}, {j})" for i, j in places[:5])
    more = "" if len(places) <= 5 else " and more"
    return f"{len(places)} of {wrong.size} entries are wrong: (output, input) {first}{more}."


V_TITLE = "Central differences: error over step"
NO_EXACT = "The tape returns None for this function: give the derivative as exact=."


def v_line(dtype: str, best: float) -> str:
    """A dtype and its best step."""
    return f"{dtype}, best near h = {number(best, 1)}"


def v_alt(title: str, best: dict[str, float]) -> str:
    """Where the errors are least."""
    where = "; ".join(f"in {dtype} near h = {number(h, 2)}" for dtype, h in best.items())
    return f"{title}. Each curve is a V: the error is least {where}, and grows on both sides."


MOMENTS = ("first moment m", "second moment v", "change of w")
FROZEN = "frozen"
MOVED = "moved all the same"
ENTRY = "entry {}"


def adam_alt(title: str, rows: Sequence[NDArray[np.float64]], mask: NDArray[np.bool_]) -> str:
    """How long, how many entries, which are frozen, which of these moved."""
    steps, entries = rows[0].shape
    held = ", ".join(str(k) for k in np.flatnonzero(mask.any(axis=0)))
    parts = [f"{title} over {steps} steps, for {entries} entries."]
    parts.append(f"Frozen at times: {held}." if held else "None is frozen.")
    if len(rows) == 3 and held:
        moved = int(np.count_nonzero(mask & (rows[2] != 0)))
        parts.append(f"Moved although frozen: {moved} times.")
    return " ".join(parts)


def surface_alt(title: str, lowest: float, ends: dict[str, tuple[int, float]]) -> str:
    """How low each path came."""
    paths = " ".join(
        f"{name}, steps: {count}, last loss {number(loss)}." for name, (count, loss) in ends.items()
    )
    return f"{title}. Contours; the lowest point drawn is {number(lowest)}. {paths}".strip()
