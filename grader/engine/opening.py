"""Opens a submitted notebook, or says in plain words why that cannot be done.

A student reads the reason, and can act on "breaks off at line 300"; on "NotJSONError" hardly.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import nbformat
from nbformat import NotebookNode
from nbformat.reader import NotJSONError
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning

from grader.engine.intake import Refused

# How what is no notebook begins: the kinds of files that come instead of one.
BEGINS = (
    (b"PK\x03\x04", "is a zip archive"),
    (b"\x1f\x8b", "is a gzip archive"),
    (b"%PDF", "is a PDF file"),
    (b"<!", "is a web page"),
    (b"<html", "is a web page"),
    (b"version https://git-lfs", "is a pointer of Git LFS"),
)
CONFLICT = re.compile(r"^<{7}( |$)", re.MULTILINE)


def read(path: Path) -> NotebookNode:
    """The notebook at `path`, in format 4, its cells with ids.

    Raises Refused with a plain reason, and nbformat's ValidationError for what is nearly one.
    """
    text = _text(path.name, path.read_bytes())
    try:
        with catch_warnings():
            simplefilter("ignore", MissingIDFieldWarning)  # nbformat gives the cells some,
            simplefilter("ignore", DuplicateCellId)  # and others
            return nbformat.reads(text, as_version=4)
    except NotJSONError:
        raise Refused(f"{path.name} {_no_json(text)}") from None
    except RecursionError:
        raise Refused(f"{path.name} is nested too deeply to be read") from None
    except Exception as error:
        why = _no_notebook(json.loads(text))
        if why is None:
            raise
        raise Refused(f"{path.name} {why}") from error


def _text(name: str, data: bytes) -> str:
    """The text of the file; it may begin with a byte order mark."""
    if not data.strip(b"\0 \t\r\n"):
        raise Refused(f"{name} is empty" + (": zero bytes only" if b"\0" in data else ""))
    for begin, what in BEGINS:
        if data.lstrip().startswith(begin):
            raise Refused(f"{name} {what}, no notebook")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        raise Refused(f"{name} is text in UTF-16; a notebook is in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Refused(f"{name} is no text in UTF-8: a stray byte in line {line}") from None


def _no_json(text: str) -> str:
    """Why `text` cannot be read as JSON."""
    if conflict := CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        return f"has the marks of a merge conflict, the first in line {line}"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        end = len(text.rstrip())
        if error.pos >= end or error.msg.startswith("Unterminated string"):
            return f"breaks off in line {text.count(chr(10), 0, end) + 1}: it was not saved whole"
        where = f"line {error.lineno}, column {error.colno}"
        return f"is no JSON, as a notebook is: {error.msg} ({where})"
    return "cannot be read as JSON"


def _no_notebook(content: Any) -> str | None:
    """Why JSON of this content is no notebook; None where that does not show at a glance."""
    if not isinstance(content, dict):
        return "is JSON, but no notebook"
    version = content.get("nbformat", 4)
    if isinstance(version, int) and version > nbformat.current_nbformat:
        known = nbformat.current_nbformat
        return f"has notebook format {version}; the newest known here is {known}"
    held = content.get("cells", content.get("worksheets"))
    if not isinstance(held, list) or not all(isinstance(each, dict) for each in held):
        return "is JSON, but no notebook: it has no list of cells"
    return None
