from types import SimpleNamespace

import pytest
from nbformat import ValidationError
from nbformat.v4 import new_code_cell

from grader.engine import frames
from grader.engine.incoming import DEEPEST, NO_FORM, PIECES, Incoming, message, pieces


def packed(kind, content, parent=7, channel="iopub", **header):
    head = {"msg_type": kind, "date": "2026-01-01T00:00:00Z", **header}
    said = {"channel": channel, "header": head, "metadata": {}, "content": content}
    return frames.Frame(frames.MESSAGE, parent, frames.pack_parts(said, [b"a buffer"]))


@pytest.fixture
def incoming():
    client = SimpleNamespace(serial=7, record_timing=True, seen=[], pieces=PIECES)
    client.process_message = lambda msg, cell, index: client.seen.append(msg)
    return Incoming(client, new_code_cell(metadata={"execution": {}}), 0)


def told(incoming):
    return [(msg["msg_type"], msg["content"].get("text")) for msg in incoming.client.seen]


def test_neighbouring_text_is_joined_and_a_split_letter_whole(incoming):
    incoming.take(frames.Frame(frames.STDOUT, 7, b"caf\xc3"))
    incoming.take(frames.Frame(frames.STDOUT, 7, b"\xa9"))
    incoming.take(frames.Frame(frames.STDERR, 7, b"x"))
    incoming.take(packed("display_data", {"data": {}}))
    expected = [("stream", "café"), ("stream", "x"), ("display_data", None)]
    assert told(incoming) == expected


def test_what_belongs_to_another_cell_is_dropped(incoming):
    incoming.take(frames.Frame(frames.STDOUT, 6, b"late"))
    incoming.take(packed("display_data", {}, parent=6))
    incoming.take(packed("no_such_message", {}))
    incoming.flush()
    assert told(incoming) == []


def test_the_reply_is_handed_over_and_timed(incoming):
    assert incoming.take(packed("execute_reply", {"status": "ok"}, channel="shell")) == {
        "status": "ok"
    }
    assert "shell.execute_reply" in incoming.cell.metadata["execution"]


def test_what_nbclient_cannot_take_is_a_violation(incoming):
    incoming.client.process_message = lambda *_: {}["missing"]
    with pytest.raises(frames.ProtocolError):
        incoming.take(packed("display_data", {}))
    with pytest.raises(frames.ProtocolError):
        incoming.take(frames.Frame(frames.FILES, 7, b""))


@pytest.mark.parametrize("text", [
    b"", b"{", b"[]", b"7", b'"header"', b"[" * 100_000, b'{"lengths": []}',
    b'{"header": {}, "metadata": {}, "lengths": []}',
    b'{"header": {}, "metadata": [], "content": {}, "lengths": []}',
])  # fmt: skip
def test_a_malformed_message_is_refused(text):
    payload = frames.LENGTHS.pack(len(text)) + text
    with pytest.raises(frames.ProtocolError):
        message(frames.Frame(frames.MESSAGE, 7, payload))


def test_a_message_has_the_form_that_nbclient_knows():
    channel, msg = message(packed("display_data", {"data": {}}))
    assert (channel, msg["msg_type"], msg["content"]) == ("iopub", "display_data", {"data": {}})
    assert (msg["parent_header"], msg["buffers"]) == ({"msg_id": "7"}, [b"a buffer"])


def test_a_date_that_is_none_is_left_out():
    _, msg = message(packed("status", {}, date="yesterday"))
    assert "date" not in msg["header"]


def test_what_no_notebook_can_hold_is_said_in_its_place(incoming):
    def refuses(*_):
        incoming.client.process_message = kept
        raise ValidationError("5 is not valid under any of the given schemas")

    kept, incoming.client.process_message = incoming.client.process_message, refuses
    incoming.take(packed("display_data", {"data": {"text/plain": 5}, "metadata": {}}))
    incoming.flush()
    assert told(incoming) == [("stream", NO_FORM.decode())]


def _deep(levels):
    value = 0
    for _ in range(levels):
        value = [value]
    return value


def test_values_and_levels_are_counted_before_anybody_copies_them():
    assert pieces({"a": [1, 2, {"b": "[[[[" * 1000}]}, 100) == 5
    with pytest.raises(frames.OutputLimit, match="more than 500000 values"):
        pieces([{}] * 101, 100)
    assert pieces(_deep(DEEPEST - 1), 100) == DEEPEST - 1
    with pytest.raises(frames.OutputLimit, match="nested deeper than 64 levels"):
        pieces(_deep(DEEPEST), 100)


def test_all_messages_of_a_notebook_share_one_allowance(incoming):
    show = packed("display_data", {"data": {"application/json": [0] * (PIECES // 2)}})
    incoming.take(show)
    with pytest.raises(frames.OutputLimit):
        incoming.take(show)


def test_no_other_answer_is_the_cells_reply(incoming):
    assert incoming.take(packed("comm_info_reply", {"status": "ok"}, channel="shell")) is None
    assert incoming.take(packed("execute_reply", {"status": "ok"}, channel="iopub")) is None
    assert incoming.take(packed("execute_reply", {}, parent=6, channel="shell")) is None
    assert told(incoming) == []


def test_joined_text_is_of_this_cell(incoming):
    """nbclient drops what names another parent."""
    incoming.take(frames.Frame(frames.STDOUT, 7, b"x"))
    incoming.flush()
    assert incoming.client.seen[0]["parent_header"] == {"msg_id": "7"}


def test_what_comes_too_late_for_its_cell_is_counted_all_the_same(incoming):
    late = packed("display_data", {"data": {"application/json": [0] * (PIECES // 2)}}, parent=6)
    incoming.take(late)
    assert incoming.client.pieces < PIECES // 2
    with pytest.raises(frames.OutputLimit):
        incoming.take(late)
