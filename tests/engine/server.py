"""A real Jupyter server with the configuration of the tiny course alone."""

import json
import urllib.request

import psutil

from tests.jupyter import Jupyter

ZYGOTE = "grader.engine.zygote"


class Server(Jupyter):
    """A Jupyter server at the course's root."""

    def __init__(self, tiny, home, **environment):
        self.ran = home / "ran"
        marker = {"GRADER_ENGINE_MARKER": str(self.ran)}
        super().__init__("jupyter_server", tiny.root, home, **marker, **environment)

    def post(self, address, **body):
        """What the server answers to a POST."""
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"{self.url}{address}", method="POST", data=data)
        with urllib.request.urlopen(request, timeout=200) as answer:
            return json.loads(answer.read())

    def autograde(self, student):
        return self.post(f"formgrader/api/submission/ps/{student}/autograde")

    def status(self):
        with urllib.request.urlopen(f"{self.url}api/status", timeout=60) as answer:
            return json.loads(answer.read())

    def runs(self):
        return len(self.ran.read_text().splitlines()) if self.ran.exists() else 0

    def family(self):
        """The server and all processes below it."""
        server = psutil.Process(self.process.pid)
        return [server, *server.children(recursive=True)]

    def warm(self):
        """Pids of the warm process (zombies, which have no command line, left out)."""
        return sorted(each.pid for each in self.family() if ZYGOTE in _line(each))


def _line(process):
    try:
        return process.cmdline()
    except psutil.Error:  # it has ended meanwhile
        return []
