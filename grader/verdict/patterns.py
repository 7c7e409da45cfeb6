"""Mistakes that can be told from the numbers alone, in any exercise."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from ..contract import Accuracy
from ..probe.targets import NOTHING
from .compare import Finding
from .tolerance import agree

_GRAVE = ("nan", "none", "shape", "zeros")  # the last one is said of everything
Arrays = tuple[np.ndarray, np.ndarray]  # got, expected


def gravest(found: list[Finding]) -> str | None:
    """The gravest pattern in failing findings that share none; None if only numbers are wrong."""
    statuses = {f.status for f in found}
    if statuses <= {"value", "zeros"}:
        return None
    return next((s for s in _GRAVE if s in statuses), None)


def shared_by(found: list[Finding]) -> str | None:
    """The general pattern that all of these failing findings share, if they share one."""
    statuses = {f.status for f in found}
    if statuses == {"shape"}:
        return next((n for n, test in _SHAPES.items() if all(test(f) for f in found)), "shape")
    if statuses == {"accuracy"}:
        return "below the floor" if all(map(_better_than_guessing, found)) else "guessing"
    if len(statuses) == 1 and statuses <= {"none", "not none", "zeros", "nan", "dtype"}:
        return statuses.pop()
    if statuses <= {"value", "zeros"}:
        named = next((n for n, test in _NUMBERS.items() if all(test(f) for f in found)), None)
        return "constant factor" if named is None and _one_factor(found) else named
    return None


def nothing_returned(found: list[Finding], parts: Collection[str]) -> bool:
    """Whether a function that is to be differentiated returned None itself."""
    absent = [f for f in found if f.status == "none"]
    at_all = "gradient" in parts and any(f.key == "value" for f in absent)
    return at_all or any(f.outcome.text == NOTHING for f in absent)


def _better_than_guessing(finding: Finding) -> bool:
    assert finding.worst is not None
    return finding.worst.got > 2 / len(np.unique(finding.expected.labels))


def factor(finding: Finding) -> float | None:
    """c where got = c · expected throughout, c ≠ 1."""
    got, expected = _arrays(finding)
    use = np.abs(expected) > 1e-6 * max(float(np.max(np.abs(expected), initial=0.0)), 1e-30)
    if not use.any() or not np.all(np.isfinite(got)):
        return None
    c = float(np.median(got[use] / expected[use]))
    if c == 0 or abs(c - 1) < 1e-3:
        return None
    return c if agree(got, c * expected, 20 * finding.rtol) else None


def _arrays(finding: Finding) -> Arrays:
    assert finding.outcome.array is not None
    expected = finding.expected
    expected = expected.labels if isinstance(expected, Accuracy) else expected
    return finding.outcome.array.astype(np.float64), np.asarray(expected, np.float64)


def _upstreams(finding: Finding) -> list[np.ndarray]:
    up = finding.case.upstream
    return [] if up is None else list(up if isinstance(up, tuple) else (up,))


def _sign(finding: Finding) -> bool:
    c = factor(finding)
    return c is not None and abs(c + 1) < 1e-3


def _mean_for_sum(finding: Finding) -> bool:
    """The factor is one over a number of elements that is reduced over."""
    c = factor(finding)
    if c is None or not 0 < c < 0.75:
        return False
    shapes = [v.shape for v in finding.case.arrays.values()]
    counts = {n for shape in shapes for n in (*shape, int(np.prod(shape))) if n > 1}
    return any(abs(1 / c - n) < 1e-3 * n for n in counts)


def _one_factor(found: list[Finding]) -> bool:
    """Whether several numbers agree on the factor: a single one is always some times the other."""
    told = {(f.case.name, f.key): (factor(f), _arrays(f)[1]) for f in found}
    factors = [c for c, _ in told.values()]
    if sum(int(np.count_nonzero(expected)) for _, expected in told.values()) < 2:
        return False
    return all(c is not None and abs(c / (factors[0] or c) - 1) < 1e-3 for c in factors)


def _passed_through(finding: Finding) -> bool:
    if not finding.key.startswith("gradient:"):
        return False
    got, _ = _arrays(finding)
    return any(agree(got, up.astype(np.float64), finding.rtol) for up in _upstreams(finding))


def _transposed_square(finding: Finding) -> bool:
    got, expected = _arrays(finding)
    square = got.ndim == 2 and got.shape[0] == got.shape[1] > 1
    return square and agree(got, expected.T, finding.rtol)


def _transposed(finding: Finding) -> bool:
    got, expected = _arrays(finding)
    if got.ndim < 2 or got.shape != expected.T.shape:
        return False
    return agree(got, expected.T, finding.rtol)


def _not_reduced(finding: Finding) -> bool:
    """A broadcast gradient that was not summed back to its input's shape."""
    got, expected = _arrays(finding)
    if got.ndim < expected.ndim or got.size <= expected.size:
        return False
    total = got.sum(axis=tuple(range(got.ndim - expected.ndim)))
    stretched = [i for i, n in enumerate(expected.shape) if n == 1 and total.shape[i] != 1]
    total = total.sum(axis=tuple(stretched), keepdims=True)
    return agree(total, expected, 4 * finding.rtol)


def _summed_away(finding: Finding) -> bool:
    """A scalar where one number per element is asked: the sum of what is right, and no mere 0."""
    got, expected = _arrays(finding)
    return got.shape == () and bool(expected.any()) and agree(got, expected.sum(), 4 * finding.rtol)


_SHAPES: dict[str, Callable[[Finding], bool]] = {
    "transposed": _transposed,
    "not reduced": _not_reduced,
    "summed away": _summed_away,
}
_NUMBERS: dict[str, Callable[[Finding], bool]] = {
    "passed through": _passed_through,
    "sign": _sign,
    "mean for sum": _mean_for_sum,
    "transposed": _transposed_square,
}
