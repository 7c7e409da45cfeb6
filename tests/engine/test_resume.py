"""kill -9 at every stage: the next run carries on and ends as an undisturbed run does."""

import os
import signal
import subprocess
import sys

import psutil
import pytest
from nbgrader.api import Gradebook

from tests.engine.conftest import gone
from tests.eventually import eventually

STAGES = {
    "begun": "grader.engine.submission:Stages.sanitise",
    "sanitised": "grader.engine.executor:LocalExecutor.submit",
    "run": "grader.engine.submission:Stages.record",
    "recorded": "grader.engine.ledger:Ledger.commit",
    "committed": "grader.engine.autograde:EngineAutograde._close",
    "written": "grader.engine.submission:Stages.write_single_notebook",
}
KILLED_RUN = """
import os, signal, sys, importlib
from pathlib import Path
from grader.engine.batch import grade
root, target, nth = sys.argv[1], sys.argv[2], int(sys.argv[3])
module, _, path = target.partition(":")
owner = importlib.import_module(module)
*above, name = path.split(".")
for part in above:
    owner = getattr(owner, part)
original, count = getattr(owner, name), 0
def dies(*args, **kwargs):
    global count
    count += 1
    if count == nth:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*args, **kwargs)
setattr(owner, name, dies)
grade(Path(root), "ps", jobs=2)
print("was not killed")
"""


def _submissions(tiny):
    for name in ("ann", "bob", "cat", "dan"):
        tiny.submit(name)
    tiny.submit("eve", add="def add(a, b): return 0")
    folder = tiny.submit("odd")
    (folder / "p1.ipynb").write_text("broken")


def _grades(tiny):
    """Everything the gradebook says about every submission."""
    with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as book:
        found = {}
        for submission in book.assignment_submissions("ps"):
            for nb in submission.notebooks:
                for grade in nb.grades:
                    key = (submission.student.id, nb.name, grade.name)
                    found[key] = (grade.auto_score, grade.needs_manual_grade)
        return found


@pytest.mark.parametrize(("stage", "nth"), [(s, n) for s in STAGES for n in (1, 4)])
def test_a_killed_run_is_carried_on(tiny, stage, nth):
    _submissions(tiny)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_RUN, str(tiny.root), STAGES[stage], str(nth)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    outcomes = tiny.grade()
    assert set(outcomes) == {"ann", "bob", "cat", "dan", "eve", "odd"}
    expected = {"ann": 9, "bob": 9, "cat": 9, "dan": 9, "eve": 7, "odd": 4}
    assert {name: tiny.scores(name)[0] for name in expected} == expected
    after = _grades(tiny)
    tiny.grade(force=True)
    assert _grades(tiny) == after  # grading again from the start changes nothing
    for name in expected:
        assert (tiny.root / f"submitted/{name}/ps/p2.ipynb").exists()


def test_a_killed_warm_process_is_started_again(tiny):
    from grader.engine import warm

    for name in ("ann", "bob", "cat"):
        tiny.submit(name)
    killed = []

    def kill_once(outcome):
        if outcome.state == "graded" and not killed:
            held = warm._current["zygote"][1]
            os.kill(held.process.pid, signal.SIGKILL)
            killed.append(held.process.pid)

    outcomes = tiny.grade(watch=kill_once, jobs=1)
    assert killed
    assert {name: each.score for name, each in outcomes.items()} == dict.fromkeys(
        ("ann", "bob", "cat"), 9
    )


def test_two_runs_at_once_are_refused_not_mixed(tiny):
    from grader.engine.batch import GradingError
    from grader.engine.journal import Journal

    tiny.submit("ann")
    with Journal(tiny.root).locked(), pytest.raises(GradingError, match="another run"):
        tiny.grade()
    assert tiny.grade()["ann"].score == 9


def test_ctrl_c_keeps_what_is_done(tiny):
    for name in ("ann", "bob"):
        tiny.submit(name)
    tiny.submit("cat", add="import time; time.sleep(2)\ndef add(a, b): return a + b")

    def interrupt(outcome):
        if outcome.state == "graded":
            raise KeyboardInterrupt

    from grader.engine.batch import grade

    run = grade(tiny.root, "ps", jobs=1, watch=interrupt)
    assert run.interrupted
    assert run.exit_code == 1
    outcomes = tiny.grade()
    assert sum(each.state == "skipped" for each in outcomes.values()) >= 1
    assert [tiny.scores(name)[0] for name in ("ann", "bob", "cat")] == [9, 9, 9]


SLEEPS = "import time; time.sleep(3000)\ndef add(a, b): return a + b"
WATCHED_RUN = """
import sys
from pathlib import Path
from grader.engine.batch import grade
run = grade(Path(sys.argv[1]), "ps", jobs=2,
            watch=lambda outcome: print(outcome.state, outcome.student, flush=True))
print("interrupted" if run.interrupted else "ended", flush=True)
sys.exit(run.exit_code)
"""


def test_ctrl_c_in_a_terminal_ends_what_runs_though_it_would_run_on(tiny):
    """SIGINT reaches the whole process group, as a terminal sends it."""
    with open(tiny.config_file(), "a") as file:
        file.write("c.Execute.timeout = 3000\n")
    for name, answers in (("ann", {}), ("bob", {"add": SLEEPS}), ("cat", {"add": SLEEPS})):
        tiny.submit(name, **answers)
    with subprocess.Popen(
        [sys.executable, "-c", WATCHED_RUN, str(tiny.root)], stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as run:  # fmt: skip
        said = []
        while said.count("graded ann") + said.count("started cat") < 2:
            said.append(run.stdout.readline().strip())
            assert said[-1], said
        family = psutil.Process(run.pid)
        assert eventually(lambda: len(family.children(recursive=True)) == 4)  # two warm, two run
        below = family.children(recursive=True)
        os.killpg(run.pid, signal.SIGINT)
        rest, _ = run.communicate(timeout=300)  # much less than the cells would sleep
    assert rest.split() == ["interrupted"]  # and no student is blamed for it
    assert run.returncode == 1
    assert all(gone(each.pid) for each in below)
    for name in ("bob", "cat"):
        tiny.submit(name)
    outcomes = tiny.grade()
    assert {name: each.state for name, each in outcomes.items()} == {
        "ann": "skipped", "bob": "graded", "cat": "graded"
    }  # fmt: skip
    assert [tiny.scores(name)[0] for name in ("ann", "bob", "cat")] == [9, 9, 9]
