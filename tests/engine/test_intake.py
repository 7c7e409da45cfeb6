"""What of a submitted folder is opened, and what is refused by name."""

import os
from contextlib import suppress

import nbgrader.converters.base
import pytest

from grader.engine import intake
from grader.engine.intake import Missing, Refused
from grader.engine.limits import Limits

SMALL = Limits(submitted_file=1 << 20, submitted=2 << 20, submitted_count=4)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "ann" / "ps"
    (folder / "sub").mkdir(parents=True)
    (folder / "p1.ipynb").write_text("{}")
    (folder / "sub" / "data.csv").write_text("1,2")
    return folder


def test_plain_files_pass(folder):
    (folder / "timestamp.txt").write_text("2026-01-02 03:04:05 UTC")
    assert intake.inspect(folder, SMALL) == {}


def test_links_and_pipes_are_refused_and_not_followed(folder):
    (folder / "a-link").symlink_to("/etc/passwd")
    (folder / "dir-link").symlink_to("/etc")
    (folder / "broken").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    assert intake.inspect(folder, SMALL) == {
        "a-link": "a-link is a symlink", "broken": "broken is a symlink",
        "dir-link": "dir-link is a symlink", "pipe": "pipe is a FIFO",
    }  # fmt: skip


def test_what_is_too_large_or_too_much_is_refused(folder):
    with open(folder / "giant", "wb") as file:
        file.truncate((1 << 20) + 1)
    for name in ("q1", "q2", "q3"):
        with open(folder / name, "wb") as file:
            file.truncate(900_000)
    refused = intake.inspect(folder, SMALL)
    assert refused["giant"].startswith("giant has 1 MiB, 1 allowed by c.EngineExecute.limits")
    assert set(refused) == {"giant", "q3"}  # with q3 the sum would be too large


def test_a_file_may_be_as_large_as_the_limit(folder):
    with open(folder / "just", "wb") as file:
        file.truncate(1 << 20)
    assert intake.inspect(folder, SMALL) == {}


def test_where_there_is_no_notebook_five_of_the_others_are_named(tmp_path):
    for name in "fedcba":
        (tmp_path / name).write_text("")
    with pytest.raises(Missing) as told:
        intake.check_names(tmp_path, [], ["p1"])
    assert str(told.value) == "no notebook was submitted; there is: a, b, c, d, e"


def test_a_notebook_that_is_a_broken_link_is_refused_and_not_missing(tmp_path):
    (tmp_path / "p1.ipynb").symlink_to("nowhere")
    (tmp_path / "p2.ipynb").write_text("{}")
    paths = [str(tmp_path / name) for name in ("p1.ipynb", "p2.ipynb")]
    assert intake.check_names(tmp_path, paths, ["p1", "p2"]) == []


def test_so_many_files_and_no_more(folder):
    for name in ("a", "b", "c"):
        (folder / name).write_text("")
    assert set(intake.inspect(folder, SMALL)) == {"sub/data.csv"}


@pytest.mark.parametrize("deep", [False, True])
def test_a_folder_that_is_a_link_is_refused_as_a_whole(folder, tmp_path, deep):
    if deep:
        (tmp_path / "eve").symlink_to(tmp_path / "ann")
        place = tmp_path / "eve" / "ps"
    else:
        place = tmp_path / "ann" / "other"
        place.symlink_to(folder)
    with pytest.raises(Refused, match="symlink"):
        intake.inspect(place, SMALL)


@pytest.mark.parametrize("text", ["yesterday", "\0", "2026-99-99", "10" * 40])
def test_a_time_that_is_none_is_refused_as_a_whole(folder, text):
    (folder / "timestamp.txt").write_text(text)
    with pytest.raises(Refused, match="no date"):
        intake.inspect(folder, SMALL)


def test_a_time_that_is_a_link_is_refused_as_a_whole(folder):
    (folder / "timestamp.txt").symlink_to("/etc/passwd")
    with pytest.raises(Refused, match="symlink"):
        intake.inspect(folder, SMALL)


def test_nbgrader_copies_no_refused_file_and_is_left_as_it_was(folder):
    original = nbgrader.converters.base.find_all_files
    (folder / "a-link").symlink_to("/etc/passwd")

    def found():
        listed = nbgrader.converters.base.find_all_files(str(folder), ["*.ipynb"])
        return {os.path.relpath(path, folder) for path in listed}

    with suppress(RuntimeError), intake.only_plain_files(SMALL):
        assert found() == {"sub/data.csv"}
        raise RuntimeError
    assert nbgrader.converters.base.find_all_files is original
    assert found() == {"a-link", "sub/data.csv"}


def test_the_digest_is_of_names_and_contents_and_of_what_is_asked(tmp_path):
    def told(asked=b"", **files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        return intake.digest(folder, {}, asked)

    assert told(a="1", b="2") == told(b="2", a="1")
    others = [told(a="1", b="2"), told(a="1", c="2"), told(a="12", b=""), told(a="", b="12"),
              told(b"x", a="1", b="2"), told(a="1"), told(a="1", b="2", c=""),
              told(a="1b\0002")]  # fmt: skip
    assert len(set(others)) == len(others)


def test_what_is_refused_is_not_opened_for_the_digest(folder):
    before = intake.digest(folder, {}, b"")
    (folder / "broken").symlink_to("nowhere")
    assert intake.digest(folder, {"broken": "a symlink"}, b"") == before
