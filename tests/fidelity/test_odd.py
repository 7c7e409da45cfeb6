"""Cells of odd notebooks put out what they put out in a real kernel, but for what is allowed."""

import pytest

from grader.engine.host import Zygote
from grader.engine.sandbox import root
from tests.fidelity import compare, odd, runs
from tests.fidelity.allowed import ALLOWED

# A kernel on a busy machine may send its streams in another order: a cell is amiss only if it is
# so compared with each of this many stock runs.
TRIES = 3


@pytest.fixture(scope="module")
def zygote():
    warm = Zygote()
    yield warm
    warm.close()


@pytest.mark.skipif(
    "/tmp" not in root.writable_places(),
    reason="this Python lies under /tmp: a submission gets no /tmp of its own, and paths differ",
)
@pytest.mark.parametrize("name", odd.NAMES)
@pytest.mark.filterwarnings("default")  # nbclient's own, of sockets and loops
def test_outputs_are_those_of_a_real_kernel(name, zygote, tmp_path):
    notebook = odd.notebook(name)
    home = tmp_path / "learner"
    engine = compare.plain(runs.engine(notebook, zygote), runs.HOME)
    wrong = None
    for _ in range(TRIES):
        stock = compare.plain(runs.stock(notebook, runs.fresh(home)), str(home))
        found = amiss(name, compare.differences(stock, engine))
        wrong = found if wrong is None else {cell: wrong[cell] for cell in wrong if cell in found}
        if not wrong:
            return
    pytest.fail("\n\n".join(wrong.values()))


def amiss(name, differences):
    """Cells that differ without leave, and cells with leave to differ that do not, with words."""
    found = {difference.cell: difference for difference in differences}
    allowed = {cell: entry for (of, cell), entry in ALLOWED.items() if of == name}
    needless = {cell: f"{cell}: differs no longer" for cell in allowed if cell not in found}
    return needless | {cell: str(found[cell]) for cell in found
                       if not _may(allowed.get(cell), found[cell])}  # fmt: skip


def _may(entry, difference):
    return entry is not None and entry.kind(difference.stock, difference.engine)


def test_the_list_names_cells_that_exist():
    cells = {(name, odd.title(cell, n)) for name in odd.NAMES
             for n, cell in enumerate(odd.notebook(name).cells)}  # fmt: skip
    assert set(ALLOWED) <= cells


def test_both_kinds_of_surprise_are_seen():
    same = [1, {}]
    text = {"output_type": "stream", "name": "stdout", "text": "a"}
    assert set(amiss("leaving", [compare.Difference("input", same, [text, *same])])) == {"input"}
    assert "is it a terminal" in amiss("magics", [])
    entry = ALLOWED["streams", "stdout and stderr in turn"]
    err = {"output_type": "stream", "name": "stderr", "text": "b"}
    assert entry.kind([text, err, *same], [err, text, *same])
    assert not entry.kind([text, err, *same], [err, *same])
    entry = ALLOWED["figures", "error in drawing"]
    assert entry.kind([text, err, *same], [err, *same])
    assert not entry.kind([err, *same], [text, err, *same])
    entry = ALLOWED["tensorflow", "error of an op"]
    named = {**text, "text": "{{function_node __wrapped__Mul_device_/CPU:0}} a"}
    assert entry.kind([named, *same], [text, *same])
    assert not entry.kind([text, *same], [named, *same])
    assert not entry.kind([named, err, *same], [text, *same])
