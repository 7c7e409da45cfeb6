"""What the other pictures say: Jacobians, differences, moments, surfaces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from grader.plots.words import number

GOT = "got"
EXPECTED_ARRAY = "expected"
RATIO = "got / expected"
NO_RATIO = ", grey: 0 is expected"
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


def heat_note(wrong: NDArray[np.bool_], framed: bool, top: float, *, none: bool) -> str:
    """How much of a heat map is wrong, and what its colours mean; none: some have no ratio."""
    count = int(wrong.sum())
    says = "No entry is wrong." if not count else f"{count} of {wrong.size} entries are wrong"
    says += (" (framed)." if framed else ".") if count else ""
    return f"{says} {heat_key(top)} Ratio: white is 1{NO_RATIO * none}."


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
