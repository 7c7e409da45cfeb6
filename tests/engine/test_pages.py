import os
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest

from grader.engine import pages
from tests.eventually import eventually

SLOW = """
import os, time
from grader.engine import pages
pages.WORTH, pages._made = 1, lambda root, chapter: None
def slow(student):
    print(os.getpid(), flush=True)
    time.sleep(600)
if __name__ == "__main__":
    pages._write = slow
    list(pages.write(None, "ps", ["ann", "bob"], 2))
"""


def test_a_page_is_current_that_has_its_notebooks_time(tmp_path):
    page, notebook = tmp_path / "p1.html", tmp_path / "p1.ipynb"
    assert not pages.current(page, notebook)
    notebook.write_text("{}")
    page.write_text("")
    os.utime(notebook, ns=(1, 10**9))
    for when, current in ((10**9, True), (2 * 10**9, False), (0, False)):
        os.utime(page, ns=(1, when))
        assert pages.current(page, notebook) is current


def test_processes_that_write_end_with_the_one_that_asked(tmp_path):
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as asks:
        writers = [psutil.Process(int(asks.stdout.readline())) for _ in range(2)]
        assert all(map(_alive, writers))
        asks.kill()
    assert eventually(lambda: not any(map(_alive, writers)))


def _alive(process):
    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def test_only_the_pages_of_these_notebooks_go(tmp_path):
    for name in ("p1.html", "p2.html", "letter.html"):
        (tmp_path / name).write_text("old")
    assert pages.forget(str(tmp_path), ["p1", "p2", "never"]) == []
    assert [path.name for path in tmp_path.iterdir()] == ["letter.html"]
    assert pages.forget(str(tmp_path / "letter.html"), ["p1"]) == []  # a file where a folder was


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows says it otherwise")
def test_a_page_that_stays_is_noted(tmp_path):
    (tmp_path / "p1.html").mkdir()
    (note,) = pages.forget(str(tmp_path), ["p1"])
    assert "old feedback is still there" in note
