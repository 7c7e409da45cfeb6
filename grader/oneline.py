"""Exceptions that say all there is to say in their own line."""

from __future__ import annotations


class OneLine(Exception):
    """Notebooks show its one line, without a traceback through this package's own code."""

    def _render_traceback_(self) -> list[str]:
        """IPython's hook for exceptions that bring their own traceback."""
        return [f"{type(self).__name__}: {self}"]
