"""Cells in a child behave as cells in a kernel do."""

import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from grader.engine import frames, work
from grader.engine.incoming import NO_FORM


def test_streams_keep_their_order_and_c_output_its_place(run):
    result = run(
        "import os, sys\nprint('a'); print('b', file=sys.stderr); os.write(1, b'c\\n'); print('d')"
    )
    outputs = result.notebook.cells[0].outputs
    assert [(o.name, o.text) for o in outputs] == [
        ("stdout", "a\n"), ("stderr", "b\n"), ("stdout", "c\nd\n"),
    ]  # fmt: skip


def test_results_displays_updates_and_clear_output(run):
    result = run(
        "1 + 1",
        "from IPython.display import display\nh = display('x', display_id='k')",
        "from IPython.display import update_display\nupdate_display('y', display_id='k')",
        "from IPython.display import clear_output\nprint(1); clear_output(); print(2)",
        "1/0",
    )
    cells = result.notebook.cells
    assert cells[0].outputs[0].data["text/plain"] == "2"
    assert cells[0].execution_count == 1
    assert cells[1].outputs[0].data["text/plain"] == "'y'"
    assert cells[3].outputs[0].text == "2\n"
    assert cells[4].outputs[0].ename == "ZeroDivisionError"


def test_magics_shell_and_await(run):
    result = run(
        "%%capture out\nprint('hidden')", "out.stdout", "!echo from the shell",
        "import asyncio\nawait asyncio.sleep(0.01)\n'awaited'", "%pwd",
    )  # fmt: skip
    assert result.texts[1] == "'hidden\\n'"
    assert "from the shell" in result.texts[2]
    assert result.texts[3] == "'awaited'"
    assert "/home/learner/work" in result.texts[4]


def test_input_exit_and_what_follows(run):
    result = run("input('?')", "exit()", "import sys; sys.exit(3)", "'still here'")
    assert "StdinNotImplementedError" in result.texts[0]
    assert "SystemExit" in result.texts[2]
    assert result.texts[3] == "'still here'"


def test_threads_and_subprocesses_are_heard(run):
    result = run(
        "import threading\nt = threading.Thread(target=lambda: print('thread')); t.start(); t.join()",
        "import multiprocessing as mp\n"
        "p = mp.get_context('fork').Process(target=print, args=('forked',)); p.start(); p.join()",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(6*7)'])",
    )
    assert "thread" in result.texts[0]
    assert "forked" in result.texts[1]
    assert "42" in result.texts[2]


def test_each_child_draws_its_own_numbers(run):
    draw = "import random, numpy as np\nprint(random.random(), np.random.rand())"
    assert run(draw).texts[0] != run(draw).texts[0]


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ("import os; os._exit(0)", "died"),
        ("import os; os.abort()", "died"),
        ("import ctypes; ctypes.string_at(0)", "died"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL); import time; time.sleep(9)", ""),
    ],
)
def test_the_output_before_a_crash_is_kept(run, last, kind):
    result = run("print('before')\n" + last, "print('after')")
    assert "before" in result.texts[0]
    if kind:
        assert result.fault[0] == kind
        assert "DeadKernelError" in result.texts[0]
        assert "after\n" not in result.texts[1]


def test_a_loop_is_interrupted_and_later_cells_run(run):
    result = run("while True:\n    pass", "'later'", job={"traits": {"timeout": 1}}, grace=5.0)
    assert "KeyboardInterrupt" in result.texts[0]
    assert any(o.get("ename") == "CellTimeoutError" for o in result.notebook.cells[0].outputs)
    assert result.texts[1] == "'later'"
    assert result.fault is None


def test_it_leads_a_session_of_its_own_as_a_kernel_does(run):
    """Ctrl-C goes to all processes of a terminal's group: to no student's cell."""
    result = run("import os\nos.getsid(0) == os.getpgid(0) == os.getpid()")
    assert result.texts == ["True"]


STUBBORN = (
    "import time\nwhile True:\n    try:\n        time.sleep(9)\n    except BaseException: pass"
)


DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"


@pytest.mark.parametrize("source", [STUBBORN, DEAF])
def test_a_loop_that_catches_everything_is_killed(run, source):
    started = time.monotonic()
    result = run(source, "'later'", job={"traits": {"timeout": 1}}, grace=1.0)
    assert result.fault[0] == "timeout"
    assert "later'" not in result.texts[1]
    assert time.monotonic() - started < 60


