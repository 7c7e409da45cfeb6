"""Values and gradients of a learner's TensorFlow function, as plain float64 arrays.

This is the only module of the pictures that runs TensorFlow. What it hands over are arrays,
None where the tape returns None, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from grader.plots import words
from grader.plots.curve import Array

Mode = Literal["auto", "eager", "outside", "inside", "graph"]
MODES: tuple[Mode, ...] = ("auto", "eager", "outside", "inside", "graph")
Pair = tuple[Array, Array | None]
BATCH = 512


class Sampler:
    """Calls ``f`` on vectors: its value, and the gradient that a tape gives of the summed value.

    ``mode``: ``eager``; ``outside`` and ``inside`` (traced by ``tf.function``, the tape outside
    or inside it); ``graph`` (a ``tf.Graph`` with ``tf.compat.v1.gradients``); ``auto`` tries
    eager and takes ``outside`` when eagerly the gradient is None or zero everywhere and traced
    it is not: a gradient override acts only there. AutoGraph stays out: it logs a warning on
    every lambda that it cannot read. Errors of ``f`` are not caught.
    """

    def __init__(self, f: Callable[[Any], Any], mode: Mode = "auto", dtype: str = "float32"):
        if mode not in MODES:
            raise ValueError(f"mode is {mode!r}; it can be one of {', '.join(MODES)}")
        self.f = f
        self.dtype = dtype
        self.mode = mode
        self.batch = BATCH
        self._runs: dict[str, Callable[[Array], Pair]] = {}

    def settle(self, probe: Array) -> None:
        """Decide what ``auto`` means, by the gradients at the places ``probe``."""
        if self.mode != "auto":
            return
        self.mode = "eager"
        if not _says_nothing(self.gradient(probe)):
            return
        try:
            self.mode = "outside"
            silent = _says_nothing(self.gradient(probe))
        except Exception:
            # What runs eagerly need not be traceable (x.numpy() is not).
            silent = True
        if silent:
            self.mode = "eager"

    def only_batches_of(self, length: int) -> None:
        """From now on call ``f`` with exactly so many entries: it looks at all of them."""
        self.batch = length
        self._runs.clear()

    def oddity(self, probe: Array) -> str:
        """Why f(x) is not one curve: random, or coupled entries; empty when it is one."""
        first, again = self.values(probe), self.values(probe)
        half = probe.size // 2
        if not _alike(first, again):
            return words.RANDOM
        return "" if _alike(first[:half], self.values(probe[:half])) else words.COUPLED

    def values(self, x: Array) -> Array:
        """f(x), of x's shape (a constant result is repeated); integers and bools become floats."""
        import tensorflow as tf

        if self.mode == "graph":
            return self._run(x)[0]
        return _as_vector(self.f(tf.constant(x, self.dtype)), x)

    def gradient(self, x: Array) -> Array | None:
        """d sum(f(x)) / dx of x's shape; None when the tape returns None."""
        return self._run(x)[1]

    def _run(self, x: Array) -> Pair:
        if self.mode not in self._runs:
            maker = {"outside": _outside, "inside": _inside, "graph": _graph}.get(self.mode, _eager)
            self._runs[self.mode] = maker(self.f, self.dtype, self.batch)
        run = self._runs[self.mode]
        if self.mode in ("eager", "auto"):
            return run(x)
        pieces = [
            _padded(run, x[i : i + self.batch], self.batch)
            for i in range(0, max(x.size, 1), self.batch)
        ]
        values = np.concatenate([value for value, _ in pieces])
        slopes = [slope for _, slope in pieces if slope is not None]
        return values, np.concatenate(slopes) if slopes else None


def _alike(one: Array, other: Array) -> bool:
    return np.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True)


def _padded(run: Callable[[Array], Pair], x: Array, length: int) -> Pair:
    # One length means one trace: tracing costs more than any call.
    full = np.pad(x, (0, length - x.size), mode="edge")
    values, slopes = run(full)
    return values[: x.size], None if slopes is None else slopes[: x.size]


def _says_nothing(gradient: Array | None) -> bool:
    return gradient is None or not np.any(gradient)


def _as_vector(result: Any, x: Array) -> Array:
    array = np.asarray(result)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise TypeError(f"the function returned {array.dtype.name}, which cannot be drawn")
    return np.broadcast_to(array.astype(np.float64), x.shape).copy()


def _eager(f: Callable[[Any], Any], dtype: str, length: int) -> Callable[[Array], Pair]:
    return _with_tape(f, dtype)


def _outside(f: Callable[[Any], Any], dtype: str, length: int) -> Callable[[Array], Pair]:
    import tensorflow as tf

    return _with_tape(tf.function(f, autograph=False), dtype)


def _with_tape(f: Callable[[Any], Any], dtype: str) -> Callable[[Array], Pair]:
    import tensorflow as tf

    def run(x: Array) -> Pair:
        given = tf.constant(x, dtype)
        with tf.GradientTape() as tape:
            tape.watch(given)
            value = f(given)
        slope = _gradient(tape, value, given)
        return _as_vector(value, x), None if slope is None else _as_vector(slope, x)

    return run


def _gradient(tape: Any, value: Any, given: Any) -> Any:
    import tensorflow as tf

    # An array, a number or an integer tensor left the tape; asking would raise or log.
    if not tf.is_tensor(value) or not value.dtype.is_floating:
        return None
    slope = tape.gradient(value, given)
    return None if slope is None else tf.convert_to_tensor(slope)


def _inside(f: Callable[[Any], Any], dtype: str, length: int) -> Callable[[Array], Pair]:
    import tensorflow as tf

    @tf.function(autograph=False)  # type: ignore[untyped-decorator, unused-ignore]
    def both(given: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(given)
            value = f(given)
        return value, _gradient(tape, value, given)

    def run(x: Array) -> Pair:
        value, slope = both(tf.constant(x, dtype))
        return _as_vector(value, x), None if slope is None else _as_vector(slope, x)

    return run


def _graph(f: Callable[[Any], Any], dtype: str, length: int) -> Callable[[Array], Pair]:
    import tensorflow as tf

    graph = tf.Graph()
    with graph.as_default():
        given = tf.compat.v1.placeholder(dtype, [length])
        value = tf.convert_to_tensor(f(given))
        (slope,) = tf.compat.v1.gradients(value, [given])
    wanted = [value] if slope is None else [value, tf.convert_to_tensor(slope)]

    def run(x: Array) -> Pair:
        with tf.compat.v1.Session(graph=graph) as session:
            got = session.run(wanted, {given: x.astype(dtype)})
        return _as_vector(got[0], x), _as_vector(got[1], x) if len(got) == 2 else None

    return run
