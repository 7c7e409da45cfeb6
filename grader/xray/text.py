"""The plain-text twin of the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.xray.xray import Xray


def text(shown: Xray) -> str:
    return "\n".join(
        [
            shown.name,
            str(shown.status),
            *shown.findings,
            *("W " + w for w in shown.warnings),
            *("N " + w for w in shown.notes),
            *("L " + w for w in shown.left_out),
            f"runs {shown.runs}",
        ]
    )
