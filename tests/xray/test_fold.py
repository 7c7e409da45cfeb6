"""Folding keeps the landmarks, makes no cycle, and gets small."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.xray.boxes import RESULT, Arrow, Box, Picture
from grader.xray.fold import SMALL, fold


def chain(length: int, blamed: int | None = None) -> Picture:
    names = ["source", *(f"n{i}" for i in range(length)), RESULT]
    boxes = {n: Box(n, "sin") for n in names}
    boxes["source"].kind, boxes[RESULT].kind = "source", "result"
    if blamed is not None:
        boxes[f"n{blamed}"].blamed = True
    arrows = [Arrow(a, b, "alive") for a, b in pairwise(names)]
    return Picture(boxes, arrows)


def has_cycle(drawn: Picture) -> bool:
    left = dict(drawn.boxes)
    arrows = list(drawn.arrows)
    while True:
        free = [n for n in left if not any(a.end == n for a in arrows)]
        if not free:
            return bool(left)
        for name in free:
            del left[name]
        arrows = [a for a in arrows if a.start not in free]


def test_small_pictures_stay_as_they_are():
    drawn = chain(SMALL - 2)
    assert fold(drawn) is drawn


def test_a_long_chain_folds_around_the_culprit():
    small = fold(chain(600, blamed=300))
    assert [b.label for b in small.boxes.values()] == [
        "sin",
        "300 operations",
        "sin",
        "299 operations",
        "sin",
    ]
    assert small.folded == 599
    assert len(small.arrows) == 4


def test_one_bad_arrow_shows_in_a_folded_one():
    drawn = chain(40)
    drawn.arrows[0].state = "nan"
    assert fold(drawn).arrows[0].state == "nan"


@settings(max_examples=200)
@given(
    st.integers(SMALL, 60),
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=120),
    st.sets(st.integers(0, 59), max_size=5),
)
def test_folding_makes_no_cycle_and_keeps_landmarks(size, pairs, blamed):
    names = [f"n{i}" for i in range(size)]
    boxes = {n: Box(n, n, blamed=i in blamed) for i, n in enumerate(names)}
    boxes[RESULT] = Box(RESULT, "result", "result")
    edges = {(min(p), max(p)) for p in pairs if p[0] != p[1] and max(p) < size}
    arrows = [Arrow(names[a], names[b], "alive") for a, b in sorted(edges)]
    small = fold(Picture(boxes, arrows))
    assert not has_cycle(small)
    kept = {b.label for b in small.boxes.values() if b.blamed}
    assert kept == {f"n{i}" for i in blamed if i < size}
    assert RESULT in small.boxes
    assert all(a.start in small.boxes and a.end in small.boxes for a in small.arrows)
