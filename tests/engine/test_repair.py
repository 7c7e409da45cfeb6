"""What a student did to the cells of a notebook is undone by what the gradebook says of them."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from grader.course import tools_on_path
from grader.engine.masters import Master
from grader.engine.repair import SKIP, Repair, _locked

TEST = "assert add(1, 2) == 3"
ORDER = ("add", "test", "essay")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A gradebook that knows an answer, its test worth 2 points, and an essay worth 5."""
    tools_on_path()
    url = f"sqlite:///{tmp_path_factory.mktemp('book')}/gradebook.db"
    with Gradebook(url, "c") as book:
        book.add_assignment("ps")
        book.add_notebook("p1", "ps")
        where = ("p1", "ps")
        book.add_source_cell("add", *where, cell_type="code", source="# YOUR CODE", checksum="a")
        book.add_source_cell(
            "test", *where, cell_type="code", source=TEST, checksum="t", locked=True
        )
        book.add_source_cell("essay", *where, cell_type="markdown", source="?", checksum="e")
        book.add_solution_cell("add", *where)
        book.add_solution_cell("essay", *where)
        book.add_grade_cell("test", *where, max_score=2, cell_type="code")
        book.add_grade_cell("essay", *where, max_score=5, cell_type="markdown")
    return url


@pytest.fixture
def repair(url):
    """Repairs a notebook of these cells; the notes come back."""

    def repair(*cells):
        nb = new_notebook(cells=list(cells))
        about = {"nbgrader": {"db_url": url, "notebook": "p1", "assignment": "ps"}}
        _, resources = Repair().preprocess(nb, about)
        return nb, resources["grader_notes"]

    return repair


def _cell(name, source="", make=new_code_cell, **meta):
    known = {
        "add": {"grade": False, "solution": True, "locked": False},
        "test": {"grade": True, "solution": False, "locked": True, "points": 2.0},
        "essay": {"grade": True, "solution": True, "locked": False, "points": 5.0},
    }[name]
    return make(source, metadata={"nbgrader": {"grade_id": name, "schema_version": 3, "task": False,
                                               **known, **meta}})  # fmt: skip


def _all(**instead):
    cells = {"add": _cell("add", "mine"), "test": _cell("test", TEST),
             "essay": _cell("essay", "words", new_markdown_cell)}  # fmt: skip
    return list({**cells, **instead}.values())


def _ids(nb):
    return [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells]


def test_half_a_character_is_replaced_and_told(repair):
    """As JSON may have it; the cell could not be sent to its process, nor the notebook written."""
    half = new_markdown_cell("cut: \ud83d")
    nb, notes = repair(half, *_all(add=_cell("add", "x = '\ud800'; y = '\U0001f600'")))
    assert [cell.source for cell in nb.cells[:2]] == [
        "cut: \ufffd",
        "x = '\ufffd'; y = '\U0001f600'",
    ]
    assert notes == [
        "a cell held half a character: U+FFFD stands for it",
        "cell 'add' held half a character: U+FFFD stands for it",
    ]


def test_a_notebook_in_order_is_left_alone(repair):
    nb, notes = repair(new_markdown_cell("text"), *_all())
    assert notes == []
    assert _ids(nb) == [None, *ORDER]
    assert [cell.source for cell in nb.cells] == ["text", "mine", TEST, "words"]


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ({"points": 200}, "points"), ({"grade": False}, "grade"), ({"solution": True}, "solution"),
        ({"schema_version": 99}, "schema_version"), ({"points": "many"}, "points"),
    ],
)  # fmt: skip
def test_metadata_is_the_gradebooks(repair, meta, said):
    nb, notes = repair(*_all(test=_cell("test", TEST, **meta)))
    found = nb.cells[1].metadata.nbgrader
    assert (found.grade, found.solution, found.points, found.schema_version) == (True, False, 2, 3)
    assert found.locked
    assert notes == [f"cell 'test': {said} was changed, and is put back"]


def test_deleted_graded_cells_come_back_in_their_place(repair):
    nb, notes = repair(_cell("add", "mine"), new_markdown_cell("after"))
    assert _ids(nb) == ["add", "test", "essay", None]
    assert nb.cells[1].source == TEST
    assert (nb.cells[1].cell_type, nb.cells[2].cell_type) == ("code", "markdown")
    assert len(notes) == 2


def test_a_deleted_answer_is_not_made_up(repair):
    nb, _ = repair(*_all()[1:])
    assert _ids(nb) == ["test", "essay"]


def test_of_copies_of_an_answer_the_first_with_work_counts(repair):
    copies = [_cell("add", text) for text in ("# YOUR CODE", "first", "second")]
    nb, notes = repair(*copies, *_all()[1:])
    assert _ids(nb) == [None, "add", None, "test", "essay"]
    assert nb.cells[1].source == "first"
    assert nb.cells[2].cell_type == "markdown"  # kept to read, not run
    assert "second" in nb.cells[2].source
    assert "3 times" in notes[0]


