import os

import pytest

from grader.engine import files, frames
from grader.engine.limits import Limits


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/x", "a/../../x", "", "x\0y", "p1.ipynb", "link/x", "link", 3, "n" * 2000, "sub"],
)
def test_paths_that_lead_elsewhere_are_refused(tmp_path, name):
    (tmp_path / "inside" / "sub").mkdir(parents=True)
    (tmp_path / "inside" / "link").symlink_to(tmp_path)
    with pytest.raises(frames.ProtocolError):
        files.safe_path(tmp_path / "inside", name)


def test_only_regular_files_travel(tmp_path):
    (tmp_path / "a.csv").write_text("1")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.txt").write_text("2")
    (tmp_path / "p1.ipynb").write_text("{}")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "dir").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    head, blobs = frames.unpack_parts(files.pack(tmp_path, Limits()))
    assert head["names"] == ["a.csv", "sub/b.txt"]
    assert blobs == [b"1", b"2"]


def test_changed_files_come_back_within_the_limits(tmp_path):
    (tmp_path / "old").write_text("old")
    before = files.stamps(tmp_path)
    (tmp_path / "new").write_text("new")
    (tmp_path / "big").write_bytes(b"x" * 5000)
    head, _ = frames.unpack_parts(files.changed(tmp_path, before, Limits(harvest=1000)))
    assert head["names"] == ["new"]


def test_written_files_are_where_they_should_be(tmp_path):
    payload = frames.pack_parts({"names": ["d/x"]}, [b"hello"])
    assert files.write(tmp_path, payload) == ["d/x"]
    assert (tmp_path / "d" / "x").read_bytes() == b"hello"
    with pytest.raises(frames.ProtocolError):
        files.write(tmp_path, frames.pack_parts({"names": ["x", "y"]}, [b"1"]))
