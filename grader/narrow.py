"""What float32 loses of a float64 gradient: inputs on which it shows, and the mistake that it is.

The tolerance of float64 cannot see it at usual inputs: a rounding of float32 is smaller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import words
from .contract import Answers, Case, Either, Mistake


def between(values: np.ndarray) -> np.ndarray:
    """The values in float64, each moved to the middle between two float32: a cast to float32 is
    off by half a step, the most it can be."""
    below = values.astype(np.float32)
    above = np.nextafter(below, np.float32(np.inf))
    return np.asarray((below.astype(np.float64) + above) / 2)


def beyond(values: np.ndarray) -> np.ndarray:
    """float64 values times 1e50, which no float32 holds: what is computed in float32 shows.
    Values of another dtype stay as they are."""
    return np.asarray(values * 1e50) if values.dtype == np.float64 else values


def in_float32(truth: Callable[[Case], Answers]) -> Mistake:
    """The mistake of a rule that computes in float32 what `truth` gives: of float64 numbers that
    are `beyond` it infinities or NaN are left."""

    def overflown(case: Case) -> Answers:
        numbers = truth(case)
        return {k: _lost(v) for k, v in numbers.items()} if case.dtype == "float64" else numbers

    return Mistake("float32 inside", words.FLOAT32_INSIDE, answer=overflown)


def _lost(values: np.ndarray) -> Either:
    infinite = np.where(values == 0, 0.0, np.copysign(np.inf, values))
    return Either(infinite, np.full_like(values, np.nan))
