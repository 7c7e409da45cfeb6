"""What all tests share: TensorFlow loaded quietly once, and copies of the course."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import grader  # noqa: F401  (before TensorFlow: quiets its start-up)

# Without these Chromium looks for services on the internet at every start.
CHROMIUM_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
ROOT = Path(__file__).resolve().parents[1]
os.environ.setdefault("GRADER_NO_STATE", "1")
# Where tests are a shell's background job, Ctrl-C is ignored; several of them are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# How fast a machine is says nothing about the code: no example and no drawing of one is timed.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def tf():
    import tensorflow

    return tensorflow


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium; one for the whole process, since Playwright starts only once in it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Debian's chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield running
        running.close()


@pytest.fixture
def course_copy(tmp_path):
    """A copy of the course without its submissions and grades."""
    for name in ("solutions", "notebooks", "data"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def mini(tmp_path_factory):
    """The small test course, built: answers of every kind in one chapter."""
    from grader.build import build
    from grader.course import Course

    root = tmp_path_factory.mktemp("mini")
    shutil.copytree(ROOT / "tests" / "mini", root, dirs_exist_ok=True)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    course = Course.find(root)
    build(course, course.chapters)
    return course
