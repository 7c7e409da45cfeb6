import contextlib
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.contract import Case, Source
from grader.probe import wire
from grader.probe.outcome import Outcome
from grader.probe.request import Request

NAMES = sorted(wire.DTYPES - {"bfloat16"})


def message(header, tail=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + tail


@given(
    st.sampled_from(NAMES).flatmap(
        lambda n: hnp.arrays(n, hnp.array_shapes(min_dims=0, min_side=0))
    )
)
def test_arrays_come_back_as_they_went(array):
    sent = {("c", "eager", "value"): Outcome("array", array), ("c", "eager", "g"): Outcome("none")}
    got = wire.unpack_observation(wire.pack_observation(sent))
    assert got.keys() == sent.keys()
    back = got["c", "eager", "value"].array
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


def test_bfloat16_and_words_and_errors_come_back(tf):
    array = tf.constant([1.5, 2.0], tf.bfloat16).numpy()
    sent = {
        ("c", "eager", "a"): Outcome("array", array),
        ("c", "eager", "b"): Outcome("word", text='["x"]'),
        ("c", "eager", "e"): Outcome("error", text="no", detail={"line": 3}),
    }
    got = wire.unpack_observation(wire.pack_observation(sent))
    assert got["c", "eager", "a"].array.dtype == array.dtype
    assert got["c", "eager", "b"].word == ["x"]
    assert got["c", "eager", "e"].detail == {"line": 3}


def test_a_request_comes_back():
    case = Case(
        "c",
        {"x": np.ones((2, 1), np.float32), "f": Source("lambda x: x"), "k": 2, "s": (1, 2)},
        (np.zeros(2), np.ones(1)),
        "robust",
        ("graph",),
        ("value",),
        ("x",),
        {"mask": np.array([True]), "n": 3},
    )
    sent = Request("f", "own", {"op": "Square"}, (case,), "probes", "starter")
    got = wire.unpack_request(wire.pack_request(sent))
    (back,) = got.cases
    assert (got.exercise, got.probe, got.options, got.probes, got.starter) == (
        "f", "own", {"op": "Square"}, "probes", "starter",
    )  # fmt: skip
    assert back.inputs["f"] == Source("lambda x: x")
    assert back.inputs["x"].tobytes() == case.inputs["x"].tobytes()
    assert [u.tolist() for u in back.upstream] == [[0, 0], [1]]
    assert back.options["mask"].tolist() == [True]
    assert (back.part, back.modes, back.wants, back.variables) == (
        "robust", ("graph",), ("value",), ("x",),
    )  # fmt: skip


ARRAY = {"dtype": "float32", "shape": [2]}
ROW = ["c", "eager", "value", "array", "", {}, ARRAY]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        struct.pack("<I", 9) + b"{}",
        message(b"not json"),
        message(b"[" * 100_000),
        message([ROW]),
        message([[*ROW[:6], {"dtype": "object", "shape": [1]}]], b"\0" * 8),
        message([[*ROW[:6], {"dtype": "float32", "shape": [-1, -2]}]], b"\0" * 8),
        message([[*ROW[:6], {**ARRAY, "shape": [n]}] for n in (1, -1, 1)], b"\0" * 4),
        message([[*ROW[:6], {"dtype": "float64", "shape": [2**40, 2**40]}]], b"\0" * 8),
        message([[*ROW[:6], {"dtype": "float32", "shape": [0] * 40}]]),
        message([[*ROW[:3], "pass", "", {}, None]]),
        message([["c", "eager", "value", "word", "{", {}, None]]),
        message([["c", "eager", 3, "none", "", {}, None]]),
        message([["c", "eager", "v", "none", "", [], None]]),
        message([["c"]]),
        message({"a": 1}),
        message(7),
    ],
)
def test_anything_else_is_refused(data):
    with pytest.raises(wire.WireError):
        wire.unpack_observation(data)


def test_too_much_is_refused():
    sent = wire.pack_observation({("c", "m", "v"): Outcome("array", np.zeros(100))})
    with pytest.raises(wire.WireError, match="at most 500"):
        wire.unpack_observation(sent, limit=500)


@given(st.binary(max_size=200))
def test_random_bytes_never_do_more_than_be_refused(data):
    with contextlib.suppress(wire.WireError):
        wire.unpack_observation(data)


def test_the_order_in_memory_is_no_order_of_the_elements():
    array = np.arange(6.0).reshape(2, 3).T
    sent = wire.pack_observation({("c", "m", "v"): Outcome("array", array)})
    (got,) = wire.unpack_observation(sent).values()
    assert got.array.tolist() == array.tolist()


def test_another_byte_order_is_the_same_numbers():
    array = np.array([1.5, -2.0], ">f4")
    sent = {("c", "eager", "value"): Outcome("array", array)}
    back = wire.unpack_observation(wire.pack_observation(sent))["c", "eager", "value"].array
    assert back.dtype == np.float32
    assert back.tolist() == [1.5, -2.0]


@pytest.mark.parametrize("kind", ["error", "type", "skipped"])
def test_words_of_a_submission_are_cut(kind):
    detail = {"type": "KeyError: " * 10_000, "line": 3, "more": [["deep"] * 10_000]}
    sent = {("c", "eager", "value"): Outcome(kind, text="KeyError: " * 10_000, detail=detail)}
    got = wire.unpack_observation(wire.pack_observation(sent))["c", "eager", "value"]
    assert len(got.text) == wire.MOST_TEXT
    assert got.detail["line"] == 3
    assert all(len(str(value)) <= wire.MOST_TEXT for value in got.detail.values())


def test_a_word_that_is_too_long_is_refused():
    sent = {("c", "eager", "value"): Outcome("word", text=json.dumps("x" * wire.MOST_WORDS))}
    with pytest.raises(wire.WireError, match="a word of"):
        wire.unpack_observation(wire.pack_observation(sent))


@pytest.mark.parametrize("dtype", ["M8[s]", "U2", "S8", "V8", "i4,i4", "longdouble"])
def test_only_numbers_of_the_dtypes_on_the_list_are_taken(dtype):
    row = [*ROW[:6], {"dtype": dtype, "shape": [1]}]
    with pytest.raises(wire.WireError, match="is not allowed"):
        wire.unpack_observation(message([row], bytes(np.dtype(dtype).itemsize)))


@pytest.mark.parametrize("row", [[*ROW[:6], None], [*ROW[:3], "none", "", {}, ARRAY]])
def test_an_array_comes_with_the_kind_array_and_with_no_other(row):
    with pytest.raises(wire.WireError, match="not of the protocol's form"):
        wire.unpack_observation(message([row], b"\0" * 8))


def test_of_details_a_few_with_short_names_are_kept():
    detail = {f"{n:02} {'x' * 100}": n for n in range(50)}
    (got,) = wire.unpack_observation(message([["c", "m", "v", "none", "", detail, None]])).values()
    assert len(got.detail) == 10
    assert max(map(len, got.detail)) == 20


@pytest.mark.parametrize(
    ("row", "data"),
    [
        (ROW, b"\0" * 9),
        ([*ROW[:6], {**ARRAY, "shape": [float("inf")]}], b""),
        ([*ROW[:3], "word", "[" * 90_000, {}, None], b""),
    ],
    ids=["bytes too many", "an infinite shape", "a bottomless word"],
)
def test_what_no_probe_packs_is_refused_with_the_protocols_own_error(row, data):
    with pytest.raises(wire.WireError):
        wire.unpack_observation(message([row], data))
