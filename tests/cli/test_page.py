"""Lines that are longer than a terminal is wide."""

import io

import pytest

from grader.cli.page import Page

LINE = "    one-thing two_things three things"


@pytest.mark.parametrize(
    ("terminal", "said"),
    [(True, "    one-thing\n      two_things\n      three things\n"), (False, LINE + "\n")],
)
def test_a_long_line_is_broken_between_words_on_a_terminal_alone(terminal, said):
    file = io.StringIO()
    page = Page(file=file, width=20, force_terminal=terminal, color_system=None)
    page.hang(LINE)
    assert file.getvalue() == said


@pytest.mark.parametrize(("terminal", "lines"), [(True, 2), (False, 1)])
def test_a_path_in_a_pipe_or_a_file_is_one_piece(terminal, lines):
    file = io.StringIO()
    page = Page(file=file, width=20, force_terminal=terminal, color_system=None)
    page.print("stale some/notebook.ipynb")
    assert len(file.getvalue().splitlines()) == lines


@pytest.mark.parametrize("width", [0, 1])  # COLUMNS=0 is what some programs set
@pytest.mark.parametrize("line", ["", "   ", LINE, "[b]: 1-2"])
def test_no_terminal_is_too_narrow_and_no_line_too_short(line, width):
    """And what looks like rich's markup is text."""
    file = io.StringIO()
    page = Page(file=file, width=width, force_terminal=True, color_system=None)
    page.hang(line)
    assert "".join(file.getvalue().split()) == "".join(line.split())
    plain = io.StringIO()
    Page(file=plain, color_system=None).hang(line)
    assert plain.getvalue() == line + "\n"
