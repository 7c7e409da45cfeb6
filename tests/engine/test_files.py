import os
import stat
from types import SimpleNamespace

import pytest

from grader.engine import files, frames
from grader.engine.limits import Limits


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/x", "a/../../x", "", "x\0y", "p1.ipynb", "P1.IPYNB", "timestamp.txt",
     "./Timestamp.txt", "link/x", "link", 3, "n" * 2000, "sub"],
)  # fmt: skip
def test_paths_that_lead_elsewhere_are_refused(tmp_path, name):
    (tmp_path / "inside" / "sub").mkdir(parents=True)
    (tmp_path / "inside" / "link").symlink_to(tmp_path)
    with pytest.raises(frames.ProtocolError):
        files.safe_path(tmp_path / "inside", name)


@pytest.mark.parametrize("name", ["..\\up", "C:\\x", "C:x", "a\\b"])
def test_on_windows_other_separators_and_drives_are_refused(tmp_path, monkeypatch, name):
    assert files.safe_path(tmp_path, name).parent == tmp_path  # here they are plain letters
    monkeypatch.setattr(os, "sep", "\\")
    with pytest.raises(frames.ProtocolError):
        files.safe_path(tmp_path, name)


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


def test_a_file_that_was_handed_in_and_made_shorter_comes_back_so(tmp_path):
    put(tmp_path, "data.csv", "same.csv")
    before = files.stamps(tmp_path)
    (tmp_path / "data.csv").write_text("1")
    payload = files.changed(tmp_path, before, Limits())
    (tmp_path / "data.csv").write_text("as it was handed in")
    assert files.write(tmp_path, payload, 1, 10) == ["data.csv"]
    assert (tmp_path / "data.csv").read_text() == "1"


def test_what_its_maker_may_not_read_stays_where_it_is(tmp_path, monkeypatch):
    put(tmp_path, "closed")

    def read(*_):
        raise PermissionError

    monkeypatch.setattr(files, "_read", read)
    assert frames.unpack_parts(files.changed(tmp_path, {}, Limits()))[0]["names"] == []


def test_what_goes_while_it_is_looked_at_is_left_out(tmp_path, monkeypatch):
    """A thread of a cell that has ended may still write, and take away again."""
    put(tmp_path, "gone", "kept")
    original = os.lstat

    def lstat(path, **how):
        if os.path.basename(path) == "gone":
            raise FileNotFoundError(path)
        return original(path, **how)

    monkeypatch.setattr(os, "lstat", lstat)
    assert list(files.stamps(tmp_path)) == ["kept"]
    assert packed(tmp_path) == ["kept"]


def test_what_grows_while_it_is_looked_at_takes_no_more_room_than_there_is(tmp_path, monkeypatch):
    (tmp_path / "log").write_bytes(b"x" * 50)
    before = SimpleNamespace(st_size=1, st_mtime_ns=1, st_mode=stat.S_IFREG)
    monkeypatch.setattr(files, "walk", lambda *_: [("log", before)])
    _, (blob,) = frames.unpack_parts(files.changed(tmp_path, {}, Limits(harvest=10)))
    assert blob == b"x" * 10


@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError])
def test_what_may_not_be_read_beside_a_notebook_is_left_out(tmp_path, monkeypatch, error):
    put(tmp_path, "a", "b", "c")
    original = files._read

    def read(path, most):
        if path.name == "b":
            raise error(str(path))
        return original(path, most)

    monkeypatch.setattr(files, "_read", read)
    head, blobs = frames.unpack_parts(files.pack(tmp_path, Limits()))
    assert (head["names"], blobs) == (["a", "c"], [b"a", b"c"])


def test_a_tree_deeper_than_python_walks_ends_no_submission(run):
    code = (
        "import os\ntop = os.getcwd()\nfor _ in range(1500): os.mkdir('d'); os.chdir('d')\n"
        "os.chdir(top); open('kept', 'w').close()"
    )
    result = run(code)
    assert result.fault is None
    assert frames.unpack_parts(result.files)[0]["names"] == ["kept"]


