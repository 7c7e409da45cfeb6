"""A warm process without TensorFlow for most tests, and small helpers to run cells in it."""

import shutil
from contextlib import suppress

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from grader.course import tools_on_path
from grader.engine import warm, work
from grader.engine.host import Zygote
from grader.engine.limits import Limits
from tests.engine.tiny import Tiny
from tests.eventually import eventually


@pytest.fixture(scope="session")
def secret_course(tmp_path_factory):
    """A course with everything in it that a submission must not see."""
    root = tmp_path_factory.mktemp("course")
    for name in ("solutions/ch", "submitted/eve/ch", "submitted/bob/ch", "data", "notebooks"):
        (root / name).mkdir(parents=True)
    (root / "solutions/ch/ch.ipynb").write_text("SECRET")
    (root / "submitted/bob/ch/ch.ipynb").write_text("SECRET")
    (root / "gradebook.db").write_text("SECRET")
    (root / ".course_key").write_text("SECRET")
    (root / "data/words.json").write_text("PUBLIC")
    return root


@pytest.fixture(scope="session")
def zygote(secret_course):
    public = {name: str(secret_course / name) for name in ("data", "notebooks")}
    warm = Zygote(public, tensorflow=False)
    warm.start()
    yield warm
    warm.close()


@pytest.fixture(scope="session")
def new_book(tmp_path_factory):
    """A gradebook as nbgrader makes it, which takes seconds."""
    tools_on_path()
    path = tmp_path_factory.mktemp("book") / "gradebook.db"
    Gradebook(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def empty_book(new_book, tmp_path):
    """The address of a gradebook with nothing in it."""
    shutil.copy(new_book, tmp_path)
    return f"sqlite:///{tmp_path}/gradebook.db"


def notebook(*sources):
    return new_notebook(cells=[new_code_cell(source) for source in sources])


def text_of(cell):
    """All text a cell put out, errors included."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts.append(str(output.get("data", {}).get("text/plain", "")))
    return "\n".join(parts)


def gone(pid):
    """Whether a process has ended, or does so soon."""

    def ended():
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        return True

    return eventually(ended)


@pytest.fixture
def run(zygote):
    """Run cells in a fresh child; keywords are limits. The result has `texts`, one per cell."""

    def run(*sources, job=None, **limits):
        task = work.Job(notebook(*sources), Limits(**limits), **(job or {}))
        task.traits.setdefault("interrupt_on_timeout", True)
        result = work.run(zygote, task)
        result.texts = [text_of(cell) for cell in result.notebook.cells]
        return result

    return run


@pytest.fixture(scope="session")
def tiny_master(tmp_path_factory):
    return Tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny(tiny_master, tmp_path):
    """A fresh copy of the tiny course."""
    root = tmp_path / "tiny"
    shutil.copytree(tiny_master.root, root)
    copy = Tiny.__new__(Tiny)
    copy.root = root
    yield copy
    warm.close()


@pytest.fixture
def alongside(tiny):
    """Grades `odd` between two good students, and checks that those two got all 9 points."""

    def alongside(odd="m-odd", **options):
        tiny.submit("a-good")
        tiny.submit("z-good")
        outcomes = tiny.grade(**options)
        assert [outcomes[name].score for name in ("a-good", "z-good")] == [9, 9]
        assert tiny.scores("a-good") == tiny.scores("z-good") == (9, False)
        assert odd in outcomes
        return outcomes[odd]

    return alongside
