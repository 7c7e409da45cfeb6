import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress

import pytest

from grader.engine import places

HOLDER = """
import sys, time
from grader.engine import places
print(places.Folder("test").path, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    """A folder of its own for temporary files, here and in what is started."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    places._sweep_once.cache_clear()


def aged(path):
    old = time.time() - 2 * places.YOUNG
    os.utime(path, (old, old))
    return path


@pytest.fixture
def holder():
    process = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True)
    yield process, process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_folder_is_made_and_removed_with_all_in_it(tmp_path):
    with places.Folder("test") as path:
        assert os.path.dirname(path) == str(tmp_path)
        (tmp_path / path / "file").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_while_it_is_removed_is_removed_too(monkeypatch):
    folder, remove, writes = places.Folder("test"), places.remove_tree, [1, 2]

    def remove_tree(path):
        remove(path)
        if writes:
            os.mkdir(path)
            writes.pop()

    monkeypatch.setattr(places, "remove_tree", remove_tree)
    monkeypatch.setattr(places, "PAUSE", 0.0)
    folder.remove()
    assert not os.path.exists(folder.path)


def test_only_what_a_killed_process_left_is_swept(holder, tmp_path):
    process, path = holder
    kept = places.Folder("test")
    for name in ("grader-engine-file", "somebody-elses"):
        (tmp_path / name).write_text("")
    (tmp_path / "grader-engine-link").symlink_to(tmp_path / "there")
    (tmp_path / "there").mkdir()
    for each in tmp_path.iterdir():
        aged(each)
    before = {each.name for each in tmp_path.iterdir()}
    places.sweep()
    assert {each.name for each in tmp_path.iterdir()} == before, "the process still lives"
    process.send_signal(signal.SIGKILL)
    process.wait()
    places.sweep()
    assert before - {each.name for each in tmp_path.iterdir()} == {os.path.basename(path)}
    kept.remove()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give it away")
def test_what_another_user_left_is_left_alone(tmp_path):
    theirs = tmp_path / "grader-engine-theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    aged(theirs)
    places.sweep()
    assert theirs.is_dir()


def test_a_new_folder_is_left_alone(tmp_path):
    new = tmp_path / "grader-engine-new"  # made, not locked yet
    new.mkdir()
    places.sweep()
    assert new.is_dir()
    aged(new)
    places.sweep()
    assert not new.exists()


def test_the_first_folder_of_a_process_sweeps(tmp_path):
    left = tmp_path / "grader-engine-left"
    left.mkdir()
    aged(left)
    places.Folder("test").remove()
    assert not left.exists()


def test_without_locks_nothing_is_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "LOCKS", False)
    left = tmp_path / "grader-engine-left"
    left.mkdir()
    aged(left)
    places.sweep()
    assert left.is_dir()
    places.Folder("test").remove()
    assert list(tmp_path.iterdir()) == [left]


DEEP = """
import os, sys
os.chdir(sys.argv[1])
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
"""


@pytest.fixture
def deep(tmp_path):
    """A tree deeper than Python recurses, longer than a path may be."""
    top = tmp_path / "grader-engine-deep"
    top.mkdir()
    subprocess.run([sys.executable, "-c", DEEP, top], check=True)
    yield aged(top)
    subprocess.run(["rm", "-rf", top], check=True)


def test_a_deep_tree_is_swept(deep):
    places.sweep()
    assert not deep.exists()


def test_a_deep_tree_without_a_program_for_it_is_left_without_a_word(deep, monkeypatch):
    monkeypatch.setattr(places, "REMOVE", ("no-such-program",))
    monkeypatch.setattr(places, "OPEN", ("no-such-program",))
    places.remove_tree(str(deep))
    with places.Folder("test") as path:
        assert path != str(deep)
    assert not os.path.exists(path)


@pytest.fixture
def ordinary():
    """No root for a while: to root nothing is closed."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)


def test_a_folder_closed_to_its_owner_is_removed(ordinary):
    folder = tempfile.mkdtemp(dir="/tmp")  # where this user may go
    os.mkdir(f"{folder}/closed")
    os.mkdir(f"{folder}/closed/in")
    os.chmod(f"{folder}/closed", 0)
    places.remove_tree(folder)
    assert not os.path.exists(folder)


def in_use():
    """The first descriptors that are open."""
    found = []
    for number in range(256):
        with suppress(OSError):
            os.fstat(number)
            found.append(number)
    return found


def test_no_folder_leaves_a_descriptor_open(tmp_path):
    before = in_use()
    for number in range(3):
        with places.Folder("test") as path:
            assert places._locked(path) is None  # it is held
        left = tmp_path / f"grader-engine-left{number}"
        left.mkdir()
        aged(left)
        places.sweep()
        assert not left.exists()
    assert in_use() == before
