import importlib
import subprocess
import sys

import pytest

from grader.spared import UNUSED, spared


def test_a_spared_module_is_missing_in_the_block_only():
    with spared("colorsys"), pytest.raises(ImportError):
        importlib.import_module("colorsys")
    assert importlib.import_module("colorsys").rgb_to_hsv


def test_what_was_imported_stays():
    with spared("json"):
        assert importlib.import_module("json").loads("1") == 1
    assert "json" in sys.modules


def test_the_command_line_loads_none_of_them():
    code = f"import sys, grader.cli.app, grader.grading; print({UNUSED!r} & sys.modules.keys())"
    code = code.replace(repr(UNUSED), f"set({UNUSED!r})")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
