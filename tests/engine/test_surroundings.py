"""What a cell finds around it is what a kernel's cell finds, and its course."""

from pathlib import Path

import pytest

from grader.engine import sandbox, surroundings
from grader.engine.host import ZygoteError


def test_where_links_are_refused_the_course_is_copied(monkeypatch, tmp_path):
    def refuse(*_):
        raise OSError(1314, "A required privilege is not held by the client")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/words.json").write_text("PUBLIC")
    home = tmp_path / "home"
    home.mkdir()
    surroundings._course(home, {"data": str(tmp_path / "data")}, False)
    assert (home / "data/words.json").read_text() == "PUBLIC"
    assert (home / "nbgrader_config.py").exists()


def test_a_cell_sees_a_kernels_arguments_and_names(run):
    result = run(
        "import sys\nsys.argv[0].endswith('ipykernel_launcher.py'), sys.argv[1]",
        "__doc__, __spec__, __name__",
        "_dh",
        "breakpoint()",
        "import shutil, os, sys\nos.path.samefile(shutil.which('python'), sys.executable)",
    )
    assert result.texts == [
        "(True, '-f')",
        "('Automatically created module for IPython interactive environment',\n None,\n '__main__')",
        "[PosixPath('/home/learner/work')]",
        "",
        "True",
    ]


def test_a_module_beside_the_notebook_is_found_after_pythons_own(run):
    result = run(
        "%%writefile helper.py\nnumber = 3",
        "%%writefile colorsys.py\nnumber = 4",
        "import colorsys, helper\nhelper.number, hasattr(colorsys, 'number')",
    )
    assert result.texts[-1] == "(3, False)"


def test_the_course_is_found_from_the_working_directory(run, secret_course):
    result = run(
        "from grader.course import Course\nroot = Course.find().root; str(root)",
        "print((root / 'data/words.json').read_text())",
        "(root / 'data/new').write_text('x')",
        job={"course": {"data": str(secret_course / "data")}},
    )
    assert result.texts[:2] == ["'/home/learner'", "PUBLIC\n"]
    assert "Read-only" in result.texts[2]


@pytest.mark.parametrize("name", ["data/words.json", "data", "notebooks"])
def test_what_submissions_cannot_read_stops_the_run_and_is_named(run, secret_course, name):
    course = {part: str(secret_course / part) for part in ("data", "notebooks")}
    place = secret_course / name
    mode = place.stat().st_mode
    place.chmod(0)
    try:
        with pytest.raises(
            ZygoteError, match=f"^{place} is not there, or cannot be read .*chmod -R go"
        ):
            run("1", job={"course": course})
    finally:
        place.chmod(mode)
    assert run("1", job={"course": course}).texts == ["1"]


def test_a_link_to_nowhere_is_no_matter(run, secret_course):
    link = secret_course / "data/link"
    link.symlink_to("nowhere")
    assert run("1", job={"course": {"data": str(link.parent)}}).texts == ["1"]
    link.unlink()


def test_a_python_that_others_cannot_read_is_named(tmp_path):
    order, place = {"course": {}}, tmp_path / "packages"
    python = sandbox.Prepared([], python=(str(tmp_path), str(place)))
    assert surroundings.closed(order, "", python).startswith(f"{place} is not there, or cannot")
    place.mkdir()
    assert surroundings.closed(order, "", python) == ""
