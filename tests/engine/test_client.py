"""The client against a made-up child at the other end of the socket."""

import json
import socket
import threading
import time
from contextlib import suppress

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from grader.engine import frames
from grader.engine.client import Ended, ForkClient, _record_error
from grader.engine.limits import Limits


class Made:
    """A process whose answers are given beforehand: one list of frames for each order."""

    def __init__(self, *answers):
        self.sock, self.theirs = socket.socketpair()
        self.answers, self.orders, self.interrupts = list(answers), [], 0
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def interrupt(self):
        self.interrupts += 1

    def close(self):
        self.sock.close()
        self.thread.join()
        self.theirs.close()

    def _serve(self):
        with suppress(OSError):
            self._answer()

    def _answer(self):
        writer = frames.Writer(self.theirs)
        while header := self.theirs.recv(frames.HEADER.size, socket.MSG_WAITALL):
            kind, serial, length = frames.HEADER.unpack(header)
            self.orders.append((kind, self.theirs.recv(length, socket.MSG_WAITALL)))
            if kind == frames.COMM:
                continue
            for sent, payload in self.answers.pop(0):
                if sent is None:
                    self.theirs.close()
                    return
                writer.send(sent, serial, payload(serial) if callable(payload) else payload)


@pytest.fixture
def made():
    """Makes such processes, and ends them."""
    all_of_them = []

    def made(*answers):
        all_of_them.append(Made(*answers))
        return all_of_them[-1]

    yield made
    for process in all_of_them:
        process.close()


def message(kind, content, channel="iopub"):
    def pack(serial):
        said = {"channel": channel, "header": {"msg_type": kind}, "metadata": {}}
        return frames.pack_parts({**said, "content": content}, [])

    return frames.MESSAGE, pack


IDLE = message("status", {"execution_state": "idle"})


def client(process, **traits):
    nb = new_notebook(cells=[new_code_cell("1")])
    reader = frames.Reader(process.sock, 1 << 20)
    return ForkClient(nb, process, reader, Limits(grace=0.2), **traits)


def test_outputs_and_reply_of_a_cell(made):
    reply = message("execute_reply", {"status": "ok", "execution_count": 1}, "shell")
    process = made([(frames.STDOUT, b"a"), (frames.STDOUT, b"b\n"), reply, IDLE])
    one = client(process)
    assert one.run_cell(one.nb.cells[0], 0, "print")["status"] == "ok"
    assert one.nb.cells[0].outputs == [new_output("stream", name="stdout", text="ab\n")]
    assert json.loads(process.orders[0][1]) == {"code": "print"}


def test_a_cell_that_never_ends_is_interrupted_then_given_up(made):
    process = made([(frames.STDOUT, b"so far")])
    one = client(process, timeout=1, interrupt_on_timeout=True)
    with pytest.raises(Ended) as ended:
        one.run_cell(one.nb.cells[0], 0, "loop")
    assert (ended.value.kind, process.interrupts) == ("timeout", 1)
    assert one.notes == []  # the reason says it
    assert one.nb.cells[0].outputs[0].text == "so far"


@pytest.mark.parametrize(("answer", "kind"), [
    ((None, b""), "died"),
    ((frames.MESSAGE, b"garbage"), "tampering"),
    ((frames.STDOUT, b"x" * (1 << 21)), "output"),
    (message("display_data", {"data": {"application/json": [[]] * 100_000}}), "output"),
])  # fmt: skip
def test_how_a_child_ends_is_told_apart(made, answer, kind):
    one = client(made([answer]), timeout=20)
    one.pieces = 99_999
    with pytest.raises(Ended) as ended:
        one.run_cell(one.nb.cells[0], 0, "x")
    assert ended.value.kind == kind


def test_widget_states_go_out_before_the_next_cell(made):
    process = made([IDLE])
    one = client(process)
    one.replies.send({"comm_id": "c", "data": {}})
    one.run_cell(one.nb.cells[0], 0, "x")
    assert [kind for kind, _ in process.orders] == [frames.COMM, frames.EXECUTE]


def test_an_answer_is_waited_for_and_missed(made):
    one = client(made([(frames.OBSERVATION, b"right")], [(frames.STDOUT, b""), IDLE]))
    assert one.ask(frames.PROBE, b"?", frames.OBSERVATION, 5.0) == b"right"
    with pytest.raises(Ended) as ended:
        one.ask(frames.PROBE, b"?", frames.OBSERVATION, 0.2)
    assert ended.value.kind == "timeout"


