"""Inputs for cases: seeded, rounded to their dtype, and kept away from kinks and jumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

Shape = Sequence[int]
Drawn = TypeVar("Drawn")
TRIES = 1000


def normal(
    rng: np.random.Generator, shape: Shape = (), dtype: str = "float32", scale: float = 1.0
) -> np.ndarray:
    """Normal values of a shape and dtype."""
    return np.asarray(scale * rng.standard_normal(shape)).astype(dtype)


def uniform(
    rng: np.random.Generator, low: float, high: float, shape: Shape = (), dtype: str = "float32"
) -> np.ndarray:
    """Uniform values in [low, high)."""
    return np.asarray(rng.uniform(low, high, shape)).astype(dtype)


def upstream(rng: np.random.Generator, shape: Shape = (), dtype: str = "float32") -> np.ndarray:
    """An upstream gradient: never ones, never zero, both signs, sizes from 0.5 to 3."""
    size = rng.uniform(0.5, 3.0, shape)
    return np.asarray(np.where(rng.random(shape) < 0.5, -size, size)).astype(dtype)


def away(values: np.ndarray, points: Sequence[float], gap: float = 0.05) -> np.ndarray:
    """The values, those closer than `gap` to one of the points moved to `gap` beyond it.

    The points must lie more than two gaps apart. The dtype stays.
    """
    moved = values.astype(np.float64)
    for point in points:
        side = np.where(moved >= point, 1.0, -1.0)
        moved = np.where(np.abs(moved - point) < gap, point + side * gap, moved)
    return np.asarray(moved).astype(values.dtype)


def until(make: Callable[[], Drawn], good: Callable[[Drawn], bool]) -> Drawn:
    """The first of what `make` draws that is good: where terms cancel, say, rounding is all that
    is left, and a right answer would seem wrong. ValueError where a thousand draws are not good."""
    for _ in range(TRIES):
        drawn = make()
        if good(drawn):
            return drawn
    raise ValueError(f"none of {TRIES} draws is good: ask for less")


def clear(terms: np.ndarray, shape: Shape = (), share: float = 0.1) -> bool:
    """Whether terms summed to `shape`, as `reduce_to` does it, keep that share of their sizes where
    they are largest: they do not all cancel."""
    terms = np.asarray(terms, np.float64)
    sizes = reduce_to(np.abs(terms), shape)
    return bool(np.abs(reduce_to(terms, shape)).max() >= share * sizes.max())


def like(rng: np.random.Generator, value: np.ndarray) -> np.ndarray:
    """An upstream gradient of the shape and dtype of a value."""
    return upstream(rng, value.shape, value.dtype.name)


def reduce_to(gradient: np.ndarray, shape: Shape) -> np.ndarray:
    """The sum of a broadcast gradient over the axes along which `shape` was stretched."""
    extra = gradient.ndim - len(shape)
    total = gradient.sum(axis=tuple(range(extra)))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and total.shape[i] != 1)
    return np.asarray(total.sum(axis=axes, keepdims=True)) if axes else np.asarray(total)
