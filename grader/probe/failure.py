"""An exception in the learner's code, told from the learner's side."""

from __future__ import annotations

import re
import traceback

from ..message import bare
from ..whose import is_learners
from .outcome import Outcome

_LIMIT = 600


def of_exception(error: BaseException) -> Outcome:
    """The outcome for an exception: its type, its message, and the learner's line if there is one.

    AutoGraph wraps messages in a report of "user code", the runtime in one of stack frames; only
    the message itself is kept.
    """
    message = str(error)
    if message.startswith("Graph execution error:"):
        told = [part for part in re.split(r"\n\s*\n", message.strip()) if 'File "' not in part]
        message = told[-1]
    message = bare(message)
    reported = _told_by_autograph(message)
    if "in user code:" in message:
        message = re.split(r"\n\s*\n", message.strip())[-1].strip()
        message = re.sub(rf"^{re.escape(type(error).__name__)}:\s*", "", message)
    message = message if len(message) <= _LIMIT else message[:_LIMIT] + " …"
    detail: dict[str, object] = {"type": type(error).__name__}
    frames = [f for f in traceback.extract_tb(error.__traceback__) if is_learners(f.filename)]
    if reported is not None:
        detail |= {"line": reported[0], "code": reported[1]}
    elif frames:
        detail |= {"line": frames[-1].lineno, "code": (frames[-1].line or "").strip()}
    return Outcome("error", text=message, detail=detail)


def _told_by_autograph(message: str) -> tuple[int, str] | None:
    """Line number and code of the learner's last line in AutoGraph's report of "user code": the
    frames themselves are of code that AutoGraph has written."""
    if "in user code:" not in message:
        return None
    lines = re.findall(r'File "(.+?)", line (\d+), in .*\n\s*(.*)', message)
    theirs = [(int(number), code.strip()) for file, number, code in lines if is_learners(file)]
    return theirs[-1] if theirs else None