def test_the_notebook_as_a_whole_has_a_limit(run):
    """Each cell keeps within its own; the first comes to its end."""
    result = run(*["import time; time.sleep(1); 'done'"] * 30, notebook=4.0, grace=20.0,
                 job={"traits": {"timeout": 25}})  # fmt: skip
    assert result.fault == ("timeout", "the notebook ran past its time limit")
    ended = result.texts.index("'done'"), result.texts.count("'done'")
    assert ended[0] == 0
    late, *rest = result.texts[ended[1] :]
    assert ended[1] <= 4
    assert "KeyboardInterrupt" in late
    assert set(rest) == {f"DeadKernelError: {result.fault[1]}"}


@pytest.mark.parametrize("source", [
    "import os\nwhile True: os.write(1, b'x' * 65536)",
    "while True: print('y' * 1000)",
    "from IPython.display import display\nfor _ in range(300): display({'text/plain': 'z' * 1000000}, raw=True)",
])  # fmt: skip
def test_a_flood_of_output_ends_at_the_limit(run, source):
    result = run(source, output=3 << 20)
    assert result.fault[0] == "output"
    assert sum(len(str(o)) for o in result.notebook.cells[0].outputs) < 8 << 20


@pytest.mark.parametrize("garbage", [
    "b'garbage' * 1000",
    "struct.pack('>cII', b'm', 1, 12) + b'not parts...'",
    "struct.pack('>cII', b'X', 1, 0)",
    "struct.pack('>cII', b'r', 1, 0)",
    "struct.pack('>cII', b'o', 1, 4000000000)",
])  # fmt: skip
def test_garbage_on_the_socket_is_that_notebooks_own_loss(run, garbage):
    result = run(f"import os, struct\nos.write(3, {garbage})\nimport time; time.sleep(30)",
                 output=1 << 20)  # fmt: skip
    assert result.fault[0] in ("tampering", "output")
    assert run("'next'").texts == ["'next'"]


@pytest.mark.parametrize("content", [
    "{'data': {'text/plain': {'a': [1]}}, 'metadata': 7}", "{'data': {'text/plain': 'x'}, 'metadata': 7}",
    "{'data': {'text/plain': {'a': [1]}}, 'metadata': {}}", "{'data': [], 'metadata': {}}",
])  # fmt: skip
def test_hostile_message_content_does_not_reach_the_notebook(run, content):
    """What goes round the display hooks is left out, or of the notebook's format."""
    cell = (
        "k = get_ipython().kernel\n"
        f"k.session.send(k.iopub_socket, 'display_data', {content}, parent=k.get_parent());"
    )
    result = run("'before'", cell, "'next'")
    assert (result.fault, result.texts) == (None, ["'before'", NO_FORM.decode(), "'next'"])
    nbformat.validate(result.notebook)


def test_files_go_in_and_come_back(run):
    payload = frames.pack_parts({"names": ["d/in.txt"]}, [b"given"])
    result = run("print(open('d/in.txt').read())\nopen('out.txt', 'w').write('made')",
                 job={"files": payload})  # fmt: skip
    assert result.texts[0].startswith("given")
    head, blobs = frames.unpack_parts(result.files)
    assert (head["names"], blobs) == (["out.txt"], [b"made"])


def test_the_skip_tag_works_only_where_it_may(zygote):
    nb = new_notebook(cells=[new_code_cell("print('a')"), new_code_cell("print('b')")])
    for cell in nb.cells:
        cell.metadata["tags"] = ["skip-execution"]
    result = work.run(zygote, work.Job(nb, work.Limits(), never_skip=frozenset([1])))
    assert [len(cell.outputs) for cell in result.notebook.cells] == [0, 1]


def test_its_start_runs_no_program(run):
    """As landlockpy does at its first use, for the C library's name: the zygote has done that."""
    asked = "import resource\nresource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss"
    result = run(asked, "import subprocess; subprocess.run(['true']); " + asked.split("\n")[1])
    none, one = (int(cell.outputs[-1].data["text/plain"]) for cell in result.notebook.cells)
    assert none == 0
    assert one > 0
