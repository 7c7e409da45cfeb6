"""Grading on a disk that is full or read-only: scripts that run in a mount namespace of their own."""

import json
import os
import subprocess
import sys

import pytest

COMMON = """
import json, os, shutil, subprocess, sys
from pathlib import Path
from nbgrader.api import Gradebook
from grader.engine.batch import GradingError, grade

def run(root):
    try:
        return [[each.student, each.state] for each in grade(root, "ps", jobs=1).outcomes], ""
    except GradingError as error:
        return [], str(error)

def book(root):
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as gradebook:
        return sorted(
            [submission.student.id, nb.name, grade.name, grade.auto_score, grade.manual_score,
             grade.needs_manual_grade, nb.score]
            for submission in gradebook.assignment_submissions("ps")
            for nb in submission.notebooks for grade in nb.grades)

def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)

master, place, told = Path(sys.argv[1]), Path(sys.argv[2]), []
place.mkdir()
"""
SMALL_DISK = """
mount("-t", "tmpfs", "-o", "size=16m", "none", place)
root, filler = place / "course", place / "filler"
for free in map(int, sys.argv[3:]):
    shutil.copytree(master, root)
    with open(filler, "wb") as file:
        room = os.statvfs(place)
        file.truncate(0)
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_bsize - free * 1024)
    first, error = run(root)
    filler.unlink()
    again, later = run(root)
    told.append({"free": free, "error": error, "later": later, "again": again, "book": book(root)})
    shutil.rmtree(root)
print(json.dumps(told))
"""
READ_ONLY = """
for name in ("gradebook.db", ".grader", "autograded", "."):
    root = place / ("course" + name.strip("."))
    shutil.copytree(master, root)
    if name != ".":
        (root / name).exists() or (root / name).mkdir()
    mount("--bind", root / name, root / name)
    mount("-o", "remount,ro,bind", root / name)
    first, error = run(root)
    subprocess.run(["umount", root / name], check=True)
    again, later = run(root)
    told.append({"name": name, "error": error, "later": later, "again": again, "book": book(root)})
print(json.dumps(told))
"""


def mounted(script, *arguments):
    """What `script` prints, run where it may mount: in a mount namespace of its own."""
    enter = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]
    mount = "mount -t tmpfs none /mnt"
    if subprocess.run([*enter, "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("mounting in a namespace is refused here")
    done = subprocess.run(
        [*enter, sys.executable, "-c", COMMON + script, *map(str, arguments)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
