"""nbgrader's buttons on a real Jupyter server with the course's configuration alone."""

import copy
import json
import shutil
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.engine import buttons
from tests.engine.server import Server
from tests.eventually import eventually

SLOW = "import time\ntime.sleep(4)\ndef add(a, b):\n    return a + b"


@pytest.fixture(scope="module")
def tiny(tiny_master, tmp_path_factory):
    """One course for all: each test has students of its own."""
    tiny = copy.copy(tiny_master)
    tiny.root = tmp_path_factory.mktemp("server") / "tiny"
    shutil.copytree(tiny_master.root, tiny.root)
    with tiny.config_file().open("a") as file:
        file.write("c.Execute.timeout = 60\n")  # slow cells are not the matter here
    return tiny


@pytest.fixture(scope="module")
def server(tiny, tmp_path_factory):
    started = Server(tiny, tmp_path_factory.mktemp("home"))
    yield started
    started.end()


def test_the_server_answers_while_a_submission_is_graded(server, tiny):
    tiny.submit("ada", add=SLOW)
    tiny.submit("bob")
    with ThreadPoolExecutor(2) as pool:
        ada = pool.submit(server.autograde, "ada")
        assert eventually(lambda: server.runs() >= 1)  # her slow cell takes 4 s from about here
        began = time.monotonic()
        server.status()
        print(f"GET /api/status took {time.monotonic() - began:.3f} s")
        assert not ada.done()
        bob = pool.submit(server.autograde, "bob")
        server.status()
        assert not ada.done()
        assert not bob.done()  # one at a time
        assert ada.result()["success"] is True
        assert bob.result()["success"] is True
    assert tiny.scores("ada") == tiny.scores("bob") == (9, False)

    # What a stock server would have suffered: its directory and environment are as they were.
    place = Path(f"/proc/{server.process.pid}")
    assert place.joinpath("cwd").readlink() == tiny.root
    assert b"NBGRADER_EXECUTION" not in place.joinpath("environ").read_bytes()
    warm = server.warm()
    assert warm
    assert server.autograde("bob")["success"] is True
    assert server.warm() == warm  # the warm process of the first POST has graded this one too


def test_what_cannot_be_graded_is_told_with_its_log(server, tiny):
    told = server.autograde("nobody")
    assert told["success"] is False
    assert "No notebooks were matched" in told["log"]
    assert "NbGraderException" in told["error"]

    # A clerk that is killed costs one answer; the next POST starts another.
    tiny.submit("eve", add=SLOW)
    runs = server.runs()
    with ThreadPoolExecutor(1) as pool:
        lost = pool.submit(server.autograde, "eve")
        assert eventually(lambda: server.runs() > runs)
        server.family()[1].kill()
        assert lost.result()["success"] is False
        assert "grading process ended" in lost.result()["error"]
    assert server.autograde("eve")["success"] is True
    assert tiny.scores("eve") == (9, False)


def test_the_server_answers_while_feedback_and_release_versions_are_made(server, tiny):
    tiny.submit("fay")
    assert server.autograde("fay")["success"] is True
    page, release = tiny.root / "feedback/fay/ps/p1.html", tiny.root / "release/ps/p1.ipynb"
    for button in ("ps/fay/generate_feedback", "ps/generate_feedback", "ps/assign"):
        page.unlink(missing_ok=True)
        release.unlink(missing_ok=True)
        answered = 0
        with ThreadPoolExecutor(1) as pool:
            told = pool.submit(server.post, f"formgrader/api/assignment/{button}")
            while not told.done():
                server.status()
                answered += 1
        assert told.result()["success"] is True, told.result()
        assert "not recognized" not in told.result()["log"]
        assert answered > 4, button  # a stock server answers two at most
        if page.exists():
            assert "Score: 5.0 / 5.0" in page.read_text()
            assert "hidden-marker" not in page.read_text()
        assert page.exists() == ("feedback" in button)
        assert release.exists() == ("assign" in button)


def test_the_server_answers_while_a_notebook_is_validated(server, tiny):
    tiny.submit("gus", add=SLOW)
    tiny.submit("ivy", add="def add(a, b): return 0")
    runs = server.runs()
    with ThreadPoolExecutor(1) as pool:
        gus = pool.submit(server.post, "assignments/validate", path="submitted/gus/ps/p1.ipynb")
        assert eventually(lambda: server.runs() > runs), server.log()
        server.status()
        assert not gus.done()
        assert gus.result() == {"success": True, "value": {}}
    told = server.post("assignments/validate", path="submitted/ivy/ps/p1.ipynb")
    assert told["success"] is True
    assert "assert add(1, 2) == 3" in json.dumps(told["value"]["failed"])
    with pytest.raises(urllib.error.HTTPError, match="403"):
        server.post("assignments/validate", path="../elsewhere.ipynb")
    assert server.post("assignments/validate", path="none.ipynb")["success"] is False


def test_the_order_carries_the_servers_settings_as_plain_data(tiny):
    from nbgrader.apps import NbGrader

    app = NbGrader()
    app.initialize([], root=str(tiny.root))
    app.config.Execute.timeout = 7
    app.config.Autograde.pre_convert_hook = print
    sent = buttons.order(app.coursedir, "autograde", ("ps", "ada"))
    assert json.loads(json.dumps(sent)) == sent
    assert (sent["method"], sent["given"]) == ("autograde", ["ps", "ada"])
    assert sent["course"]["root"] == str(tiny.root)
    assert sent["course"]["course_id"] == "tiny"
    assert sent["config"]["Execute"]["timeout"] == 7
    assert "pre_convert_hook" not in sent["config"]["Autograde"]


def test_everything_ends_with_the_server(server, tiny):
    """The last test: it kills the server while a cell runs."""
    tiny.submit("joe", add=SLOW.replace("4", "600"))
    runs = server.runs()
    with ThreadPoolExecutor(1) as pool:
        lost = pool.submit(server.autograde, "joe")
        assert eventually(lambda: server.runs() > runs)
        family = server.family()
        assert len(family) >= 3  # server, clerk, warm process and below
        server.process.kill()
        assert lost.exception() is not None
    server.process.wait(30)
    assert eventually(lambda: not any(each.is_running() for each in family))
