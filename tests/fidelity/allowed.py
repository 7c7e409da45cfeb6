"""Every cell of the odd notebooks whose outputs may differ from a real kernel's, and why.

An entry allows one kind of difference and no other: `kind` compares what was left after it. The
test fails as well where an entry is no longer needed.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fidelity.compare import texts

LOADING = re.compile(r"TensorFlow \S+ is loaded \(TIME\)\.")
WRAPPER = re.compile(r"\{\{function_node __wrapped__\S+\}\} ")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
Outputs = list[Any]  # a cell's outputs, then its execution count and metadata


@dataclass(frozen=True)
class Allowed:
    """A difference that may be: the reason in one sentence, and the test for its kind."""

    reason: str
    kind: Callable[[Outputs, Outputs], bool]


def other_order(stock: Outputs, engine: Outputs) -> bool:
    """Both streams hold the same text and all else is the same."""

    def sorted_out(outputs: Outputs) -> Any:
        texts = defaultdict(str)
        for output in _streams(outputs):
            texts[output["name"]] += output["text"]
        return texts, _others(outputs)

    return sorted_out(stock) == sorted_out(engine)


def one_more_error(stock: Outputs, engine: Outputs) -> bool:
    """The engine's outputs are the kernel's and an error after them."""
    extra = engine[len(stock) - 2]
    rest = [*engine[: len(stock) - 2], *engine[-2:]]
    return rest == stock and extra["output_type"] == "error"


def more_text(stock: Outputs, engine: Outputs) -> bool:
    """Text in streams that the kernel's outputs lack; all else is the same."""
    return not _streams(stock) and bool(_streams(engine)) and _others(stock) == _others(engine)


def no_log_lines(stock: Outputs, engine: Outputs) -> bool:
    """What the kernel shows more is TensorFlow's start-up log on stderr."""
    logged = [output for output in _streams(stock) if output["name"] == "stderr"]
    lines = [line for output in logged for line in output["text"].splitlines()]
    known = r"[IWE]\d{4} .*|WARNING: All log messages before .*|To enable the following .*"
    rest = [output for output in stock if output not in logged]
    return bool(lines) and all(re.fullmatch(known, line) for line in lines) and rest == engine


def no_word_of_loading(stock: Outputs, engine: Outputs) -> bool:
    """What the kernel shows more is `grader`'s own word that TensorFlow is loaded."""
    rest = [output for output in stock if not LOADING.fullmatch(_plain_text(output))]
    return len(rest) == len(stock) - 1 and rest == engine


def no_wrapper(stock: Outputs, engine: Outputs) -> bool:
    """What the kernel shows more is the name of the wrapper before an operation's message, and
    maybe TensorFlow's log of it."""
    unwrapped = texts(stock, lambda text: WRAPPER.sub("", text))
    return unwrapped != stock and (unwrapped == engine or no_log_lines(unwrapped, engine))


def no_colours(stock: Outputs, engine: Outputs) -> bool:
    """What the kernel shows more are the marks that make colours."""
    plain = texts(stock, lambda text: COLOUR.sub("", text))
    return plain != stock and plain == engine


def other_frames(stock: Outputs, engine: Outputs) -> bool:
    """The same errors by name and message; other lines in the traceback."""
    names = [[(out["ename"], out["evalue"]) for out in outputs[:-2] if out["output_type"] == "error"]
             for outputs in (stock, engine)]  # fmt: skip
    return names[0] == names[1] != []


def said_once(stock: Outputs, engine: Outputs) -> bool:
    """All that the engine's outputs hold is in the kernel's, in the same order."""
    rest = iter(_others(stock))
    lines = {line for output in _streams(stock) for line in output["text"].splitlines()}
    said = {line for output in _streams(engine) for line in output["text"].splitlines()}
    return said <= lines and all(output in rest for output in _others(engine))


def anything(stock: Outputs, engine: Outputs) -> bool:
    """The outputs are about something else on both sides."""
    return True


def _plain_text(output: Any) -> str:
    data = output.get("data", {}) if isinstance(output, dict) else {}
    return str(data.get("text/plain", ""))


