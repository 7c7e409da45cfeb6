"""The comparer takes out what no two runs share, and nothing else."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.fidelity import compare


def plain(*outputs, home="/home/a", **cell):
    notebook = new_notebook(cells=[new_code_cell(outputs=list(outputs), **cell)])
    return compare.plain(notebook, home)


def text(text, name="stdout"):
    return new_output("stream", name=name, text=text)


@pytest.mark.parametrize(("one", "other"), [
    ("<f at 0x7f00aa11bb22>", "<f at 0x55d0c0ffee00>"),
    ("rule-139813628520464", "rule-140917068704528"),
    ("Wall time: 3.1 ms", "Wall time: 28 µs"),
    ("\r1/1 1s 999ms/step - loss: 1\b\b\b\r1/1 1s - loss: 1 \n",
     "\r1/1 2s 2s/step - loss: 1\b\b\r1/1 2s - loss: 1\n"),
    ("1.2 µs ± 3.4 ns per loop (10,000 loops each)", "9 ns ± 1 ns per loop (100 loops each)"),
    ("/tmp/ipykernel_81/123.py:1: UserWarning", "/tmp/x/ipykernel_7/9.py:1: UserWarning"),
    ("id 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "id 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"),
    ("IPY_MODEL_fb818eb6f50e4336a5f4d1d14be4baf5", "IPY_MODEL_c8b6d1bc02ef4672a99a4a7916fbce3e"),
    ("2026-11-21T11:59:51.188125Z", "2027-01-02T03:04:05Z"),
])  # fmt: skip
def test_what_no_two_runs_share_is_taken_out(one, other):
    assert plain(text(one)) == plain(text(other))


@pytest.mark.parametrize(("one", "other"), [
    ("1", "2"), ("a\r\n", "a\n"), ("1.5", "1.50"), ("x 7", "x 8"), ("\x1b[31mred", "red"),
    ("shape (3, 4)", "shape (4, 3)"), ("a\b\b", "a\b"), ("a ", "a"),
])  # fmt: skip
def test_all_else_counts(one, other):
    assert plain(text(one)) != plain(text(other))


def test_ids_keep_who_is_who():
    a, b = "a" * 32, "b" * 32
    assert plain(text(f"{a} {b} {a}")) == plain(text(f"{b} {a} {b}"))
    assert plain(text(f"{a} {b} {a}")) != plain(text(f"{a} {b} {b}"))


def test_pieces_of_one_stream_are_one_text_but_order_counts():
    assert plain(text("a"), text("b")) == plain(text("ab"))
    one, other = text("a"), text("b", "stderr")
    assert plain(one, other) != plain(other, one)


def test_the_home_directory_is_the_same_place_everywhere():
    assert plain(text("/home/a/x")) == plain(text("/tmp/b/x"), home="/tmp/b")


def test_pictures_counts_and_metadata_are_compared():
    def picture(data):
        return new_output("display_data", {"image/png": data})

    assert plain(picture("aGk=")) != plain(picture("aGo="))
    assert plain(execution_count=1) != plain(execution_count=2)
    assert plain(metadata={"a": 1}) != plain(metadata={"a": 2})


def test_a_difference_tells_cell_and_lines():
    found = compare.differences(plain(text("one")), plain(text("two")))
    assert [difference.cell for difference in found] == ["0"]
    assert '-  "text": "one"' in str(found[0])
    assert '+  "text": "two"' in str(found[0])
