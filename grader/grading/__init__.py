"""Grading a chapter's submissions through nbgrader, and reading what came of it."""

from .book import Row, graded, rows
from .demo import make_class
from .grade import grade

__all__ = ["Row", "grade", "graded", "make_class", "rows"]
