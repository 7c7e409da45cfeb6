"""Shows a verdict: theme-aware HTML in a notebook, plain text everywhere."""

from .show import bundle, show

__all__ = ["bundle", "show"]
