import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from grader import loading
from grader.verify import run


def test_the_first_cell_says_that_tensorflow_is_loading_and_then_that_it_is(tmp_path, monkeypatch):
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    source = "from grader import check\nimport tensorflow as tf"
    book = nbformat.from_dict(new_notebook(cells=[new_code_cell(source)]))
    run(book, tmp_path)
    (output,) = book.cells[0].outputs
    assert output.output_type == "display_data"
    assert output.data["text/plain"].startswith("TensorFlow 2.")
    assert "is loaded" in output.data["text/plain"]


def test_outside_a_notebook_nothing_is_shown(capsys):
    with loading.shown():
        pass
    assert capsys.readouterr().out == ""
