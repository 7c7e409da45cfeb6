"""Whoever replaces what answers are found with is told by name."""

import pytest

MINE = """
s = get_ipython().kernel.session
original = type(s).msg
def mine(self, *args, **named):
    return original(self, *args, **named)
"""
# What a cell does, and a word of what the instructor reads.
TRICKS = {
    "import grader.probe\ngrader.probe.run = lambda *a, **k: {}": "grader.probe:run",
    "import grader.probe.wire as w\nw.pack_observation = lambda *a: b''": "pack_observation",
    "import builtins\nbuiltins.abs = lambda x: 0": "builtins:abs",
    "import numpy as np\nnp.allclose = lambda *a, **k: True": "numpy:allclose",
    "import ipykernel.ipkernel as k\nk.IPythonKernel.do_execute = None": "do_execute",
    "type(get_ipython().kernel).do_execute = None": "PipeKernel.do_execute",
    "s = type(get_ipython())\nran = s.run_code\ns.run_code = lambda *a, **k: ran(*a, **k)": (
        "ZMQInteractiveShell.run_code"
    ),
    f"{MINE}type(s).msg = mine": "IPython:session.msg",  # a subclass of Session
    f"{MINE}s.msg = mine.__get__(s)": "IPython:session.msg",
    f"{MINE}s.__class__ = type('Mine', (type(s),), {{'msg': mine}})": "IPython:session.msg",
    "s = get_ipython()\nran = s.run_code\ns.run_code = lambda *a, **k: ran(*a, **k)": (
        "IPython:shell.run_code"
    ),
    "k = get_ipython().kernel\nk.do_execute = k.do_execute": "IPython:kernel.do_execute",
    "get_ipython().input_transformers_cleanup.append(list)": "input_transformers_cleanup",
    "get_ipython().ast_transformers.append(None)": "ast_transformers",
    "get_ipython().events.register('pre_execute', lambda: None)": "pre_execute hook",
    "import sys\nsys.settrace(lambda *a: None)": "sys:settrace",
    "import sys\nsys.setprofile(lambda *a: None)": "sys:setprofile",
}
ASKS = "from grader.engine import integrity\nimport grader, grader.probe.wire\n"


@pytest.mark.parametrize(("trick", "said"), TRICKS.items(), ids=TRICKS.values())
def test_what_was_replaced_is_named(run, trick, said):
    result = run(f"{ASKS}before = integrity.replaced()\n{trick}\nafter = integrity.replaced()\n"
                 "print(before, '->', after)")  # fmt: skip
    before, _, after = result.texts[0].partition("->")
    assert said not in before
    assert said in after


def test_what_learners_do_replaces_nothing(run):
    result = run(
        f"{ASKS}%matplotlib inline\n%pdb off\n%xmode plain",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\nimport ipywidgets as w\n"
        "display(w.IntSlider())",
        "await __import__('asyncio').sleep(0)\nget_ipython().run_cell('1 + 1')\n1 / 0",
        "integrity.replaced()",
    )
    assert result.texts[-1] == "[]"
