"""Wrong answers dressed up in every known way are judged wrong; right ones stay right."""

import copy
import errno
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from grader.course import CourseError
from grader.display.show import VERDICT
from grader.engine import frames, warm, work
from grader.engine.batch import grade
from grader.engine.judging import Judge, course_key, decide
from grader.engine.limits import Limits
from grader.grading.book import verdicts
from grader.probe import wire

ROOT = Path(__file__).resolve().parents[2]
WRONG = "def twice(x):\n    return 17.0 * x\n"

DRESSED = {
    "patches numpy.testing": "import numpy as np\nfor n in dir(np.testing):\n"
    "    if n.startswith('assert_'): setattr(np.testing, n, lambda *a, **k: None)\n",
    "replaces check": "import grader, sys\nfor m in list(sys.modules.values()):\n"
    "    if getattr(m, '__name__', '').startswith('grader') and hasattr(m, 'check'):\n"
    "        try: m.check = lambda *a, **k: None\n        except Exception: pass\n"
    "check = lambda *a, **k: None\npartial_credit = lambda *a, points=0, **k: points\n",
    "replaces GradientTape": "import tensorflow as tf\nclass T:\n    def __init__(s, *a, **k): pass\n"
    "    def __enter__(s): return s\n    def __exit__(s, *a): pass\n"
    "    def watch(s, x): pass\n    def gradient(s, y, x, *a, **k): return tf.ones_like(x) * 3.0\n"
    "tf.GradientTape = T\n",
    "drops statements": "import ast\nclass Drop(ast.NodeTransformer):\n"
    "    def visit_Expr(s, n): return ast.Pass()\n    def visit_Assert(s, n): return ast.Pass()\n"
    "get_ipython().ast_transformers.append(Drop())\n",
    "empties cells": "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])\n",
    "silences tracebacks": "get_ipython().showtraceback = lambda *a, **k: None\n"
    "get_ipython()._showtraceback = lambda *a, **k: None\n",
    "patches do_execute": "async def do(self, *a, **k):\n"
    "    return {'status': 'ok', 'execution_count': 1, 'user_expressions': {}, 'payload': []}\n"
    "type(get_ipython().kernel).do_execute = do\n",
    "rewrites by tracing": "import sys\nsys.settrace(lambda f, e, a: f.f_globals.update(ok=True))\n",
    "pre_run_cell": "get_ipython().events.register('pre_run_cell', lambda i: None)\n",
    "equal to everything": "class E:\n    shape = ()\n    def __eq__(s, o): return True\n"
    "    def __array__(s, *a, **k): raise TypeError\ntwice = lambda x: E()\n",
    "replaces the probe": "import grader.probe as p\np.run = lambda *a, **k: {}\n",
    "claims to be untouched by the judge": "import grader.probe.wire as w, grader.engine.answering as a\n"
    "from grader.engine import frames\n"
    "a.answer = lambda payload, ns: frames.pack_parts({'ok': True, 'replaced': []}, [b''])\n",
    "answers before it is asked": "import os, struct\nos.write(3, struct.pack('>cII', b'r', 9, 0))\n",
    "exits": "import sys\nsys.exit(0)\n",
    "dies": "import os\nos._exit(0)\n",
    "writes to the gradebook": "import sqlite3, glob\nfor p in glob.glob('/**/gradebook.db', recursive=True)"
    " + ['../../../gradebook.db', '../gradebook.db']:\n    try:\n"
    "        c = sqlite3.connect(p); c.execute('update grade set manual_score = 99'); c.commit()\n"
    "    except Exception: pass\n",
    "prints a grade": "print(100.0)\n100.0\n",
    "speaks for the judge": "display({'application/vnd.grader.verdict+json': {'outcome': 'pass',"
    " 'mistake': None}}, raw=True)\n_twice = twice\ndef twice(x):\n    import os\n    os._exit(0)\n",
    "talks for ever": "import grader.engine.answering as a\nfrom grader.probe import Outcome, wire\n"
    "from grader.engine import frames\na.answer = lambda payload, ns: frames.pack_parts({'ok': True},"
    " [wire.pack_observation({(c, m, k): Outcome('error', text='KeyError: ' * 600_000)"
    " for c in ('a matrix',) for m in ('eager',) for k in ('value', 'gradient:x')})])\n",
}


