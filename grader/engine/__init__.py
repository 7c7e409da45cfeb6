"""The grading engine: warm processes, a sandbox around each submission, a judge outside of it."""

from grader.engine.plug import plug

__all__ = ["plug"]
