"""What a verdict brings along: the X-ray's finding and a small surrogate card.

Both look at the learner's own function once more, and both may fail without harm: a verdict
stands without them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .contract import EAGER, Case
from .display.report import Report
from .judge import Plan
from .probe import run
from .probe.modes import tensors
from .probe.request import CARD
from .quiet import quiet
from .verdict import Verdict
from .verdict.decide import NO_RETURN

DEAD = ("none", "zeros", "nan")


def finding(plan: Plan, verdict: Verdict, answer: Any) -> str:
    """One line on which op cuts, zeroes or poisons the gradient; empty where there is none."""
    first = verdict.first
    if first is None or not first.key.startswith("gradient") or first.status not in DEAD:
        return ""
    if plan.terms.probe == "op_gradient" or verdict.mistake == NO_RETURN:
        return ""  # of no function of the inputs; said already
    return _harmless(lambda: _xray(answer, first.case, first.mode), "")


def _xray(answer: Any, case: Case, mode: str) -> str:
    """The finding on the answer as it ran: an override acts only where it is traced."""
    import tensorflow as tf

    from .xray import explain

    seen = answer if mode == EAGER else tf.function(answer)
    return str(explain(seen, *tensors(case).values()).finding)


def with_card(report: Report, plan: Plan, verdict: Verdict, answer: Any) -> Report:
    """The report with a surrogate card, where a gradient of one scalar-wise input is wrong."""
    first = verdict.first
    if first is None or plan.terms.card is None or not first.key.startswith("gradient"):
        return report
    picture = _harmless(lambda: _card(plan, answer), None)
    return (
        report if picture is None else replace(report, picture=picture[0], picture_says=picture[1])
    )


def _card(plan: Plan, answer: Any) -> tuple[str, str] | None:
    """The learner's curve over the reference, as HTML with its alt text."""
    from .plots import card_from_arrays, draw_card

    line = next(case for case in plan.cases if case.part == CARD)
    name, (mode,) = plan.terms.card, line.modes
    got = run(answer, replace(plan.request, cases=(line,)))
    value, gradient = (got[CARD, mode, what].array for what in ("value", f"gradient:{name}"))
    if value is None:
        return None
    picture = draw_card(
        card_from_arrays(
            line.arrays[str(name)],
            value,
            gradient,
            expected=plan.key.truth[CARD, f"gradient:{name}"],
            title=plan.terms.id,
        ),
        small=True,
    )
    return picture.html, picture.alt


def _harmless(look: Callable[[], Any], otherwise: Any) -> Any:
    try:
        with quiet():
            return look()
    except Exception:
        return otherwise
