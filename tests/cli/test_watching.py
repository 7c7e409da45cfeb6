import io
import json
from types import SimpleNamespace

import pytest
from rich.console import Console

from grader.cli import watching
from grader.cli.watching import Tally, Watch
from grader.engine.outcome import Outcome

EVENTS = [
    Outcome("c", "ann", "started"),
    Outcome("c", "bob", "started"),
    Outcome("c", "ann", "graded", score=7, most=10),
    Outcome("c", "cat", "skipped"),
]


def test_the_tally_counts_and_knows_the_slowest():
    tally = Tally(4)
    for event in EVENTS:
        tally.add(event)
    assert (tally.count("graded"), tally.count("skipped"), tally.count("fault")) == (1, 1, 0)
    assert tally.slowest[0] == "bob"
    tally.add(Outcome("c", "bob", "fault", kind="timeout"))
    assert tally.slowest is None
    assert tally.timed_out == 1
    assert "1 graded, 1 with a fault, 1 timed out, 1 already done" in tally.line()


def test_the_rate_is_of_those_that_were_graded_and_the_slowest_began_first():
    tally = Tally(4)
    for event in [*EVENTS, Outcome("c", "dan", "started")]:
        tally.add(event)
    tally.began -= 60
    assert round(tally.rate) == 1
    tally.running["dan"] = tally.running["bob"] + 1
    assert tally.slowest[0] == "bob"


def test_the_rate_leaves_out_the_time_before_the_run_began(monkeypatch):
    """In which TensorFlow was imported."""
    now = [0.0]
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watch = Watch(4, Console(file=io.StringIO()))
    now[0] = 600.0
    with watch:
        now[0] = 660.0
        for event in EVENTS:
            watch.hear(event)
    assert watch.tally.line().endswith(", 1 a minute")


def test_before_any_time_has_gone_by_and_before_the_first_end_there_is_no_rate(monkeypatch):
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: 1.0))
    tally = Tally(4)
    tally.add(EVENTS[0])
    assert tally.line() == "0 graded, 0 with a fault"
    tally.add(EVENTS[2])
    assert tally.line() == "1 graded, 0 with a fault, 0 a minute"


def test_who_is_left_out_is_not_already_done():
    tally = Tally(3)
    for event in (EVENTS[3], Outcome("c", "dan", "skipped", "excluded"), EVENTS[2]):
        tally.add(event)
    assert "1 graded, 0 with a fault, 1 already done, 1 left out" in tally.line()


def test_names_are_shown_as_they_are_and_steer_nothing():
    page = io.StringIO()
    console = Console(file=page, force_terminal=True, width=200, color_system=None)
    with Watch(2, console) as watch:
        watch.hear(Outcome("c", "[/x]\x1b[2J\ud800", "started"))
        watch.hear(Outcome("c", "[/x]\x1b[2J\ud800", "fault", reason="two\nlines"))
    page.getvalue().encode()
    assert "[/x]\\x1b[2J\\ud800  two lines" in page.getvalue()
    assert "\x1b[2J" not in page.getvalue()
    with Watch(2, console) as watch:
        watch.hear(Outcome("c", "[/y]\x1b[2J", "started"))
    assert "slowest: [/y]\\x1b[2J" in page.getvalue()
    assert "\x1b[2J" not in page.getvalue()


def test_off_a_terminal_a_long_reason_stays_in_one_line():
    page = io.StringIO()
    with Watch(1, Console(file=page, width=40)) as watch:
        watch.hear(Outcome("c", "ann", "fault", reason="many words " * 20))
    assert len(page.getvalue().splitlines()) == 1


@pytest.mark.parametrize("terminal", [False, True])
def test_off_a_terminal_every_end_is_a_line_and_on_one_there_is_a_display(terminal):
    page = io.StringIO()
    console = Console(file=page, force_terminal=terminal, width=100)
    with Watch(4, console) as watch:
        for event in EVENTS:
            watch.hear(event)
    said = page.getvalue()
    assert ("graded    ann  7/10" in said) is not terminal
    assert ("2/4" in said) is terminal
    assert ("slowest: bob" in said) is terminal


def test_notes_are_shown_on_a_terminal_too():
    page = io.StringIO()
    with Watch(2, Console(file=page, force_terminal=True, color_system=None)) as watch:
        watch.hear(Outcome("c", "ann", "graded", score=7, most=10, notes=["late: 2 points off"]))
        watch.hear(Outcome("c", "bob", "graded", score=0, most=10, notes=["timed out: a cell"]))
    assert "graded    ann  7/10  late: 2 points off" in page.getvalue()
    assert "graded    bob  0/10  timed out: a cell" in page.getvalue()
    assert "2 graded, 0 with a fault, 1 timed out" in page.getvalue()


def test_feedback_is_counted_on_a_terminal():
    page = io.StringIO()
    with Watch(1, Console(file=page, force_terminal=True, width=100)) as watch:
        watch.hear(Outcome("c", "ann", "graded", score=7, most=10))
        watch.pages(3, 40)
    assert "1 graded, 0 with a fault" in page.getvalue()
    assert "feedback: 3 of 40 pages" in page.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_json_is_one_object_a_line(terminal):
    page = io.StringIO()
    console = Console(file=page, width=20, force_terminal=terminal)
    with Watch(4, console, as_json=True) as watch:
        for event in [*EVENTS, Outcome("c", "[/x]", "fault", reason="long " * 50 + "\x1b\ud800\n")]:
            watch.hear(event)
    lines = [json.loads(line) for line in page.getvalue().splitlines()]
    assert len(lines) == 5
    assert [(row["student"], row["state"]) for row in lines][2] == ("ann", "graded")
