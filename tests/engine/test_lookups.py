"""What the warm process cuts short must still answer as the original does."""

import inspect
import linecache
import sys
import types

import pytest

from grader.engine import lookups


@pytest.fixture
def fixed(tf, monkeypatch):
    """AutoGraph's repair of linecache, watched: the objects that reach the original."""
    from tensorflow.python.autograph.pyct import inspect_utils

    seen = []
    monkeypatch.setattr(inspect_utils, "_fix_linecache_record", seen.append)
    lookups.remember_files()
    return inspect_utils._fix_linecache_record, seen


def function_of(file, text="def f():\n    return 1\n"):
    space = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def test_a_cells_function_needs_no_walk(fixed):
    fix, seen = fixed
    fix(function_of("/tmp/ipykernel_1/2.py"))
    fix(object.__new__(type("NoModule", (), {"__module__": property(lambda s: s.missing)})))
    assert seen == []


def test_a_function_of_a_loaded_module_is_looked_at(fixed):
    fix, seen = fixed
    fix(inspect.getsource)
    assert seen == [inspect.getsource]


def test_so_is_one_of_a_module_that_came_later(fixed, monkeypatch):
    fix, seen = fixed
    f = function_of("/tmp/later.py")
    fix(f)
    assert seen == []
    later = types.ModuleType("later")
    later.__file__ = "/tmp/later.py"
    monkeypatch.setitem(sys.modules, "later", later)
    fix(f)
    assert seen == [f]


def test_modules_are_found_as_before(monkeypatch):
    original = inspect.getmodule
    monkeypatch.setattr(inspect, "getmodule", original)
    lookups.remember_modules()
    for asked in (inspect, linecache.getline, pytest.raises, test_modules_are_found_as_before):
        assert inspect.getmodule(asked) is original(asked)
        file = inspect.getfile(asked)
        assert inspect.getmodule(asked, file) is original(asked, file)
        assert inspect.getmodule(asked, file) is original(asked, file)


def test_a_frames_module_is_asked_for_once(monkeypatch):
    asked = []
    original = inspect.getmodule
    monkeypatch.setattr(inspect, "getmodule", lambda *given: asked.append(1) or original(*given))
    lookups.remember_modules()
    here = [inspect.currentframe() for _ in range(3)]
    assert [inspect.getmodule(frame) for frame in here] == [original(here[0])] * 3
    assert len(asked) == 1
