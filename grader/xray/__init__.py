"""The gradient X-ray: is the gradient to each input alive, None, zero or NaN, and who did it."""

from grader.xray.blame import Blame
from grader.xray.xray import Xray, explain

__all__ = ["Blame", "Xray", "explain"]