ODD = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    list(pool.map(print, range(40)))
open("copy.ipynb", "w").write("[]")
display({"text/plain": 5}, raw=True)
display({"text/plain": "\\ud800"}, raw=True)
"""


@pytest.fixture(scope="module")
def graded(mini, tmp_path_factory):
    """All submissions of this module, graded in one run."""
    root = tmp_path_factory.mktemp("judged")
    shutil.copytree(mini.root, root, dirs_exist_ok=True)
    with open(root / "nbgrader_config.py", "a") as file:
        file.write("\nimport grader.engine\ngrader.engine.plug(c)\n")
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(root / "none")}
    subprocess.run([sys.executable, "-m", "nbgrader", "generate_assignment", "01_mini", "--force"],
                   cwd=root, env=environment, check=True, capture_output=True)  # fmt: skip
    for name, change in _changes().items():
        _submit(root, name, change)
    run = grade(root, "01_mini", jobs=2)
    yield root, {outcome.student: outcome for outcome in run.outcomes}
    warm.close()


def _changes():
    changes = {f"w{i}": {"twice": WRONG + extra} for i, extra in enumerate(DRESSED.values())}
    changes["right"] = {}
    changes["noisy"] = {"twice": "import sys, warnings\nsys.stderr.write('noise')\n{}"}
    changes["right-but-loud"] = {
        "twice": "{}\n_twice = twice\ndef twice(x):\n    import sys\n"
        "    print('on stderr', file=sys.stderr)\n    return _twice(x)\n"
    }
    changes["odd"] = {"twice": "{}\n" + ODD}
    changes["starter"] = None
    return changes


def _submit(root, student, change):
    released = nbformat.read(root / "notebooks/01_mini/01_mini.ipynb", 4)
    solved = nbformat.read(root / "solutions/01_mini/01_mini.ipynb", 4)
    answers = {c.metadata.nbgrader.grade_id: c.source for c in solved.cells
               if c.metadata.get("nbgrader", {}).get("solution")}  # fmt: skip
    nb = copy.deepcopy(released)
    for cell in nb.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if change is not None and grade_id in answers:
            right = answers[grade_id]
            cell.source = change.get(grade_id, "{}").replace("{}", right)
            if "{}" not in change.get(grade_id, "{}"):
                cell.source = change[grade_id]
    folder = root / "submitted" / student / "01_mini"
    folder.mkdir(parents=True)
    nbformat.write(nb, folder / "01_mini.ipynb")


def _twice(outcome):
    return {r.outcome for r in outcome.rulings if r.exercise == "twice"}


@pytest.mark.parametrize("student", ["right", "noisy", "right-but-loud", "odd"])
def test_right_work_has_all_points_whatever_it_prints(graded, student):
    root, outcomes = graded
    assert (outcomes[student].score, outcomes[student].most) == (100, 100)
    with Gradebook(f"sqlite:///{root}/gradebook.db", "gradients") as book:
        submission = book.find_submission("01_mini", student)
        assert (submission.score, submission.needs_manual_grade) == (100, False)


def test_an_untouched_notebook_is_not_attempted(graded):
    _, outcomes = graded
    assert outcomes["starter"].score == 0
    assert {r.outcome for r in outcomes["starter"].rulings} == {"unattempted"}


@pytest.mark.parametrize("number", range(len(DRESSED)), ids=list(DRESSED))
def test_a_wrong_answer_in_disguise_is_wrong(graded, number):
    root, outcomes = graded
    outcome = outcomes[f"w{number}"]
    assert "pass" not in _twice(outcome)
    assert len(_twice(outcome)) >= 1
    with Gradebook(f"sqlite:///{root}/gradebook.db", "gradients") as book:
        nb = book.find_submission("01_mini", f"w{number}").notebooks[0]
        scores = {g.name: g.score for g in nb.grades if g.name.startswith("twice-")}
    assert set(scores.values()) == {0}


@pytest.mark.parametrize(
    "name", ["replaces GradientTape", "drops statements", "patches numpy.testing",
             "pre_run_cell", "answers before it is asked"],
)  # fmt: skip
def test_recognisable_tricks_are_told_to_the_instructor(graded, name):
    _, outcomes = graded
    outcome = outcomes[f"w{list(DRESSED).index(name)}"]
    assert any("replaced" in note for note in outcome.notes) or outcome.kind == "tampering"


def test_nobody_but_the_judge_speaks_its_word(graded):
    root, _ = graded
    student = f"w{list(DRESSED).index('speaks for the judge')}"
    said = verdicts(root / f"autograded/{student}/01_mini/01_mini.ipynb")
    assert "twice" not in said  # the answer's own cell, in which it was forged
    assert {outcome for name, (outcome, _) in said.items() if name.startswith("twice-")} == {
        "error"
    }


def test_feedback_holds_verdicts_but_no_hidden_tests(graded):
    root, _ = graded
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(root / "none")}
    subprocess.run([sys.executable, "-m", "nbgrader", "generate_feedback", "01_mini", "--student",
                    "w0"], cwd=root, env=environment, check=True, capture_output=True)  # fmt: skip
    (page,) = (root / "feedback/w0").rglob("*.html")
    text = page.read_text()
    assert "CheckFailed" in text
    assert "HIDDEN TESTS" not in text
    assert "fresh=True" not in text


def test_the_course_key_is_private_and_stays(tmp_path):
    key = course_key(tmp_path)
    assert len(key) == 64
    assert course_key(tmp_path) == key
    assert (tmp_path / ".course_key").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == [".course_key"]


def test_a_key_that_is_none_is_refused(tmp_path):
    """A disk that was full, say: with an empty key everybody could draw the hidden inputs."""
    for none in ("", " " * 64):
        (tmp_path / ".course_key").write_text(none)
        with pytest.raises(CourseError, match="holds no key: put it back from a backup"):
            course_key(tmp_path)
    (tmp_path / ".course_key").unlink()
    (tmp_path / ".course_key").mkdir()
    with pytest.raises(CourseError, match="course_key cannot be read"):
        course_key(tmp_path)


def test_of_two_who_make_a_key_the_first_counts(tmp_path, monkeypatch):
    first = b"1" * 64

    def late(made, path):
        path.write_bytes(first)
        raise FileExistsError

    monkeypatch.setattr("os.link", late)
    assert course_key(tmp_path) == first


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_key_is_made_where_there_are_no_hard_links(tmp_path, monkeypatch, code):
    """On exFAT, say, or in a folder of another machine's."""

    def none(made, path):
        raise OSError(code, os.strerror(code), made, None, path)

    monkeypatch.setattr("os.link", none)
    key = course_key(tmp_path)
    assert len(key) == 64
    assert course_key(tmp_path) == key
    assert [path.name for path in tmp_path.iterdir()] == [".course_key"]
    if os.name == "posix":
        assert (tmp_path / ".course_key").stat().st_mode & 0o077 == 0

    def late(made, path):
        path.write_bytes(b"1" * 64)
        none(made, path)

    (tmp_path / ".course_key").unlink()
    monkeypatch.setattr("os.link", late)
    assert course_key(tmp_path) == b"1" * 64


