"""Formgrader's Autograde button on a real Jupyter server with the course's configuration alone."""

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader.engine import formgrader
from tests.eventually import eventually

SLOW = "import time\ntime.sleep(4)\ndef add(a, b):\n    return a + b"


class Server:
    """A Jupyter server at the course's root."""

    def __init__(self, tiny, home, **environment):
        self.tiny, self.home, self.ran = tiny, home, home / "ran"
        places = {name: str(home / name.lower()) for name in (
            "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}  # fmt: skip
        environment = {**os.environ, **places, "GRADER_ENGINE_MARKER": str(self.ran), **environment}
        command = [
            sys.executable, "-m", "jupyter_server", "--no-browser", "--port=0", "--allow-root",
            "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True",
            f"--ServerApp.root_dir={tiny.root}",
        ]  # fmt: skip
        with (home / "log").open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=tiny.root, env=environment, stdout=log, stderr=log
            )
        self.url = self._url()

    def _url(self):
        end = time.monotonic() + 240
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log()
            for file in (self.home / "jupyter_runtime_dir").glob("jpserver-*.json"):
                try:
                    url = json.loads(file.read_text())["url"]
                    urllib.request.urlopen(f"{url}api", timeout=5).close()
                except (OSError, ValueError):
                    continue  # not all written yet, or not listening yet
                return url
            time.sleep(0.2)
        raise TimeoutError(self.log())

    def log(self):
        return (self.home / "log").read_text()

    def autograde(self, student):
        request = urllib.request.Request(
            f"{self.url}formgrader/api/submission/ps/{student}/autograde", method="POST"
        )
        with urllib.request.urlopen(request, timeout=200) as answer:
            return json.loads(answer.read())

    def status(self):
        with urllib.request.urlopen(f"{self.url}api/status", timeout=60) as answer:
            return json.loads(answer.read())

    def runs(self):
        return len(self.ran.read_text().splitlines()) if self.ran.exists() else 0

    def family(self):
        """Pids of the server and of all below it."""
        found, new = [], [self.process.pid]
        while new:
            found.append(new.pop())
            for task in Path(f"/proc/{found[-1]}/task").glob("*/children"):
                new += [int(word) for word in task.read_text().split()]
        return found

    def warm(self):
        """Pids of the warm process (zombies, which have no command line, left out)."""
        lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.family()}
        return sorted(pid for pid, line in lines.items() if b"grader.engine.zygote" in line)


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
    started.process.terminate()
    started.process.wait(30)


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
        os.kill(server.family()[1], signal.SIGKILL)
        assert lost.result()["success"] is False
        assert "grading process ended" in lost.result()["error"]
    assert server.autograde("eve")["success"] is True
    assert tiny.scores("eve") == (9, False)


def test_orders_are_answered_one_by_one_and_a_dead_clerk_is_an_answer(tmp_path):
    echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    desk = formgrader.Desk([sys.executable, "-c", echo])
    futures = [desk.ask({"n": n}) for n in range(5)]
    assert [future.result(30)["n"] for future in futures] == [0, 1, 2, 3, 4]
    first = desk.clerk.pid
    desk.clerk.kill()
    desk.clerk.wait()
    assert desk.ask({"n": 5}).result(30) == {"n": 5}
    assert desk.clerk.pid != first
    desk.close()
    desk.command = [sys.executable, "-c", "raise SystemExit(3)"]
    dead = desk.ask({}).result(30)
    assert dead["success"] is False
    assert "code 3" in dead["log"]
    desk.close()
    missing = formgrader.Desk([str(tmp_path / "none")]).ask({}).result(30)
    assert missing["success"] is False
    desk.close()
    assert desk.clerk is None


def test_the_order_carries_the_servers_settings_as_plain_data(tiny):
    from nbgrader.apps import NbGrader

    app = NbGrader()
    app.initialize([], root=str(tiny.root))
    app.config.Execute.timeout = 7
    app.config.Autograde.pre_convert_hook = print
    sent = formgrader.order(app.coursedir, "ps", "ada")
    assert json.loads(json.dumps(sent)) == sent
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
    assert eventually(lambda: not [pid for pid in family if Path(f"/proc/{pid}").exists()])
