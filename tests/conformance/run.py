"""Runs nbgrader's own tests, as shipped in its wheel, with this engine plugged in.

    python tests/conformance/run.py [suite ...] [--tensorflow]

The tests are copied out of site-packages unmodified. The engine is plugged in by one
nbgrader_config.py in JUPYTER_CONFIG_DIR, and writes a line to a marker file whenever it runs a
notebook: no lines means that the engine never ran, and that is a failure.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbgrader

# Suite: tests that pass, tests that nbgrader itself skips, whether notebooks are run in it.
EXPECTED = {
    "autograde": (40, 2, True),
    "generate_feedback": (15, 0, True),
    "validate": (20, 0, True),
    "releasefeedback": (8, 0, True),
    "export": (2, 0, False),
}
CONFIG = """
import grader.engine
c = get_config()
c.EngineExecute.tensorflow = {tensorflow}
grader.engine.plug(c)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", metavar="suite", help=f"of {', '.join(EXPECTED)}")
    parser.add_argument("--tensorflow", action="store_true", help="warm TensorFlow up as well")
    asked = parser.parse_args()
    unknown = set(asked.suites) - set(EXPECTED)
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="nbgrader-conformance-") as folder:
        place = Path(folder)
        prepare(place, asked.tensorflow)
        good = [run(place, suite) for suite in asked.suites or EXPECTED]
    return 0 if all(good) else 1


def prepare(place: Path, tensorflow: bool) -> None:
    """A copy of nbgrader with its tests, and the configuration that plugs the engine in."""
    shutil.copytree(Path(nbgrader.__file__).parent, place / "suite" / "nbgrader")
    (place / "suite" / "pytest.ini").write_text("[pytest]\n")
    (place / "config").mkdir()
    config = CONFIG.format(tensorflow=tensorflow)
    (place / "config" / "nbgrader_config.py").write_text(config)


def run(place: Path, suite: str) -> bool:
    """Run one suite; whether it passed in full and the engine really ran."""
    marker = place / f"{suite}.ran"
    own = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": own + os.pathsep + os.environ.get("PATH", ""),
        "USER": os.environ.get("USER") or "grader",
        "JUPYTER_CONFIG_DIR": str(place / "config"),
        "GRADER_ENGINE_MARKER": str(marker),
    }
    file = f"nbgrader/tests/apps/test_nbgrader_{suite}.py"
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(
        [*command, file], cwd=place / "suite", env=environment, text=True, capture_output=True
    )
    passed, skipped, runs = EXPECTED[suite]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|error)",
                                                     done.stdout)}  # fmt: skip
    ran = len(marker.read_text().splitlines()) if marker.exists() else 0
    good = counts.get("passed") == passed and counts.get("skipped", 0) == skipped
    good = good and not counts.get("failed") and not counts.get("error") and (ran > 0 or not runs)
    print(f"{suite}: {counts}, {ran} notebooks through the engine: {'ok' if good else 'NOT OK'}",
          flush=True)  # fmt: skip
    if not good:
        print(done.stdout[-6000:], done.stderr[-2000:], sep="\n", flush=True)
    return good


if __name__ == "__main__":
    sys.exit(main())