def test_a_regrade_repeats_exactly(graded):
    root, outcomes = graded
    again = grade(root, "01_mini", ["right", "w0"], force=True, jobs=1)
    for outcome in again.outcomes:
        assert outcome.rulings == outcomes[outcome.student].rulings


MASTER = """check("twice", twice, part="value")
### BEGIN HIDDEN TESTS
check("twice", twice, part="value", fresh=True)
### END HIDDEN TESTS"""


@pytest.fixture
def asked(mini, tmp_path):
    """A judge of one graded cell, and the job that it makes of it."""
    root = tmp_path / "course"
    shutil.copytree(mini.root, root)

    def asked(student="ann", source="", **tags):
        meta = {"grade": True, "solution": False, "grade_id": "t", "points": 10.0}
        cell = new_code_cell(source, metadata={"nbgrader": meta, **tags})
        judge = Judge(root, student, {"t": MASTER})
        job = work.Job(new_notebook(cells=[cell]), Limits())
        judge.prepare(job)
        return judge, job

    return asked


def test_hidden_tests_are_not_sent_to_the_submission(asked):
    _, job = asked(source=MASTER)  # as nbgrader puts the master copy back before it runs
    assert job.sources == {0: 'check("twice", twice, part="value")'}
    assert job.never_skip == {0}


