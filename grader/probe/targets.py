"""What of a function's result has a gradient, and what to say where nothing has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import words
from ..contract import Case
from .outcome import Outcome, flatten, of

NOTHING = "nothing returned"  # text of a gradient that is None since the function returned None


def targets(result: Any, case: Case) -> tuple[list[Any], list[Any]] | Outcome:
    """Float tensors of the result with the upstream gradient of each; where there are none, or one
    of another shape than its upstream gradient, what to say of that."""
    import tensorflow as tf

    leaves = list(flatten(result, "value").values())
    ups = case.upstream if isinstance(case.upstream, tuple) else (case.upstream,) * len(leaves)
    found, upstreams = [], []
    for leaf, up in zip(leaves, ups, strict=False):
        if not tf.is_tensor(leaf) or not leaf.dtype.is_floating:
            continue
        if up is not None and not leaf.shape.is_compatible_with(up.shape):
            return Outcome("skipped", text=f"{tuple(leaf.shape)} instead of {up.shape}")
        found.append(leaf)
        upstreams.append(tf.ones_like(leaf) if up is None else tf.cast(tf.constant(up), leaf.dtype))
    if found:
        return found, upstreams
    return _no_answer(leaves) or Outcome("none", text=NOTHING if result is None else "")


def _no_answer(leaves: Sequence[Any]) -> Outcome | None:
    """What came instead of numbers that have a gradient or lack one: a generator, say."""
    import tensorflow as tf

    for leaf in leaves:
        if tf.is_tensor(leaf) and leaf.dtype.is_complex:
            return Outcome("type", text=words.COMPLEX)
        if not tf.is_tensor(leaf) and (seen := of(leaf)).kind == "type":
            return seen
    return None
