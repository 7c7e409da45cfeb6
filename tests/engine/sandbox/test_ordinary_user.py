"""The same sandbox for somebody who is not root, in a mount namespace where they can read Python."""

import json
import os

import pytest

PROBE = """
import json
from nbformat.v4 import new_code_cell, new_notebook
from grader.engine import work
from grader.engine.host import Zygote
from grader.engine.limits import Limits
cells = [new_code_cell(s) for s in (
    "import os; print(os.getuid())",
    "open('/etc/shadow')", "open('/usr/x', 'w')", "print(open('x', 'w').write('abc'))",
    "import socket; socket.create_connection(('127.0.0.1', 1), 1)",
    "while True: pass", "print(len([p for p in os.listdir('/proc') if p.isdigit()]))")]
z = Zygote(tensorflow=False)
r = work.run(z, work.Job(new_notebook(cells=cells), Limits(grace=5), allow_unsandboxed=True,
             traits={"timeout": 10, "interrupt_on_timeout": True}))
z.close()
print(json.dumps({"layers": [l.__dict__ for l in r.layers], "fault": r.fault,
                  "texts": [str([o.get("text") or o.get("ename") for o in c.outputs]) for c in cells]}))
"""


@pytest.fixture(scope="module")
def outcome(as_nobody):
    done = as_nobody(PROBE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_layers_are_the_same(outcome):
    off = [layer for layer in outcome["layers"] if not layer["on"]]
    if any("ermitted" in layer["reason"] or "denied" in layer["reason"] for layer in off):
        pytest.skip(f"this host gives ordinary users no namespaces: {off}")
    assert off == []


def test_what_works_and_what_is_refused(outcome):
    texts = outcome["texts"]
    assert "65534" in texts[0] or str(os.getuid()) in texts[0]
    assert "FileNotFoundError" in texts[1] or "PermissionError" in texts[1]
    assert "OSError" in texts[2] or "PermissionError" in texts[2]
    assert "3" in texts[3]
    assert "PermissionError" in texts[4]
    assert "KeyboardInterrupt" in texts[5]
    assert "1\\n" in texts[6]
    assert outcome["fault"] is None
