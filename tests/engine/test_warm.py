"""One warm process, launched before it is known what it must hide, and kept while that holds."""

import pytest

from grader.engine import warm


@pytest.fixture
def held(tmp_path):
    """The warm process for a course at `tmp_path` that hides `places`."""
    (tmp_path / "data").mkdir()
    yield lambda *places: warm.zygote(tmp_path, places, tensorflow=False)
    warm.close()


def test_what_is_hidden_may_be_said_after_the_launch(held, tmp_path):
    warm.close()
    warm.ahead(tmp_path, tensorflow=False)
    launched = held()
    pid = launched.process.pid
    assert held("/a") is launched
    launched.start()
    assert launched.process.pid == pid
    assert launched.places == {"public": {"data": str(tmp_path / "data")}, "hidden": ["/a"]}


def test_one_that_hides_something_else_is_no_use(held):
    first = held("/a")
    first.start()
    assert held("/a") is first
    second = held("/a", "/b")
    assert second is not first
    assert not first.alive


def test_none_is_launched_ahead_where_there_is_one(held, tmp_path):
    first = held("/a")
    first.start()
    warm.ahead(tmp_path, tensorflow=False)
    assert held("/a") is first
    assert first.alive
