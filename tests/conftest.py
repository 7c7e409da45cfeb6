"""What all tests share: TensorFlow loaded quietly once, and copies of the course."""

import os
import shutil
from pathlib import Path

import pytest

import grader  # noqa: F401  (before TensorFlow: quiets its start-up)

ROOT = Path(__file__).resolve().parents[1]
os.environ.setdefault("GRADER_NO_STATE", "1")


@pytest.fixture(scope="session")
def tf():
    import tensorflow

    return tensorflow


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
