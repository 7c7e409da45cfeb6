"""Compares what came back with what is true, and names the mistake. NumPy only."""

from .compare import Finding, Worst, findings
from .decide import Verdict, decide

__all__ = ["Finding", "Verdict", "Worst", "decide", "findings"]
