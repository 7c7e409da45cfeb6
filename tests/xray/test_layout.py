"""Boxes lie on the page, do not overlap, and arrows go forward."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.xray.boxes import RESULT, Arrow, Box, Picture
from grader.xray.layout import layout


def drawn(size: int, edges: list[tuple[int, int]]) -> Picture:
    boxes = {f"n{i}": Box(f"n{i}", "label " * (i % 4 + 1), note="line 1") for i in range(size)}
    boxes[RESULT] = Box(RESULT, "result", "result")
    arrows = [Arrow(f"n{a}", f"n{b}", "alive") for a, b in edges]
    return Picture(boxes, [*arrows, Arrow(f"n{size - 1}", RESULT, "alive")])


@settings(max_examples=100)
@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=24))
def test_no_overlap_and_inside(size, pairs):
    edges = sorted({(min(p), max(p)) for p in pairs if p[0] != p[1] and max(p) < size})
    placed = layout(drawn(size, edges))
    for a, b in combinations(placed.places.values(), 2):
        apart = abs(a.x - b.x) >= (a.width + b.width) / 2 - 1e-6
        assert apart or abs(a.y - b.y) >= (a.height + b.height) / 2 - 1e-6
    for p in placed.places.values():
        assert p.x - p.width / 2 >= 0
        assert p.x + p.width / 2 <= placed.width
        assert p.y - p.height / 2 >= 0
        assert p.y + p.height / 2 <= placed.height
    for _, points in placed.routes:
        along = [y if placed.down else x for x, y in points]
        assert along == sorted(along)


@pytest.mark.parametrize(("length", "down"), [(3, False), (11, True)])
def test_short_graphs_go_right_and_long_ones_down(length, down):
    assert layout(drawn(length, [(i, i + 1) for i in range(length - 1)])).down is down
