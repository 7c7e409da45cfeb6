import sys

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
