"""data/: the stored cases of a chapter, what is right in them, and what mistakes would give; and
the reasons behind its predictions."""

from __future__ import annotations

import io

import numpy as np

from .. import store, telling
from ..course import Chapter
from ..judge import STORED_SEED
from ..key import terms
from .cells import read, starters
from .reasons import reasons
from .sound import named, sound

# Elementary functions may differ in the last bits from one processor to the next.
SAME = 1e-9


def data(chapter: Chapter) -> tuple[bytes, bytes]:
    """The .npz and the .json of a chapter, byte for byte the same on the same machine. CourseError
    where a contract's own functions fail."""
    given = starters(chapter)
    entries: dict[str, store.Stored] = {}
    for name, exercise in chapter.exercises().items():
        sound(chapter, exercise, STORED_SEED)
        with named(chapter, exercise):
            cases, answers = telling.draw(exercise, STORED_SEED, telling.expected(exercise))
        said = terms(exercise, given.get(name, ""), chapter.name)
        entries[name] = (said, list(cases), answers)
    because = reasons(c.source for c in read(chapter).cells if c.cell_type == "code")
    return store.dump(entries, chapter.probes, chapter.title, because)


def same_arrays(one: bytes, two: bytes) -> bool:
    """Whether two .npz files hold the same arrays up to the last bits of floats."""
    if one == two:
        return True
    with np.load(io.BytesIO(one)) as a, np.load(io.BytesIO(two)) as b:
        return a.files == b.files and all(_same(a[name], b[name]) for name in a.files)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=SAME, atol=SAME, equal_nan=True))