def _streams(outputs: Outputs) -> list[dict[str, Any]]:
    return [output for output in outputs[:-2] if output["output_type"] == "stream"]


def _others(outputs: Outputs) -> Outputs:
    return [output for output in outputs if output not in _streams(outputs)]


ORDER = Allowed(
    "a kernel sends each stream 0.2 s after it was written to, and so loses the order between "
    "stdout and stderr; the engine keeps it",
    other_order,
)
RULE = Allowed(
    "as nbgrader's own Execute does, the engine shows the error that the kernel's reply names "
    "where no output shows it, since a cell that failed must not look as if it had not",
    one_more_error,
)
SERVER = Allowed(
    "a kernel writes this to the terminal of the Jupyter server, where nobody who reads the "
    "notebook sees it; here there is no such terminal, and the cell shows it",
    more_text,
)
SURROGATE = Allowed(
    "ipykernel fails to send it and shows its own sender's traceback instead; the engine puts a "
    "question mark for what is no character",
    anything,
)
OWN_STREAM = Allowed(
    "the traceback goes through the engine's stream, not ipykernel's", other_frames
)
DEPTH = Allowed("fewer calls lie between the cell and the start of the process", other_frames)
TERMINAL = Allowed(
    "the sandbox has no pseudo-terminals, so a command is told that its output is a pipe", anything
)
LOADED = Allowed(
    "the warm process has matplotlib's inline backend loaded, of which a fresh kernel's %config "
    "knows nothing before the first import",
    anything,
)
THREADS = Allowed("the engine needs no threads for sockets, and one for both streams", anything)
DRAWN = Allowed(
    "a kernel draws a figure for pyplot, to measure it and to print it; the engine leaves the first "
    "out where that cannot change the picture, and so what drawing complains of is said once less",
    said_once,
)
LOG = Allowed(
    "the warm process imports TensorFlow before the notebook does and keeps its C++ log quiet, as "
    "`import grader` does in a kernel",
    no_log_lines,
)
WRAPPED = Allowed(
    "TensorFlow makes a function of every operation that is called, which takes longer than most "
    "operations; the warm process calls them directly, and so messages lack the function's name",
    no_wrapper,
)

WORD = Allowed(
    "in a kernel `grader` says how long the import of TensorFlow takes; in the warm process it has "
    "long been imported",
    no_word_of_loading,
)
COLOURS = Allowed(
    "from Python 3.13 on a thread's traceback has colours where the environment asks for them, as "
    "ipykernel's does; the warm process is started so that Python asks nothing of its environment",
    no_colours,
)

# In the chapters: any cell, but for these kinds of difference alone.
EVERYWHERE = (WORD, ORDER, WRAPPED)
ALLOWED: dict[tuple[str, str], Allowed] = {
    ("streams", "stdout and stderr in turn"): ORDER,
    ("streams", "subprocess into this stdout"): SERVER,
    ("streams", "lone surrogate"): SURROGATE,
    ("streams", "write bytes"): OWN_STREAM,
    ("streams", "faulthandler"): SERVER,
    ("errors", "error on stderr's heels"): ORDER,
    ("errors", "group"): RULE,
    ("errors", "recursion"): DEPTH,
    ("errors", "failing repr"): RULE,
    ("errors", "failing html"): RULE,
    ("errors", "own hook"): RULE,
    ("errors", "silenced traceback"): RULE,
    ("tasks", "the cell in which it prints"): ORDER,
    ("tasks", "threads"): THREADS,
    ("magics", "is it a terminal"): TERMINAL,
    ("magics", "ls"): TERMINAL,
    ("magics", "unknown magic"): RULE,
    ("magics", "unknown cell magic"): RULE,
    ("magics", "config"): LOADED,
    ("figures", "error in drawing"): DRAWN,
    ("figures", "another missing glyph, left open"): DRAWN,
    ("tensorflow", "import"): LOG,
    ("tensorflow", "tensor"): LOG,
    ("tensorflow", "error of an op"): WRAPPED,
    ("tensorflow", "message of an op"): WRAPPED,
}
if sys.version_info >= (3, 13):
    ALLOWED["errors", "in a thread"] = COLOURS
