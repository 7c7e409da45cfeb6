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
