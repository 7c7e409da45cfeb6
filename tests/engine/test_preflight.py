import sqlite3
from contextlib import closing

import pytest

from grader.course import CourseError
from grader.engine import preflight
from grader.engine.limits import Limits


def test_what_the_limits_are_without_a_word_is_taken():
    preflight.check_limits(Limits().as_dict())
    preflight.check_limits({"probe": 5, "total": 2 << 30})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"totl": 5}, "no such limit; there are: notebook, "),
        ({"probe": "x"}, "is 'x': it must be a number"),
        ({"memory": 1.5e9}, "it must be a whole number"),
        ({"memory": True}, "it must be a whole number"),
        ({"notebook": float("nan")}, "it must be a number"),
        ({"start": -1}, "at least 1.0 is needed"),
        ({"memory": 1}, f"at least {64 << 20} is needed"),
        ({"grace": -0.1}, "at least 0 is needed"),
    ],
)
def test_limits_under_which_nothing_can_run_are_refused(given, says):
    with pytest.raises(CourseError) as refused:
        preflight.check_limits(given)
    assert f"c.EngineExecute.limits[{next(iter(given))!r}]" in str(refused.value)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_where_a_folder_is_to_be(tmp_path):
    place = tmp_path / "autograded/ann/ps"
    preflight.check_folders(str(place), str(tmp_path / "autograded"))  # nothing there yet
    place.mkdir(parents=True)
    preflight.check_folders(str(place), str(tmp_path / "autograded"))
    place.rmdir()
    place.write_text("")
    with pytest.raises(CourseError, match="ps is no folder"):
        preflight.check_folders(str(place), str(tmp_path / "autograded"))
    with pytest.raises(CourseError, match="ps is no folder"):
        preflight.check_folders(str(place / "deeper"), str(tmp_path / "autograded"))


def test_where_a_gradebook_cannot_lie(tmp_path):
    preflight.check_gradebook(f"sqlite:///{tmp_path}/gradebook.db")
    preflight.check_gradebook("postgresql://user@host/book")
    preflight.check_gradebook("sqlite://")
    with pytest.raises(CourseError, match="is a folder, not a gradebook"):
        preflight.check_gradebook(f"sqlite:///{tmp_path}")
    with pytest.raises(CourseError, match=r"no folder .*none for the gradebook"):
        preflight.check_gradebook(f"sqlite:///{tmp_path}/none/gradebook.db")


def test_what_is_no_database_is_no_gradebook(tmp_path):
    book = tmp_path / "gradebook.db"
    book.write_bytes(b"")  # SQLite's own, before anything is in it
    preflight.check_gradebook(f"sqlite:///{book}")
    with closing(sqlite3.connect(book)) as database:
        database.execute("CREATE TABLE t (x)")
        database.commit()
    preflight.check_gradebook(f"sqlite:///{book}")
    book.write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(CourseError, match=r"gradebook.db is no gradebook: .* move it away"):
        preflight.check_gradebook(f"sqlite:///{book}")


def test_what_root_alone_can_read_is_said_before_it_costs_points(tmp_path, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 0, raising=False)
    data = tmp_path / "data"
    data.mkdir()
    (data / "digits.npz").write_text("")
    for place, mode in ((data / "digits.npz", 0o644), (data, 0o755)):
        place.chmod(mode)
        preflight.check_public({"data": str(data)})
        place.chmod(mode & 0o700)
        with pytest.raises(CourseError, match=f"{place} can be read by root alone.*chmod -R go"):
            preflight.check_public({"data": str(data)})
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        preflight.check_public({"data": str(data)})
        monkeypatch.setattr("os.geteuid", lambda: 0)
        place.chmod(mode)


def test_a_link_that_leads_out_of_what_submissions_see_is_said(tmp_path):
    data, books, other = (tmp_path / name for name in ("data", "notebooks", "other"))
    for place in (data, books, other):
        place.mkdir()
    (data / "digits.npz").write_text("")
    (other / "letters.npz").write_text("")
    public = {"data": str(data), "notebooks": str(books)}
    (data / "same.npz").symlink_to("digits.npz")
    (books / "digits.npz").symlink_to("../data/digits.npz")
    (data / "gone.npz").symlink_to("nowhere.npz")
    preflight.check_public(public)
    for target in ("../other/letters.npz", other, data / "digits.npz"):
        (data / "link").symlink_to(target)
        with pytest.raises(CourseError, match=f"data/link is a link to {target}, .*put a copy"):
            preflight.check_public(public)
        (data / "link").unlink()


def test_the_public_folders_themselves_may_be_links(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far/digits.npz").write_text("")
    (tmp_path / "data").symlink_to(tmp_path / "far")
    preflight.check_public({"data": str(tmp_path / "data")})
