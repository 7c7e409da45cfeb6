"""A real Jupyter server with the configuration of the tiny course alone."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path


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
