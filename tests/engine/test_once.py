import copy

import pytest
from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import Preprocessor
from nbformat import ValidationError
from nbformat.v4 import new_code_cell, new_notebook, new_output

from grader.engine.once import Preprocessors


class Marks(Preprocessor):
    enabled = True
    made = 0

    def __init__(self, **traits):
        super().__init__(**traits)
        type(self).made += 1

    def preprocess(self, nb, resources):
        nb.metadata["marks"] = nb.metadata.get("marks", 0) + 1
        return nb, {**resources, "seen": True}


class Spoils(Preprocessor):
    enabled = True

    def preprocess(self, nb, resources):
        nb.cells[0].cell_type = "no such type"
        return nb, resources


def notebook():
    cell = new_code_cell("x", outputs=[new_output("stream", text="x")])
    return new_notebook(cells=[cell])


def test_preprocessors_are_made_once_and_kept_apart():
    held, before = Preprocessors(NotebookExporter()), Marks.made
    nb = notebook()
    for count in (1, 2):
        nb, resources = held.apply("one", [Marks], nb, {})
        assert nb.metadata["marks"] == count
        assert resources == {"seen": True}
    assert Marks.made == before + 1
    cleared, _ = held.apply("other", ["nbgrader.preprocessors.ClearOutput"], copy.deepcopy(nb), {})
    assert cleared.cells[0].outputs == []
    assert cleared.metadata["marks"] == 2
    assert held.apply("one", [Marks], nb, {})[0].cells[0].outputs


def test_the_result_is_that_of_an_exporter():
    exporter = NotebookExporter(preprocessors=[Marks])
    expected, _ = exporter._preprocess(notebook(), {})
    found, _ = Preprocessors(NotebookExporter()).apply("one", [Marks], notebook(), {})
    expected.cells[0].id = found.cells[0].id
    assert found == expected


def test_a_notebook_that_is_none_any_more_is_refused():
    with pytest.raises(ValidationError):
        Preprocessors(NotebookExporter()).apply("one", [Spoils], notebook(), {})
