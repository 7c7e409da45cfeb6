"""A notebook whose cells were altered: what is the student's counts, what is not is put back."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


def _p1(tiny, change, **answers):
    nb = tiny.answered("p1", **answers)
    change(nb)
    return nb


def _duplicate_answer(nb):
    copy = nbformat.from_dict(nb.cells[0])
    copy = new_code_cell("def add(a, b):\n    # YOUR CODE HERE\n    raise NotImplementedError()",
                         metadata=nb.cells[0].metadata)  # fmt: skip
    nb.cells.insert(1, copy)


def _duplicate_test(nb):
    nb.cells.append(new_code_cell("pass", metadata=nb.cells[1].metadata))


def _old_schema(nb):
    nb.cells[1].metadata.nbgrader["schema_version"] = 2


def _future_schema(nb):
    nb.cells[0].metadata.nbgrader["schema_version"] = 99


def _points(nb):
    nb.cells[1].metadata.nbgrader["points"] = "many"


def _flags(nb):
    nb.cells[1].metadata.nbgrader["grade"] = False
    nb.cells[1].metadata.nbgrader["solution"] = True


def _deleted(nb):
    del nb.cells[1]


def _stripped(nb):
    for cell in nb.cells:
        cell.metadata.pop("nbgrader")


def _retyped(nb):
    nb.cells[1]["cell_type"] = "markdown"
    nb.cells[1].pop("outputs")
    nb.cells[1].pop("execution_count")


def _odd_metadata(nb):
    nb.cells[1].metadata["nbgrader"] = 17


ALTERED = [_duplicate_answer, _duplicate_test, _old_schema, _future_schema, _points, _flags,
           _deleted, _stripped, _retyped, _odd_metadata]  # fmt: skip


@pytest.mark.parametrize("change", ALTERED)
def test_altered_cells_are_put_back_and_right_work_still_counts(alongside, tiny, change):
    tiny.submit("m-odd", p1=_p1(tiny, change))
    odd = alongside()
    assert (odd.state, odd.score) == ("graded", 9), odd
    assert tiny.scores("m-odd") == (9, False)
    if change is not _retyped:
        assert odd.notes


@pytest.mark.parametrize("change", ALTERED)
def test_altered_cells_gain_nothing_for_wrong_work(tiny, change):
    wrong = {"add": "def add(a, b): return 0", "mul": "def mul(a, b): return 0"}
    tiny.submit("m-odd", p1=_p1(tiny, change, **wrong), sq="def sq(a): return 0")
    assert tiny.grade()["m-odd"].score == 0
    assert tiny.scores("m-odd")[0] == 0


def test_the_skip_tag_gains_nothing_and_is_told(alongside, tiny):
    def tag(nb):
        for cell in nb.cells:
            cell.metadata["tags"] = ["skip-execution"]

    tiny.submit("m-odd", p1=_p1(tiny, tag, add="def add(a, b): return 0"))
    odd = alongside()
    assert odd.score == 4
    assert any("tampering" in note for note in odd.notes)


def test_another_tag_that_the_course_skips_cells_by_gains_nothing(tiny):
    with open(tiny.config_file(), "a") as file:
        file.write('\nc.Execute.skip_cells_with_tag = "slow"\n')

    def tag(nb):
        for cell in nb.cells:
            cell.metadata["tags"] = ["slow"]

    tiny.submit("m-odd", p1=_p1(tiny, tag))
    assert tiny.grade()["m-odd"].score == 4  # no answer of p1 has run, and each of its tests has


def test_of_very_many_files_that_are_not_opened_ten_are_named(alongside, tiny):
    folder = tiny.submit("m-odd")
    for number in range(10):
        (folder / f"link{number}").symlink_to("/etc/passwd")
    assert len(alongside().notes) == 10
    for number in range(10, 13):
        (folder / f"link{number}").symlink_to("/etc/passwd")
    notes = tiny.grade("m-odd", force=True)["m-odd"].notes
    assert len([note for note in notes if note.endswith(" is a symlink")]) == 10
    assert notes[10:] == ["and 3 more files"]
