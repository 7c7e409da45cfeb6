"""How close is right: by dtype and magnitude, and always said in the message."""

from __future__ import annotations

import numpy as np

# A few roundings of an expression of the usual length, in units of the dtype's precision.
RELATIVE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-6}


def relative(dtype: str, factor: float) -> float:
    """The relative tolerance of an exercise for a dtype."""
    return RELATIVE.get(dtype, RELATIVE["float32"]) * factor


def allowed(expected: np.ndarray, rtol: float) -> np.ndarray:
    """The permitted absolute difference per element.

    Half of it follows the element, half the largest element of the array: sums of large terms
    leave rounding on small results.
    """
    sizes = np.where(np.isfinite(expected), np.abs(expected), 0.0)
    return rtol * (sizes + (sizes.max(initial=0.0) or 1.0)) / 2


def agree(got: np.ndarray, expected: np.ndarray, rtol: float) -> bool:
    """Whether two arrays of one shape agree; NaN agrees with NaN, infinities by sign."""
    if got.shape != expected.shape:
        return False
    return bool(np.all(within(got, expected, rtol)))


def within(got: np.ndarray, expected: np.ndarray, rtol: float) -> np.ndarray:
    """Elementwise agreement."""
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(got - expected) <= allowed(expected, rtol)
    return same | (close & np.isfinite(expected))