def test_what_goes_in_and_comes_back_is_limited_as_a_whole(tmp_path):
    for name in "abcd":
        (tmp_path / name).write_bytes(b"x" * 400)
    small = Limits(scratch=2000)  # half of it stays free
    assert frames.unpack_parts(files.pack(tmp_path, small))[0]["names"] == ["a", "b"]
    some = Limits(harvest=1000)
    assert frames.unpack_parts(files.changed(tmp_path, {}, some))[0]["names"] == ["a", "b"]
    few = Limits(harvest_files=3)
    assert frames.unpack_parts(files.changed(tmp_path, {}, few))[0]["names"] == ["a", "b", "c"]


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="Windows has no such way to open")
def test_what_has_become_a_link_since_it_was_looked_at_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "secret").write_text("SECRET")
    (tmp_path / "x").symlink_to("secret")
    with pytest.raises(OSError, match="symbolic link"):
        files._read(tmp_path / "x", 10)
    monkeypatch.setattr(files, "safe_path", lambda folder, name: folder / name)
    with pytest.raises(OSError, match="symbolic link"):
        files.write(tmp_path, frames.pack_parts({"names": ["x"]}, [b"mine"]), 1, 10)
    assert (tmp_path / "secret").read_text() == "SECRET"


def test_written_files_are_where_they_should_be(tmp_path):
    payload = frames.pack_parts({"names": ["d/x"]}, [b"hello"])
    assert files.write(tmp_path, payload, 1, 10) == ["d/x"]
    assert (tmp_path / "d" / "x").read_bytes() == b"hello"
    with pytest.raises(frames.ProtocolError):
        files.write(tmp_path, frames.pack_parts({"names": ["x", "y"]}, [b"1"]), 9, 9)


def put(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def packed(folder):
    return frames.unpack_parts(files.pack(folder, Limits()))[0]["names"]


def test_environments_caches_and_hidden_folders_are_not_entered(tmp_path, monkeypatch):
    put(tmp_path, "a.csv", "data/b.csv", ".git/config", ".venv/lib/x.py", "env/pyvenv.cfg",
        "env/lib/x.py", "conda/conda-meta/history", "conda/x", "__pycache__/c.pyc",
        "web/node_modules/m/x.js", ".secret")  # fmt: skip
    entered = []
    original = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: entered.append(str(path)) or original(path))
    assert packed(tmp_path) == ["a.csv", "data/b.csv"]
    assert {os.path.relpath(path, tmp_path) for path in entered} == {".", "data", "web"}


def test_a_walk_ends_early_and_nearest_files_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_SEEN", 10)
    put(tmp_path, "z.csv", *(f"d{n}/{m}" for n in range(20) for m in range(5)))
    found = packed(tmp_path)
    assert found[0] == "z.csv"
    assert len(found) < 20
    put(tmp_path / "wide", *(f"{n:03}" for n in range(50)))
    assert len(packed(tmp_path / "wide")) == 10


def test_no_more_files_are_read_than_may_travel(tmp_path, monkeypatch):
    put(tmp_path, *(f"{n:03}" for n in range(50)))
    head, _ = frames.unpack_parts(files.pack(tmp_path, Limits(submitted_count=7)))
    assert head["names"] == [f"{n:03}" for n in range(7)]


def test_a_courses_root_gives_only_what_lies_beside_the_notebook(tmp_path):
    put(tmp_path, "nbgrader_config.py", "helper.py", "gradebook.db", ".course_key",
        "solutions/ch/reference.py", "submitted/eve/ch/x.csv")  # fmt: skip
    assert packed(tmp_path) == ["helper.py", "nbgrader_config.py"]
    assert packed(tmp_path / "submitted/eve/ch") == ["x.csv"]


@pytest.mark.parametrize(("names", "blobs"), [
    (["a", "b", "c"], [b"1"] * 3),
    (["a"], [b"12345"]),
    (["/".join("a" * 51)], [b"1"]),
    (["a.ipynb/b"], [b"1"]),
])  # fmt: skip
def test_no_more_is_written_than_may_be_sent(tmp_path, names, blobs):
    with pytest.raises(frames.ProtocolError):
        files.write(tmp_path, frames.pack_parts({"names": names}, blobs), 2, 4)
    assert not list(tmp_path.iterdir())


def test_notebooks_and_the_time_of_submission_stay_where_they_are(tmp_path):
    (tmp_path / "copy.ipynb").write_text("{}")
    (tmp_path / "p.ipynb").mkdir()
    (tmp_path / "p.ipynb/x").write_text("1")
    (tmp_path / "timestamp.txt").write_text("1")
    (tmp_path / "kept").write_text("1")
    head, _ = frames.unpack_parts(files.changed(tmp_path, {}, Limits()))
    assert head["names"] == ["kept"]
    head, _ = frames.unpack_parts(files.pack(tmp_path, Limits()))
    assert head["names"] == ["kept"]
