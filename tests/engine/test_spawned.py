"""Without fork: outputs, points, limits and faults as with it; nothing is left behind."""

import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest

from grader.engine import dask, spawned, warm, work
from grader.engine.batch import GradingError
from grader.engine.host import ZygoteError
from grader.engine.limits import MIB, Limits
from grader.engine.spawned import Closed, Spawned
from tests.eventually import eventually

from .conftest import gone, notebook, text_of

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
CELLS = (
    "x = 6 * 7\nx", "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')",
    "import os\nprint('first')\nos.system('echo from C')\nos.write(2, b'error from C\\n')\nprint('last')",
    "from IPython.display import display, HTML\nshown = display(HTML('<b>1</b>'), display_id='one')",
    "shown.update(HTML('<b>2</b>'))", "def f(n): return n / 0\nf(1)", "def f(:", "!echo from the shell; exit 3",
    "import asyncio\nawait asyncio.sleep(0.01)\n'awaited'", "import warnings; warnings.warn_explicit('careful', UserWarning, 'cell.py', 1)",
    "input('name?')", "%%capture said\nprint('hidden')", "said.stdout", "os.environ['HOME'] == os.path.dirname(os.getcwd())",
    "open('made.txt', 'w').write('made')", "__name__, _3, In[1], sys.stdin.read()", "exit()", "'after exit'",
)  # fmt: skip


@pytest.fixture(scope="module")
def pool(secret_course):
    public = {name: str(secret_course / name) for name in ("data", "notebooks")}
    pool = Spawned(public, tensorflow=False)
    yield pool
    pool.close()
    assert not pool.alive


def run_in(zygote, *sources, timeout=20, **limits):
    """As the fixture `run`, in a process of `zygote`."""
    traits = {"timeout": timeout, "interrupt_on_timeout": True}
    task = work.Job(notebook(*sources), Limits(**limits), allow_unsandboxed=True, traits=traits)
    result = work.run(zygote, task)
    result.texts = [text_of(cell) for cell in result.notebook.cells]
    return result


@pytest.fixture
def run(pool):
    return lambda *sources, **limits: run_in(pool, *sources, **limits)


def test_outputs_are_those_of_a_fork(run, zygote):
    ours, theirs = run(*CELLS), run_in(zygote, *CELLS)
    assert ours.fault is theirs.fault is None
    for source, own, forked in zip(CELLS, ours.notebook.cells, theirs.notebook.cells, strict=True):
        assert own.outputs == forked.outputs, source
        assert own.execution_count == forked.execution_count
    assert ours.notebook.metadata == theirs.notebook.metadata
    assert b"made.txt" in ours.files


def test_a_cell_at_its_limit_is_interrupted_and_the_later_ones_run(run):
    result = run(
        "while True: pass", "import time; time.sleep(600)", "!sleep 600", "'after'", timeout=1
    )
    assert result.fault is None
    assert ["KeyboardInterrupt" in text for text in result.texts] == [True, True, False, False]
    assert ["CellTimeoutError" in text for text in result.texts] == [True, True, True, False]
    assert result.texts[3] == "'after'"


def test_who_ignores_the_interrupt_is_killed(run):
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    result = run("'before'", stubborn, "'after'", timeout=1, grace=1)
    assert result.fault[0] == "timeout"
    assert result.texts[0] == "'before'"
    assert all("DeadKernelError" in text for text in result.texts[1:])


@pytest.mark.parametrize(
    ("cell", "kind", "limits"),
    [
        ("import os; os._exit(0)", "died", {}), ("import os; os.abort()", "died", {}),
        ("print('x' * (3 << 20))", "output", {"output": 2 * MIB}),
        ("import os, time\nos.write(1, b'x' * (3 << 20)); time.sleep(60)", "output", {"output": 2 * MIB}),
        ("import time\nheld = bytearray(b'x' * (600 << 20)); time.sleep(60)", "memory", {"total": 400 * MIB}),
    ],
)  # fmt: skip
def test_a_process_that_has_to_end_costs_its_own_notebook_only(run, cell, kind, limits):
    result = run("'before'", cell, "'after'", **limits)
    assert result.fault[0] == kind
    assert result.texts[0] == "'before'"
    assert all("DeadKernelError" in text for text in result.texts[1:])
    assert run("'next'").texts == ["'next'"]


