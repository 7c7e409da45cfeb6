"""What comes instead of a notebook is told in plain words; what is one is opened."""

import copy
import gzip
import json

import nbformat
import pytest
from nbformat import ValidationError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.engine import opening
from grader.engine.intake import Refused

BOOK = new_notebook(cells=[new_markdown_cell("# é"), new_code_cell("x = 1\ny = 2")])
TEXT = json.dumps(BOOK, indent=1, ensure_ascii=False)


def read(folder, data):
    path = folder / "p1.ipynb"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return opening.read(path)


def changed(**parts):
    return json.dumps({**BOOK, **parts})


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        TEXT.encode("utf-8-sig"),
        TEXT.replace("\n", "\r\n"),
        TEXT + "\n\n",
        TEXT.replace("# é", "<<<<<<< no conflict, <!doctype html>"),
        json.dumps(nbformat.convert(copy.deepcopy(BOOK), 3)),
    ],
    ids=["as it is", "byte order mark", "Windows", "lines after it", "odd text", "format 3"],
)
def test_a_notebook_is_opened(tmp_path, data):
    assert [c.source for c in read(tmp_path, data).cells if c.cell_type == "code"] == [
        "x = 1\ny = 2"
    ]


OTHERS = [
    (b"", "is empty"),
    (" \r\n\t", "is empty"),
    (b"\0" * 40, "is empty: zero bytes only"),
    (b"PK\x03\x04\x14\xff", "is a zip archive, no notebook"),
    (gzip.compress(TEXT.encode()), "is a gzip archive, no notebook"),
    (b"%PDF-1.7\n\xff", "is a PDF file, no notebook"),
    ("\n<!DOCTYPE html>\n", "is a web page, no notebook"),
    ("<html>", "is a web page, no notebook"),
    ("version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS, no notebook"),
    (TEXT.encode("utf-16"), "is text in UTF-16; a notebook is in UTF-8"),
    (TEXT.encode("utf-16-le"), "is text in UTF-16; a notebook is in UTF-8"),
    (TEXT.encode("utf-16-be"), "is text in UTF-16; a notebook is in UTF-8"),
    (
        '{\n"a": "é"}'.encode("latin-1"),
        "is no text in UTF-8: a stray byte in line 2",
    ),
    ("<<<<<<< HEAD\n" + TEXT, "has the marks of a merge conflict, the first in line 1"),
    (
        TEXT.replace("{\n", "{\n<<<<<<< HEAD\n", 1),
        "has the marks of a merge conflict, the first in line 2",
    ),
    ('{\n"cells": [\n', "breaks off in line 2: it was not saved whole"),
    ('{\n"cells": [\n"x = 1', "breaks off in line 3: it was not saved whole"),
    (
        "# %%\nx = 1\n",
        "is no JSON, as a notebook is: Expecting value (line 1, column 1)",
    ),
    ("[" * 100_000, "is nested too deeply to be read"),
    ("[1, 2]", "is JSON, but no notebook"),
    ("null", "is JSON, but no notebook"),
    ("{}", "is JSON, but no notebook: it has no list of cells"),
    (changed(cells=None), "is JSON, but no notebook: it has no list of cells"),
    (changed(cells=["x = 1"]), "is JSON, but no notebook: it has no list of cells"),
    (changed(nbformat=5), "has notebook format 5; the newest known here is 4"),
]


@pytest.mark.parametrize(("data", "why"), OTHERS, ids=[why for _, why in OTHERS])
def test_what_is_no_notebook_is_told_so(tmp_path, data, why):
    with pytest.raises(Refused) as raised:
        read(tmp_path, data)
    assert str(raised.value) == f"p1.ipynb {why}"


def test_what_is_nearly_a_notebook_is_told_by_nbformat(tmp_path):
    with pytest.raises(ValidationError, match="missing an expected key"):
        read(tmp_path, changed(metadata=None))


def test_what_the_machine_refuses_is_no_fault_of_the_notebook(tmp_path):
    with pytest.raises(FileNotFoundError):
        opening.read(tmp_path / "p1.ipynb")