LARGE = "#" + "x" * (4 << 20)  # more than a socket's buffer holds
WIDGET = {"comm_id": "c", "data": {"x": LARGE}}


class Deaf:
    """A process that reads nothing any more."""

    def __init__(self):
        self.sock, self.theirs = socket.socketpair()

    def interrupt(self):
        """Nor does it hear of this."""


@pytest.mark.parametrize("order", [
    lambda one: one.run_cell(one.nb.cells[0], 0, LARGE),
    lambda one: one.replies.send(WIDGET) or one.run_cell(one.nb.cells[0], 0, "x"),
    lambda one: one.ask(frames.PROBE, LARGE.encode(), frames.OBSERVATION, 0.2),
], ids=["cell", "widget", "question"])  # fmt: skip
def test_who_reads_no_more_does_not_hold_up_the_engine(order):
    process = Deaf()
    one = client(process, timeout=1, interrupt_on_timeout=True)
    with process.sock, process.theirs, pytest.raises(Ended) as ended:
        order(one)
    assert ended.value.kind == "timeout"


def test_a_submission_that_makes_its_kernel_deaf_ends_at_its_limit(run):
    deaf = (
        "import time, grader.engine.frames as frames\nframes.order = lambda sock: time.sleep(1e9)"
    )
    result = run(deaf, LARGE, job={"traits": {"timeout": 1}})
    assert result.fault[0] == "timeout"
    assert "DeadKernelError" in result.texts[1]
    assert run("'next'").texts == ["'next'"]


@pytest.mark.parametrize(("outputs", "added"), [
    ([], ["ERROR: An error occurred while showtraceback was disabled"]),
    ([new_output("error", ename="ValueError", evalue="", traceback=[])], None),
])  # fmt: skip
def test_an_error_that_no_output_shows_is_added(outputs, added):
    cell = new_code_cell(outputs=outputs)
    _record_error(cell, {"status": "error", "ename": "ValueError", "evalue": "v", "traceback": []})
    assert len(cell.outputs) == 1
    assert added is None or cell.outputs[0].traceback == added


def test_what_was_interrupted_and_went_on_is_noted_once(made):
    process = made([], [])
    one = client(process, timeout=1, interrupt_on_timeout=True)

    def interrupt():
        frames.Writer(process.theirs).send(IDLE[0], one.serial, IDLE[1](one.serial))

    process.interrupt = interrupt
    for _ in range(2):
        reply = one.run_cell(one.nb.cells[0], 0, "loop")
        assert reply["ename"] == "CellTimeoutError"
    assert one.notes == ["timed out: a cell ran past its time limit and was interrupted"]


def test_the_notebooks_limit_ends_a_cell_before_its_own_does(made):
    process = made([IDLE])
    one = client(process, timeout=600, interrupt_on_timeout=True)
    one.ends = time.monotonic() - 1
    with pytest.raises(Ended, match="the notebook ran past its time limit"):
        one.run_cell(one.nb.cells[0], 0, "x")
    assert process.interrupts == 1


def test_an_answer_that_comes_when_interrupted_counts_and_is_noted(made):
    process = made([])
    one = client(process)

    def interrupt():
        frames.Writer(process.theirs).send(frames.OBSERVATION, one.serial, b"in the end")

    process.interrupt = interrupt
    assert one.ask(frames.PROBE, b"?", frames.OBSERVATION, 0.2) == b"in the end"
    (note,) = one.notes
    assert note.startswith("timed out: an answer to the judge")


def test_an_answer_that_was_there_before_the_question_is_tampering(made):
    process = made([])
    one = client(process)
    frames.Writer(process.theirs).send(frames.OBSERVATION, one.serial, b"made up")
    with pytest.raises(Ended) as ended:
        one.ask(frames.PROBE, b"?", frames.OBSERVATION, 5.0)
    assert ended.value.kind == "tampering"


def test_outputs_that_the_notebook_came_with_do_not_stay(made):
    one = client(made([IDLE]))
    one.nb.cells[0].outputs = [new_output("stream", text="100 points")]
    one.run_cell(one.nb.cells[0], 0, "x")
    assert one.nb.cells[0].outputs == []
