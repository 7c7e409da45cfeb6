"""Pictures of gradients. Every one has a title, axis labels, alt text, and follows the theme."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Picture": "figure",
    "Card": "card",
    "card_from_arrays": "card",
    "draw_card": "drawing",
    "sample_card": "sample",
    "surrogate_card": "surrogate",
    "interactive": "sliders",
    "marble": "descent",
    "jacobian_map": "jacobian",
    "ribbons": "flow",
    "v_curve": "differences",
    "adam_moments": "adam",
    "adam_history": "adam",
    "loss_surface": "surface",
    "lines": "chart",
    "Panel": "chart",
    "bars": "columns",
    "bars_against": "columns",
    "images": "gallery",
    "measured": "costs",
    "cost_lines": "costs",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # No module has a name of this list: an imported module would hide the function.
    # Lazy: a check that draws nothing does not wait for matplotlib.
    if name not in _HOME:
        raise AttributeError(f"grader.plots has no {name!r}; it has {', '.join(sorted(_HOME))}")
    return getattr(import_module(f"grader.plots.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