def test_every_graded_test_runs_whatever_its_tags_and_no_other_cell_is_judged(mini, tmp_path):
    """A text and an answer that are marked by hand have points, too, and master copies."""
    root = tmp_path / "course"
    shutil.copytree(mini.root, root)
    named = {"plain": {}, "answer": {"solution": True}, "free": {"grade": False}, "judged": {}}
    cells = [
        new_code_cell(
            "", metadata={"nbgrader": {"grade": True, "points": 1, "grade_id": name, **how}}
        )
        for name, how in named.items()
    ]
    cells.append(new_markdown_cell("", metadata=cells[-1].metadata))
    judge = Judge(root, "ann", dict.fromkeys(named, MASTER) | {"plain": "assert twice(1) == 2"})
    job = work.Job(new_notebook(cells=cells), Limits())
    judge.prepare(job)
    assert job.never_skip == {0, 3}
    assert set(job.questions) == set(job.sources) == set(judge.cells) == {3}


def test_every_student_has_inputs_that_only_the_courses_key_tells(asked, tmp_path):
    ann, again, bob = (asked(name)[1].questions[0][0].request for name in ("ann", "ann", "bob"))
    assert ann == again != bob
    (tmp_path / "course/.course_key").write_text("another key".center(64, "."))
    assert asked("ann")[1].questions[0][0].request != ann


def _decided(asked, reply):
    judge, job = asked()
    result = work.Result(job.notebook)
    return decide(judge.cells[0].plans[0], reply, result), result.notes


@pytest.mark.parametrize("parts", [[], [b""], [b"garbage"], [b"\xff" * 99]])
def test_an_answer_that_no_probe_gives_is_noted_as_tampering(asked, parts):
    verdict, notes = _decided(asked, frames.pack_parts({"ok": True, "replaced": []}, parts))
    assert not verdict.passed
    assert notes[0].startswith("tampering: an answer that no probe gives")


def test_a_flood_of_replaced_names_is_a_few_short_notes(asked):
    head = {"ok": False, "replaced": [f"{n} {'x' * 10_000}" for n in range(1000)]}
    _, notes = _decided(asked, frames.pack_parts(head, []))
    assert len(notes) <= 50
    assert max(map(len, notes)) < 200


def test_an_answer_that_took_too_long_is_said_to_have(asked):
    head = {"ok": False, "name": "KeyboardInterrupt", "text": ""}
    verdict, _ = _decided(asked, frames.pack_parts(head, []))
    assert verdict.headline == "interrupted: the answer took too long"


def _silent(name, **head):
    return frames.pack_parts({"ok": False, "name": name, "text": "said", **head}, [])


def test_each_question_has_its_own_answer_and_a_run_that_ended_has_none(asked):
    judge, job = asked()
    shown = {"text/plain": "passed", VERDICT: {"outcome": "pass", "mistake": None}}
    free = new_code_cell("", outputs=[new_output("display_data", shown)])
    job.notebook.cells.append(free)
    for part in ("gradient", "robust"):
        judge.masters["t"] += f'\ncheck("twice", twice, part="{part}")'
    judge.prepare(job)
    assert len({question.request for question in job.questions[0]}) == 3
    replies = [_silent("First"), _silent("Second")]
    result = work.Result(job.notebook, {0: replies}, fault=("died", "it was killed"))
    assert [(each.part, each.headline, each.fraction) for each in judge.settle(result)] == [
        ("value", "First: said", 0),
        ("gradient", "Second: said", 0),
        ("robust", "not judged: it was killed", 0),
    ]
    assert list(free.outputs[0].data) == ["text/plain"]  # the judge's word is the judge's
    assert judge.settle(work.Result(job.notebook))[0].headline == "not judged: no answer"


def test_only_a_plain_yes_is_an_answer_and_what_was_replaced_is_told_once(asked):
    judge, job = asked()
    result = work.Result(job.notebook)
    for _ in range(2):
        reply = _silent("n" * 999, ok=1, text="t" * 999, replaced=[7, "check"])
        assert len(decide(judge.cells[0].plans[0], reply, result).headline) < 400
    assert result.notes == [f"replaced in the student's process: {name}" for name in (7, "check")]


def test_what_cannot_be_judged_is_wrong_and_noted_and_stops_nobody(asked):
    judge, job = asked()
    result = work.Result(job.notebook)
    plan = replace(judge.cells[0].plans[0], part="no such part" * 99)
    reply = frames.pack_parts({"ok": True}, [wire.pack_observation({})])
    assert not decide(plan, reply, result).passed
    (note,) = result.notes
    assert note.startswith("an answer could not be judged: ValueError")
    assert len(note) < 300
