"""Shows a verdict: theme-aware HTML in a notebook, plain text everywhere."""

from .show import asking, bundle, in_notebook, show

__all__ = ["asking", "bundle", "in_notebook", "show"]
