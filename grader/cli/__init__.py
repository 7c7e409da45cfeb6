"""The `grader` command: one module per group of commands."""

from ..spared import UNUSED, spared

with spared(*UNUSED):
    from .app import app

__all__ = ["app"]
