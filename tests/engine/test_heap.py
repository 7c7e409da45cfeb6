"""Run in processes of their own: the heap of the test process would stay filled."""

import subprocess
import sys

import pytest

from grader.engine import heap

pytestmark = pytest.mark.skipif(heap.use() is None, reason="needs glibc 2.33 or newer")

HOLES = """
import ctypes
from grader.engine import heap
libc = ctypes.CDLL(None)
libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
pieces = [libc.malloc(size) for size in (24, 500, 3000, 40000) for _ in range(200)]
for piece in pieces[::2]:
    libc.free(piece)
def holes():
    # Free bytes between what is in use.
    return heap.use().fordblks - heap.use().keepcost

before = holes()
"""


def run(code):
    done = subprocess.run([sys.executable, "-c", HOLES + code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def test_no_hole_is_left():
    before, after = run("heap.fill(); print(before, holes())")
    assert before > 4_000_000  # 100 pieces of each size
    assert after < before / 100


def test_what_comes_next_lies_behind_all_that_is_used():
    last, *new = run(
        "libc.sbrk.argtypes, libc.sbrk.restype = [ctypes.c_ssize_t], ctypes.c_void_p\n"
        "end = libc.sbrk(0) - heap.use().keepcost; heap.fill()\n"
        "print(end, *(libc.malloc(size) for size in (500, 3000, 40000)))"
    )
    assert all(place >= last for place in new)


def test_what_is_in_use_stays_as_it_is():
    kept = run(
        "text = [str(i) * 300 for i in range(2000)]; heap.fill(); more = [b'x' * 5000] * 500\n"
        "print(sum(t == str(i) * 300 for i, t in enumerate(text)))"
    )
    assert kept == [2000]


def test_without_glibc_nothing_happens(monkeypatch):
    monkeypatch.setattr(heap, "_glibc", lambda: None)
    heap.fill()
    assert heap.use() is None
