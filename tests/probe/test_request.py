import pytest

from grader.contract import Case
from grader.probe.request import CARD, asked

BOTH = ("value", "gradient")
CASES = (
    Case("plain", {}, wants=BOTH),
    Case("odd", {}, part="robust", wants=BOTH),
    Case("drawn", {}, part=CARD, wants=BOTH),
    Case("own", {}, wants=()),
    Case("own robust", {}, part="robust", wants=()),
)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (None, {"plain": BOTH, "odd": BOTH, "own": (), "own robust": ()}),
        ("value", {"plain": ("value",), "own": ()}),
        ("gradient", {"plain": ("gradient",), "own": ()}),
        ("robust", {"odd": BOTH, "own": (), "own robust": ()}),
    ],
)
def test_a_part_is_asked_what_it_judges_and_nobody_what_is_only_drawn(part, told):
    """A probe of the chapter's own, which wants nothing by name, runs whole."""
    assert {case.name: case.wants for case in asked(CASES, part)} == told