def test_nothing_is_left_behind(run, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    daemon = "import os, time, warnings\nwarnings.simplefilter('ignore')\nif os.fork() == 0:\n    if os.fork(): os._exit(0)\n    print(os.getpid()); time.sleep(600)\nos.wait(); time.sleep(0.3)"
    result = run(
        "import os; print(os.getpid())",
        daemon,
        "import subprocess; print(subprocess.Popen(['sleep', '600']).pid)",
    )
    pids = [int(text) for text in result.texts]
    assert all(gone(pid) for pid in pids)
    assert list(tmp_path.iterdir()) == []


def test_a_tree_deeper_than_python_recurses_is_removed_too(run, monkeypatch, tmp_path):
    run("'the pool has its own folder'")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    deep = "import os\nfor i in range(1500):\n    os.mkdir('d'); os.chdir('d')\nprint('deep')"
    assert run(deep).texts == ["deep\n"]
    assert list(tmp_path.iterdir()) == []


def test_as_many_wait_as_have_run_at_once(run, pool):
    meet = threading.Barrier(2)
    cell = f"import os, time; open({str(os.devnull)!r}); print(os.getpid()); time.sleep(2)"
    found = []

    def one():
        meet.wait()
        found.append(run(cell).texts[0])

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 2
    assert len(pool.waiting) == 2


def test_one_that_dies_while_it_waits_is_replaced(run, pool):
    run("1")
    pool.waiting[0].popen.kill()
    assert gone(pool.waiting[0].popen.pid)
    assert run("'well'").texts == ["'well'"]


def test_closing_ends_what_waits_and_what_runs():
    pool = Spawned(tensorflow=False)
    pool.launch()
    pids, ended = [each.popen.pid for each in pool.waiting], []
    home = pool.home

    def wait():
        try:
            pool.spawn(Limits())
        except (Closed, ZygoteError) as error:
            ended.append(type(error))

    thread = threading.Thread(target=wait)
    thread.start()
    assert eventually(lambda: pool.running)
    pids += [each.popen.pid for each in pool.waiting]
    pool.close()
    thread.join(60)
    assert ended == [Closed]
    assert all(gone(pid) for pid in pids)
    assert not Path(home).exists()


def test_where_no_process_could_be_started_the_next_order_tries_again(monkeypatch):
    def refused(*given):
        raise BlockingIOError("no more processes")

    pool = Spawned(tensorflow=False)
    monkeypatch.setattr(spawned, "Started", refused)
    for _ in range(2):
        with pytest.raises(BlockingIOError):
            pool.spawn(Limits())
    monkeypatch.undo()
    pool.spawn(Limits()).kill()
    pool.close()


def test_by_the_courses_configuration(tiny):
    with tiny.config_file().open("a") as file:
        file.write("c.EngineExecute.fork = False\n")
    tiny.submit("half", add="def add(a, b):\n    return 3")
    with pytest.raises(
        GradingError, match=r"mount: OFF \(the process was not forked\).*--allow-unsandboxed"
    ):
        tiny.grade()
    assert tiny.grade(allow_unsandboxed=True)["half"].score == 7
    assert tiny.scores("half") == (7, False)
    assert isinstance(warm._current["zygote"][1], Spawned)


def test_a_worker_of_a_cluster_is_told_by_the_job(tmp_path):
    job = work.Job(notebook("'there'"), Limits(), allow_unsandboxed=True, fork=False)
    job.tensorflow = False
    try:
        (result,) = dask.run_on_worker(str(tmp_path), [job])
        assert isinstance(warm._current["zygote"][1], Spawned)
        assert warm._current["zygote"][1].setup["tensorflow"] is False
    finally:
        warm.close()
    assert text_of(result.notebook.cells[0]) == "'there'"


def test_the_judges_points_are_those_of_a_fork(mini, tmp_path, monkeypatch):
    from grader.course import Course
    from grader.grading import grade, make_class, rows

    shutil.copytree(mini.root, tmp_path, dirs_exist_ok=True)
    course = Course.find(tmp_path)
    make_class(course, course.chapters[0], 5)
    monkeypatch.chdir(tmp_path)
    text, found = (tmp_path / "nbgrader_config.py").read_text(), []
    for fork in (True, False):
        (tmp_path / "nbgrader_config.py").write_text(f"{text}\nc.EngineExecute.fork = {fork}\n")
        done = grade(course, course.chapters[0], ["demo-01", "demo-02", "demo-05"], jobs=1, force=True, allow_unsandboxed=True)  # fmt: skip
        assert done.count("graded") == 3
        found.append({row.student: row.cells for row in rows(course, course.chapters[0])})
    warm.close()
    assert found[0] == found[1]
