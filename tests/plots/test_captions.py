from __future__ import annotations

import numpy as np

from grader.plots import captions

WRONG = np.eye(3, dtype=bool)


def test_wrong_entries_are_listed_up_to_five() -> None:
    assert captions.jacobian_alt("J", (3, 3), WRONG).endswith("(0, 0), (1, 1), (2, 2).")
    many = captions.jacobian_alt("J", (3, 3), np.ones((3, 3), bool))
    assert "9 of 9 entries are wrong" in many
    assert many.endswith("(1, 1) and more.")


def test_the_note_of_a_heat_map() -> None:
    note = captions.heat_note(WRONG, True, 2.0, none=False)
    assert note.startswith("3 of 9 entries are wrong (framed). Blue is below 0")
    assert note.endswith("Ratio: white is 1.")
    assert "(framed)" not in captions.heat_note(WRONG, False, 2.0, none=False)
    assert captions.heat_note(~WRONG & WRONG, True, 2.0, none=True).startswith("No entry is wrong.")


def test_shapes_are_named_as_outputs_by_inputs() -> None:
    assert captions.shapes_differ((2, 3), (3, 2)).startswith("Shapes differ: got 2 × 3, expected 3")
