import importlib
import subprocess
import sys

import pytest

from grader.spared import UNUSED, spared


def test_a_spared_module_is_missing_in_the_block_only(tmp_path, monkeypatch):
    (tmp_path / "seldom_used.py").write_text("there = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    with spared("seldom_used"), pytest.raises(ImportError):
        importlib.import_module("seldom_used")
    assert importlib.import_module("seldom_used").there


def test_what_was_imported_stays():
    with spared("json"):
        assert importlib.import_module("json").loads("1") == 1
    assert "json" in sys.modules


def test_the_command_line_loads_none_of_them():
    code = "import sys\nfrom grader.cli.app import command\n"
    code += "@command\ndef grading(): import grader.grading\n"
    code += f"grading(); print(set({UNUSED!r}) & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
