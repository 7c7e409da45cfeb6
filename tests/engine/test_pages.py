import os

import pytest

from grader.engine import pages


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
