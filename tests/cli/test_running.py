"""`grader grade` where a chapter, a name, the output or the gradebook is not as it should be."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from tests.cli.conftest import ANSWER


def _second_chapter(pupils):
    folder = pupils.root / "solutions/02_two"
    shutil.copytree(pupils.root / "solutions/01_sum", folder)
    for path in folder.glob("01_sum.*"):
        path.rename(folder / path.name.replace("01_sum", "02_two"))
    return folder


def test_a_reader_who_leaves_costs_nobody_a_point_and_what_is_asked_for_is_graded(pupils):
    pupils.submit(ann=ANSWER, bob=ANSWER)
    for again in ((), ("--json",)):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            assert pupils.run("grade", *again, stdout=pipe) == (0, "")
        assert pupils.scores() == {"ann": 3, "bob": 3}
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            code, err = pupils.run("grade", "--json", stdout=full)
        assert code == 2
        assert "cannot be written: No space left" in err
        assert len(err.splitlines()) == 1
        assert pupils.scores() == {"ann": 3, "bob": 3}


def test_a_program_is_told_of_the_sandbox_first_too(pupils):
    pupils.submit(ann=ANSWER)
    code, out, err = pupils.grade("--json")
    assert code == 0, err
    told = [json.loads(line) for line in out.splitlines()]
    assert [*told[0]] == ["sandbox"]
    assert "seccomp" in told[0]["sandbox"]
    assert not told[0]["sandbox"].startswith("sandbox")
    assert [row.get("state") for row in told[1:]] == ["started", "graded", None]


def test_a_terminal_without_the_names_letters_shows_them_spelled_out(pupils):
    pupils.submit(**{"日本": ANSWER, "a b": ANSWER})
    done = pupils.run("grade", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done == (0, "")
    assert pupils.run("scores", env={**os.environ, "PYTHONIOENCODING": "latin-1"}) == (0, "")
    assert pupils.scores() == {"a b": 3, "日本": 3}


def test_chapters_that_cannot_be_graded_and_names_that_nobody_has_stop_no_others(pupils):
    folder = _second_chapter(pupils)
    pupils.submit(ann=ANSWER, bob=ANSWER)
    (pupils.root / "submitted/bob/01_sum").rename(pupils.root / "submitted/bob/02_two")
    nb = pupils.root / "submitted/bob/02_two/01_sum.ipynb"
    nb.rename(nb.with_name("02_two.ipynb"))
    code, out, err = pupils.grade("--student", "bob", "--student", "no\x1bone")
    assert code == 1, err
    assert "02_two: 1 graded" in out
    assert "01_sum" not in out
    assert err == "error: nothing submitted by no\\x1bone in 01_sum, 02_two\n"
    assert pupils.grade("--student", "nobody")[0] == 2
    (pupils.root / "solutions/01_sum/01_sum.ipynb").write_text("{")
    code, out, err = pupils.grade("--force")
    assert code == 2
    assert "02_two: 1 graded" in out
    assert err.startswith("error: 01_sum: ")
    assert len(err.splitlines()) == 1
    (folder / "reference.py").write_text("def x(:\n")
    code, err = pupils.run("scores", "02")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "solutions/02_two/reference.py: SyntaxError" in err


def test_a_hand_in_in_a_wrong_folder_is_told_and_no_other_assignments(pupils):
    pupils.submit(ann=ANSWER, bob=ANSWER, cat=ANSWER, dan=ANSWER)
    submitted = pupils.root / "submitted"
    (submitted / "bob/01_sum").rename(submitted / "bob/01_sums")
    (submitted / "cat/01_sum").rename(submitted / "cat/homework")
    (submitted / "dan/01_sum/01_sum.ipynb").rename(submitted / "dan/01_sum.ipynb")
    (submitted / "dan/01_sum").rmdir()
    (submitted / "ann/essay").mkdir()
    code, _, err = pupils.grade()
    assert code == 1
    assert err.splitlines() == [
        f"error: not graded: submitted/{name} belongs in submitted/<student>/01_sum/, it seems"
        for name in ("bob/01_sums", "cat/homework", "dan/01_sum.ipynb")
    ]
    assert pupils.scores() == {"ann": 3}
    assert pupils.grade("--student", "ann")[::2] == (0, "")


def test_feedback_that_is_missing_is_said(pupils):
    pupils.submit(ann=ANSWER)
    pupils.grade()
    page = pupils.root / "feedback/ann/01_sum/01_sum.html"
    assert page.is_file()
    shutil.rmtree(pupils.root / "feedback")
    (pupils.root / "feedback").write_text("")
    code, _, err = pupils.grade()
    assert code == 2
    assert "feedback is no folder" in err


def _said(pupils, *command):
    with (pupils.root / "said.txt").open("w+") as page:
        assert pupils.run(*command, stdout=page) == (0, "")
        page.seek(0)
        return page.read()


def test_chapters_without_scores_are_told_where_they_were_asked_for_or_where_there_are_no_others(
    pupils,
):
    _second_chapter(pupils)
    none = "0{}: nothing has been graded yet; grader grade 0{}\n"
    both = none.format("1_sum", 1) + none.format("2_two", 2)
    for command in ("scores", "report"):
        assert _said(pupils, command) == "nothing has been graded yet; grader grade\n"
        assert _said(pupils, command, "01", "02") == both
    assert not (pupils.root / "report").exists()
    pupils.submit(ann=ANSWER)
    pupils.grade()
    assert "02_two" not in _said(pupils, "scores")
    assert _said(pupils, "report") == "wrote report/01_sum.html\n"
    assert (
        _said(pupils, "report", "02", "01")
        == none.format("2_two", 2) + "wrote report/01_sum.html\n"
    )


@pytest.mark.parametrize("where", ["no database", "empty", "folder", "configuration"])
def test_what_is_wrong_is_one_line(pupils, where):
    pupils.submit(ann=ANSWER)
    book = pupils.root / "gradebook.db"
    if where == "configuration":
        (pupils.root / "nbgrader_config.py").write_text("1 / 0")
    elif where == "folder":
        book.unlink()
        book.mkdir()
    else:
        book.write_bytes(b"" if where == "empty" else b"this is no database, really " * 100)
    for command in ("scores", "report", "grade"):
        code, err = pupils.run(command)
        if where == "empty":
            assert (code, err) == (0, "")
        else:
            assert code == 2
            assert len(err.splitlines()) == 1, err
            assert err.startswith("error: ")
            assert where != "folder" or "is a folder, not a gradebook" in err


def test_a_spoof_of_the_judges_word_breaks_no_table(pupils):
    pupils.submit(ann=ANSWER)
    pupils.grade()
    path = pupils.root / "autograded/ann/01_sum/01_sum.ipynb"
    path.chmod(0o644)
    path.write_text("{oops")
    assert pupils.run("scores") == pupils.run("report") == (0, "")


def test_tensorflow_is_on_its_way_before_nbgrader_is_imported(pupils):
    pupils.submit(ann=ANSWER)
    seen = "import sys; from grader.engine import warm; from grader.cli import app\n"
    seen += "def ahead(root): sys.exit(str([m for m in ('nbgrader', 'nbformat') if m in sys.modules]))\n"
    seen += "warm.ahead = ahead; app(['grade'])"
    done = subprocess.run([sys.executable, "-c", seen], cwd=pupils.root, text=True,
                          stderr=subprocess.PIPE, check=False)  # fmt: skip
    assert done.stderr == "[]\n"


def test_ctrl_c_while_the_gradebook_is_made_leaves_a_whole_one_and_one_line(pupils):
    """nbgrader asks alembic, a program of its own, which the terminal stops as well."""
    pupils.submit(ann=ANSWER)
    book = pupils.root / "gradebook.db"
    book.unlink()
    run = pupils.start()
    while not book.exists():
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (1, "stopped; what is done is kept\n")
    with closing(sqlite3.connect(book)) as made:
        assert made.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
    assert pupils.grade()[0] == 0
    assert pupils.scores() == {"ann": 3}
