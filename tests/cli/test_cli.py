import pytest
from typer.testing import CliRunner

from grader.cli import app
from grader.lint import luck


@pytest.fixture
def run(mini, monkeypatch):
    monkeypatch.chdir(mini.root)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_build_check_says_what_is_stale(run, mini):
    assert run("build", "--check").exit_code == 0
    path = mini.chapters[0].words
    kept = path.read_bytes()
    path.write_text("{}")
    got = run("build", "--check")
    assert got.exit_code == 1
    assert "stale data/01_mini.json" in got.output
    assert "built data/01_mini.json" in run("build", "1").output
    assert path.read_bytes() == kept


def test_lint_counts_faults(run, tf):
    got = run("lint", "--no-run")
    assert got.exit_code == 0, got.output
    assert "1 chapter, 0 faults" in got.output


def test_lint_tries_every_answer_on_so_many_draws(run, monkeypatch, tf):
    asked = []
    monkeypatch.setattr(luck, "evaluate", lambda *given: asked.append(given) or Earned(given[2]))
    got = run("lint", "--no-run", "--draws", "3")
    assert {seed for _, _, seed, _ in asked} == {None, 0, 1, 2}
    assert got.exit_code == 1
    assert "the solution: its points in 'value' depend on the draw: 1 on the stored" in got.output
    assert run("lint", "--draws", "-1").exit_code == 2


class Earned:
    """A verdict that gives more on the stored inputs."""

    def __init__(self, seed):
        self.fraction = 1.0 if seed is None else 0.5


def test_an_error_is_one_line_and_exit_code_2(run, monkeypatch):
    got = run("build", "nope")
    assert got.exit_code == 2
    assert "no single chapter is called 'nope'" in got.output
    monkeypatch.chdir("/")
    for command in ("build", "status", "next"):
        got = run(command)
        assert got.exit_code == 2
        assert "change to the course's folder" in got.output


def test_a_misspelt_chapter_is_told_the_one_that_is_meant(run):
    assert "do you mean 01_mini? there are: 01_mini" in run("build", "01_miny").output


def test_status_and_next(run):
    assert "0 of 4 exercises done" in run("status").output
    assert "twice, in notebooks/01_mini/01_mini.ipynb" in run("next").output


def test_grading_nothing_says_where_submissions_belong(run):
    got = run("grade")
    assert got.exit_code == 2
    assert "submitted/" in got.output
