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
