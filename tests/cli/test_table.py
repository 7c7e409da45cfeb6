import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.cli import table
from grader.course import Chapter, Course
from grader.grading.book import Cell, Row


def test_what_students_have_a_say_in_is_text_and_a_penalty_is_told(tmp_path, monkeypatch):
    page = io.StringIO()
    console = Console(file=page, width=100, force_terminal=True, color_system=None)
    monkeypatch.setattr(table, "out", console)
    found = [Row("[/x]\x1b[2J", {"f": {"value": Cell(3, 3, "fail", "[red]sign[/y]")}}, penalty=2,
                 fault="no [b]notebook", notes=["tampering: [b]x"])]  # fmt: skip
    monkeypatch.setattr("grader.grading.rows", lambda *_: found)
    monkeypatch.setattr(Chapter, "exercises", lambda _: {"f": None})
    table.show(Course(tmp_path), Chapter(tmp_path, "01_one"))
    said = page.getvalue()
    for words in (
        "no [b]notebook",
        "tampering: [b]x",
        "[/x]\\x1b[2J",
        "[red]sign[/y]",
        "2 off: late",
        "3/3",
    ):
        assert words in said
    assert "\x1b[2J" not in said


@pytest.mark.parametrize("terminal", [True, False])
def test_a_wide_class_is_readable_at_80_columns(tmp_path, monkeypatch, terminal):
    page = io.StringIO()
    console = Console(file=page, width=80, force_terminal=terminal, color_system=None)
    monkeypatch.setattr(table, "out", console)
    names = [f"exercise_{n:02}" for n in range(12)]
    found = [Row("ann", {name: {"value": Cell(0, 3, "unattempted")} for name in names})]
    monkeypatch.setattr("grader.grading.rows", lambda *_: found)
    monkeypatch.setattr(Chapter, "exercises", lambda _: dict.fromkeys(names))
    table.show(Course(tmp_path), Chapter(tmp_path, "01_one"))
    lines = page.getvalue().splitlines()
    for name in names:
        assert any(name in line for line in lines)
    assert page.getvalue().count("not attempted") == 12
    assert max(map(len, lines)) <= (80 if terminal else 250)
    assert page.getvalue().count("01_one: ") == (4 if terminal else 1)
    assert console.width == 80


def test_names_are_never_broken_and_each_mistake_has_its_line(tmp_path, monkeypatch):
    page = io.StringIO()
    console = Console(file=page, width=100, force_terminal=True, color_system=None)
    monkeypatch.setattr(table, "out", console)
    names = ["a_name_of_26_letters_or_so", "b", "another_of_thirty_characters_1", "d"]
    cells = {"value": Cell(0, 3, "fail", "one thing"), "gradient": Cell(0, 3, "fail", "another")}
    found = [Row("ann", dict.fromkeys(names, cells))]
    monkeypatch.setattr("grader.grading.rows", lambda *_: found)
    monkeypatch.setattr(Chapter, "exercises", lambda _: dict.fromkeys(names))
    table.show(Course(tmp_path), Chapter(tmp_path, "01_one"))
    lines = page.getvalue().splitlines()
    for name in names:
        assert any(f" {name} " in line for line in lines)
    assert page.getvalue().count("· one thing") == page.getvalue().count("· another") == 4
    assert max(map(len, lines)) <= 100


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """The table of one student, as it is printed on a terminal of that width."""

    def shown(row, width):
        page = io.StringIO()
        console = Console(file=page, width=width, force_terminal=True, color_system=None)
        monkeypatch.setattr(table, "out", console)
        monkeypatch.setattr("grader.grading.rows", lambda *_: [row])
        monkeypatch.setattr(Chapter, "exercises", lambda _: dict.fromkeys(row.cells))
        table.show(Course(tmp_path), Chapter(tmp_path, "01_one"))
        return page.getvalue()

    return shown


def test_a_terminal_that_is_narrower_than_one_exercise_has_a_table_for_each(shown):
    cells = {"value": Cell(0, 3, "fail", "one thing")}
    said = shown(Row("ann", dict.fromkeys(["a_long_name", "another_one"], cells)), 25)
    assert said.count("01_one: ") == 2


def test_lateness_is_told_where_nothing_is_left_of_the_score(shown):
    late = Row("ann", {"f": {"value": Cell(3, 3, "pass")}}, penalty=3)
    assert late.score == 0
    assert "3 off: late" in shown(late, 80)


@pytest.mark.parametrize("student", ["student.with.a.long.name@university.example", "学生" * 10])
def test_neither_mistakes_nor_a_students_name_take_room_from_the_exercises(shown, student):
    names = ["exercise_of_28_characters_01", *"fgh"]
    cells = {"value": Cell(0, 3, "fail", "told in very many words " * 9)}
    width = cell_len(student) + len("2 off: late") + 7 + 31 + 3 * 18  # with borders, just enough
    said = shown(Row(student, dict.fromkeys(names, cells), penalty=2), width)
    lines = said.splitlines()
    assert all(any(f" {name} " in line for line in lines) for name in [*names, student])
    assert max(map(cell_len, lines)) <= width
    assert said.count("01_one: ") == 1


def test_room_that_is_left_is_for_the_mistakes(shown):
    told = "told in so many words that a line is full"
    row = Row("ann", {name: {"value": Cell(0, 3, "fail", told)} for name in "fg"})
    assert shown(row, 120).count(f"· {told} ") == 2
