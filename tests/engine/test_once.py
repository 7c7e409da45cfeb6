import copy
import json

import nbformat
import pytest
from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import Preprocessor
from nbformat import ValidationError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.engine.once import Preprocessors, written


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


def test_what_is_written_is_what_nbformat_writes():
    outputs = [
        new_output("stream", text="a\nb\r\n\u2028é"),
        new_output("stream", name="stderr"),
        new_output("error", ename="E", evalue="é", traceback=["one\ntwo"]),
        new_output("display_data", data={
            "text/plain": "x\ny", "image/png": "iVBO\n", "application/json": {"b": [1.5e-7, None]},
            "text/html": "<p>\n</p>\n", "application/vnd.x+json": [], "image/svg+xml": "<svg/>\n",
        }),
        new_output("execute_result", execution_count=3, data={}),
    ]  # fmt: skip
    cells = [new_code_cell("x = 1\ny", outputs=outputs, metadata={"trusted": True, "points": 2.0})]
    nb = new_notebook(cells=[*cells, new_markdown_cell("a\n\n", attachments={})],
                      metadata={"signature": "x", "orig_nbformat": 2, "z": 1, "a": {}})  # fmt: skip
    expected = nbformat.writes(nb)
    assert written(nb) == expected
    assert nbformat.reads(expected, 4).cells[0].outputs[0].text == "a\nb\r\n\u2028é"


def test_half_a_character_does_not_keep_a_notebook_from_being_written():
    nb = new_notebook(cells=[new_code_cell("x", outputs=[new_output("stream", text="a\ud83d!")])])
    assert json.loads(written(nb).encode())["cells"][0]["outputs"][0]["text"] == ["a?!"]
