"""A real Jupyter server with a configuration of its own, on a port that is free."""

import json
import os
import subprocess
import sys
import urllib.request

from tests.eventually import eventually

PLACES = """
JUPYTER_CONFIG_DIR JUPYTER_RUNTIME_DIR JUPYTER_DATA_DIR JUPYTERLAB_WORKSPACES_DIR IPYTHONDIR
""".split()


class Jupyter:
    """`module` (jupyter_server or jupyterlab) serving `root`; what it keeps lies in `home`. A
    variable of the environment that is None is taken out."""

    def __init__(self, module, root, home, *options, **environment):
        self.home, self.url = home, ""
        places = {name: str(home / name.lower()) for name in PLACES}
        around = {**os.environ, **places, **environment}
        command = [
            sys.executable, "-m", module, "--no-browser", "--port=0", "--allow-root",
            "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True",
            f"--ServerApp.root_dir={root}", *options,
        ]  # fmt: skip
        with (home / "log").open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=root, stdout=log, stderr=log,
                env={name: value for name, value in around.items() if value is not None},
            )  # fmt: skip
        try:
            assert eventually(self._answers, pause=0.2), self.log()
        except BaseException:
            self.end()
            raise

    def _answers(self):
        """Whether it can be asked; from then on `url` is its address."""
        assert self.process.poll() is None, self.log()
        for file in (self.home / "jupyter_runtime_dir").glob("jpserver-*.json"):
            try:
                url = json.loads(file.read_text())["url"]
                urllib.request.urlopen(f"{url}api", timeout=5).close()
            except (OSError, ValueError):
                continue  # not all written yet, or not listening yet
            self.url = url
        return bool(self.url)

    def log(self):
        return (self.home / "log").read_text()

    def end(self):
        """Has it end, and waits for that; killed where it does not, as a busy machine has shown:
        how Jupyter ends is no test's business."""
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
