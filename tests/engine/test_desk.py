import sys
from concurrent.futures import Future

import pytest

from grader.engine.clerk import obey
from grader.engine.desk import Desk


def test_orders_are_answered_one_by_one_and_a_dead_clerk_is_an_answer(tmp_path):
    echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    desk = Desk([sys.executable, "-c", echo])
    futures = [desk.ask({"n": n}) for n in range(5)]
    assert [future.result(30)["n"] for future in futures] == [0, 1, 2, 3, 4]
    first = desk.clerk.pid
    desk.clerk.kill()
    desk.clerk.wait()
    assert desk.ask({"n": 5}).result(30) == {"n": 5}
    assert desk.clerk.pid != first
    desk.close()
    desk.command = [sys.executable, "-c", "raise SystemExit(3)"]
    dead = desk.ask({}).result(30)
    assert dead["success"] is False
    assert "code 3" in dead["log"]
    desk.close()
    missing = Desk([str(tmp_path / "none")]).ask({}).result(30)
    assert missing["success"] is False
    desk.close()
    assert desk.clerk is None


def test_an_order_that_is_taken_back_leaves_the_desk_open():
    echo = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    desk, dropped = Desk([sys.executable, "-c", echo]), Future()
    assert dropped.cancel()
    desk.waiting.put(({"n": 0}, dropped))
    assert desk.ask({"n": 1}).result(30) == {"n": 1}
    desk.close()


@pytest.mark.parametrize(("line", "says"), [
    ("c.CourseDirectory.course_id = 5", "nbgrader_config.py: The 'course_id' trait"),
    ("raise SystemExit", "nbgrader_config.py: it ends the program"),
])  # fmt: skip
def test_a_configuration_that_cannot_be_is_an_answer_and_ends_no_clerk(
    tmp_path, monkeypatch, line, says
):
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n")
    monkeypatch.chdir(tmp_path)
    course = {"root": str(tmp_path)}
    said = obey({"method": "autograde", "config": {}, "course": course, "given": ["ps", "ann"]})
    assert said["success"] is False
    assert said["log"].startswith(says)
