import io

from rich.console import Console

from grader.cli import table
from grader.course import Chapter, Course
from grader.grading.book import Cell, Row


def test_what_students_have_a_say_in_is_text_and_a_penalty_is_told(tmp_path, monkeypatch):
    page = io.StringIO()
    console = Console(file=page, width=100, force_terminal=True, color_system=None)
    monkeypatch.setattr(table, "out", console)
    found = [Row("[/x]\x1b[2J", {"f": {"value": Cell(3, 3, "fail", "[red]sign[/y]")}}, penalty=2)]
    monkeypatch.setattr("grader.grading.rows", lambda *_: found)
    monkeypatch.setattr(Chapter, "exercises", lambda _: {"f": None})
    table.show(Course(tmp_path), Chapter(tmp_path, "01_one"))
    said = page.getvalue()
    for words in ("[/x]\\x1b[2J", "[red]sign[/y]", "2 off: late", "3/3"):
        assert words in said
    assert "\x1b[2J" not in said
