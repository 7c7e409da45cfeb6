"""Shows a verdict: theme-aware HTML in a notebook, plain text everywhere."""

from .show import bundle, in_notebook, show

__all__ = ["bundle", "in_notebook", "show"]
