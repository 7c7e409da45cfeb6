"""What must not show does not show, wherever it lies: also where Python itself lies."""

import sys
from pathlib import Path

import pytest

from grader.engine import dask, warm, work
from grader.engine.host import Zygote
from grader.engine.limits import Limits
from tests.engine.conftest import notebook, text_of

LOOK = "import os; print(os.path.exists({place!r}))"
WORKS = (
    "import numpy, subprocess, sys; print(subprocess.run([sys.executable, '-c', 'import numpy']))"
)


@pytest.fixture
def course(tmp_path_factory):
    """A course in a folder that every submission can read: this Python's own."""
    root = Path(sys.prefix, "share", tmp_path_factory.mktemp("course").parent.name, "course")
    (root / "solutions").mkdir(parents=True)
    (root / "solutions/answers.txt").write_text("SECRET")
    yield root
    (root / "solutions/answers.txt").unlink()
    for folder in (root / "solutions", root, root.parent):
        folder.rmdir()


@pytest.fixture
def seen():
    """What a cell says in a child of a zygote that hides `hidden`."""
    zygotes = []

    def seen(hidden, *cells):
        zygotes.append(Zygote(hidden=hidden, tensorflow=False))
        zygotes[-1].start()
        if not zygotes[-1].namespaced:
            pytest.skip("no namespaces on this machine")
        result = work.run(zygotes[-1], work.Job(notebook(*cells), Limits()))
        return [text_of(cell).strip() for cell in result.notebook.cells]

    yield seen
    for zygote in zygotes:
        zygote.close()


def test_a_course_among_the_systems_files(course, seen):
    look = LOOK.format(place=str(course / "solutions"))
    assert seen([], look) == ["True"]
    assert seen([str(course)], look) == ["False"]


def test_a_course_behind_a_link(course, seen, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(course)
    assert seen([str(link)], LOOK.format(place=str(course / "solutions"))) == ["False"]


def test_a_course_that_is_the_environment_itself(course, seen):
    place = Path(sys.prefix, "a-course-of-the-tests.txt")
    place.write_text("SECRET")
    try:
        looks = [LOOK.format(place=str(place)), LOOK.format(place=sys.executable), WORKS]
        hidden, python, works = seen([sys.prefix], *looks)
    finally:
        place.unlink()
    assert (hidden, python) == ("False", "True")
    assert "returncode=0" in works


@pytest.mark.parametrize("everything", ["/", "/usr"])
def test_what_every_program_needs_stays(everything, seen):
    assert "returncode=0" in seen([everything], WORKS)[0]


def test_a_worker_elsewhere_hides_it_too(course):
    job = work.Job(notebook(LOOK.format(place=str(course / "solutions"))), Limits(), tensorflow=False,
                   allow_unsandboxed=True, hidden=[str(course)])  # fmt: skip
    try:
        (result,) = dask.run_on_worker(str(course), [job])
    finally:
        warm.close()
    if not all(layer.on for layer in result.layers if layer.name == "mount"):
        pytest.skip("no namespaces on this machine")
    assert text_of(result.notebook.cells[0]).strip() == "False"
