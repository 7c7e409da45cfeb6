"""What a job may take, and what is left of it."""

from grader.engine import frames
from grader.engine.work import Question


def test_an_answer_to_the_judge_has_a_limit_of_its_own(run):
    sleeps = Question("__import__('time').sleep(30)", b"")
    result = run("'cell'", job={"questions": {0: [sleeps]}}, probe=0.5, grace=20.0)
    head, _ = frames.unpack_parts(result.replies[0][0])
    assert (head["ok"], head["name"]) == (False, "KeyboardInterrupt")
    assert any("an answer to the judge" in note for note in result.notes)


def test_files_have_a_limit_of_their_own_beside_the_output(run):
    prints, writes = "print('x' * 700_000)", "open('made', 'wb').write(b'x' * 700_000)"
    result = run(prints, writes, output=1 << 20)
    assert result.fault is None
    assert frames.unpack_parts(result.files)[0]["names"] == ["made"]