def test_of_copies_of_a_test_the_first_counts_whatever_is_in_them(repair):
    nb, _ = repair(*_all(), _cell("test", "add = None"))
    assert _ids(nb) == [*ORDER, None]
    assert nb.cells[1].source == TEST


def test_of_equal_copies_of_a_test_the_last_counts_since_the_answer_stands_before_it(repair):
    nb, notes = repair(_cell("test", TEST), *_all())
    assert _ids(nb) == [None, *ORDER]
    assert nb.cells[0].cell_type == "markdown"
    assert notes == ["cell 'test' is there 2 times: the last counts"]


@pytest.mark.parametrize("minor", [4, 5])
def test_what_comes_back_or_is_a_copy_has_an_id_where_cells_have_them(url, minor):
    nb = new_notebook(cells=[_cell("add", "first"), _cell("add", "second")])
    nb.nbformat_minor = minor
    if minor == 4:
        for cell in nb.cells:
            del cell["id"]
    before = [cell.get("id") for cell in nb.cells]
    about = {"nbgrader": {"db_url": url, "notebook": "p1", "assignment": "ps"}}
    nb, _ = Repair().preprocess(nb, about)
    nbformat.validate(nb)
    assert _ids(nb) == ["add", "test", "essay", None]
    assert [nb.cells[0].get("id"), nb.cells[3].get("id")] == before


def test_a_cell_of_no_known_name_is_an_ordinary_cell(repair):
    nb, notes = repair(*_all(), _cell("add", "x", grade_id="other"), _cell("add", "y", grade_id=7))
    assert _ids(nb) == [*ORDER, None, None]
    assert notes == ["cell 'other' is none of the assignment's: an ordinary cell"]


def test_a_test_with_the_skip_tag_runs_and_is_told(repair):
    test = _cell("test", TEST)
    test.metadata["tags"] = [SKIP, "mine"]
    nb, notes = repair(*_all(test=test))
    assert nb.cells[1].metadata.tags == ["mine"]
    assert notes == [f"tampering: cell 'test' carried the tag {SKIP}"]


def test_an_answer_with_the_skip_tag_is_the_students_own(repair):
    answer = _cell("add", "mine")
    answer.metadata["tags"] = [SKIP]
    nb, notes = repair(*_all(add=answer))
    assert (nb.cells[0].metadata.tags, notes) == ([SKIP], [])


@pytest.mark.parametrize("tags", [None, 5, "text", [1], {}])
def test_tags_that_are_none_are_left_out(url, tags):
    nb = new_notebook(cells=_all())
    nb.cells[1].metadata["tags"] = tags  # nbformat reads it with no more than a warning
    about = {"nbgrader": {"db_url": url, "notebook": "p1", "assignment": "ps"}}
    nb, resources = Repair().preprocess(nb, about)
    assert "tags" not in nb.cells[1].metadata
    assert resources["grader_notes"] == []


MASTER = "a()\n### BEGIN HIDDEN TESTS\nb()\n### END HIDDEN TESTS"


@pytest.mark.parametrize(
    ("text", "put_back", "told"),
    [("a()", True, False), (MASTER, True, False), ("", False, False), ("c()", False, True)],
)
def test_a_locked_cell_as_it_was_handed_out_is_no_change(text, put_back, told):
    """nbgrader puts the master back in any case; its log calls all that differs a change."""
    master = Master("test", MASTER, "code", {"locked": True})
    cell, notes = _cell("test", text), []
    _locked(cell, master, notes)
    assert (cell.source == MASTER) is put_back
    assert notes == ["cell 'test' is locked, was changed, and is put back"] * told


def test_a_task_that_was_deleted_comes_back_as_the_text_it_is(url):
    with Gradebook(url, "c") as book:
        where = book.update_or_create_notebook("p2", "ps").name, "ps"
        book.add_source_cell("draw", *where, cell_type="markdown", source="Draw.", checksum="d")
        book.add_task_cell("draw", *where, max_score=4, cell_type="markdown")
    about = {"nbgrader": {"db_url": url, "notebook": "p2", "assignment": "ps"}}
    nb, resources = Repair().preprocess(new_notebook(cells=[new_markdown_cell("mine")]), about)
    assert [cell.source for cell in nb.cells] == ["mine", "Draw."]
    assert (nb.cells[1].cell_type, nb.cells[1].metadata.nbgrader.points) == ("markdown", 4)
    assert resources["grader_notes"] == ["cell 'draw' was missing, and is put back"]


def test_of_a_notebook_of_which_no_cell_is_known_none_is_taken_for_another_cell(url):
    with Gradebook(url, "c") as book:
        book.update_or_create_notebook("empty", "ps")
    about = {"nbgrader": {"db_url": url, "notebook": "empty", "assignment": "ps"}}
    nb, resources = Repair().preprocess(new_notebook(cells=_all()), about)
    assert _ids(nb) == [*ORDER]
    assert resources["grader_notes"] == []
