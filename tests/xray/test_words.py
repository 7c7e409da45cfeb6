"""Every kind of blame has its sentence, and the sentences keep to the house's tone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.xray import words
from grader.xray.blame import KINDS, Blame
from grader.xray.reasons import REASON


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", ["none", "zero", "nan"])
def test_every_kind_has_a_sentence(kind, status):
    line = words.finding(Blame("x", kind, "Floor", 0, None, "detail"), status, ["x", "w"])
    assert "x and w" in line
    assert "\n" not in line
    assert "{" not in line
    assert "!" not in line


def test_no_sentence_without_a_kind():
    assert set(REASON) == set(KINDS)


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("Round", "round"),
        ("SelectV2", "where"),
        ("BiasAdd", "bias_add"),
        ("Conv2D", "conv2_d"),
        ("TopKV2", "top_k"),
        ("__forward_step_12", "step (tf.function)"),
    ],
)
def test_names(op, name):
    assert words.name_of(op) == name


def test_listed():
    assert words.listed([]) == ""
    assert words.listed(["x"]) == "x"
    assert words.listed(["x", "w", "b"]) == "x, w and b"
    assert words.listed(list("abcdef")) == "a, b, c and 3 more"


def test_first_line_of_an_error():
    error = ValueError("in user code:\n\n    File x, line 3\n    TypeError: bad thing: worse\n")
    assert words.first_line(error) == "TypeError: bad thing: worse"
    assert words.first_line(ValueError("{{function_node f}} plain")) == "plain"


def test_importing_the_xray_does_not_import_tensorflow():
    code = "import sys, grader.xray; assert 'tensorflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
