"""The learner's code as AutoGraph would rewrite it inside a tf.function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .plain import plain


def as_traced(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as a call inside a tf.function runs it: AutoGraph reads the learner's code.

    Theirs only: left to itself it reads the probe as well, which takes longer than all the rest of
    a check. What a tf.function does for a call in its body is not exported, so it comes from there.
    """
    from tensorflow.python.autograph.core import ag_ctx, converter
    from tensorflow.python.autograph.impl import api

    options = converter.STANDARD_OPTIONS

    def call(*args: Any) -> Any:
        with ag_ctx.ControlStatusCtx(ag_ctx.Status.ENABLED, options):
            if plain(f, args):
                return f(*args)
            return api.converted_call(f, args, None, options=options)

    return call
