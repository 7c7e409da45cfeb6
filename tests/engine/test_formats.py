import jsonschema
import nbgrader.nbgraderformat.common as common
import nbgrader.nbgraderformat.v3 as v3
import pytest
from nbformat import ValidationError, validate, validator
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from grader.engine import formats
from grader.engine.formats import checked_quickly


def cell(**changes):
    about = {"schema_version": 3, "grade": True, "solution": False, "locked": True, "task": False,
             "points": 1, "grade_id": "a", "cell_type": "code", "checksum": "0" * 32}  # fmt: skip
    return new_code_cell("x", metadata={"nbgrader": {**about, **changes}})


def test_a_cell_is_judged_as_jsonschema_itself_does():
    validator = v3.MetadataValidatorV3()
    for given in (cell(), cell(points="many"), cell(grade_id=3), cell(grade="yes")):
        notebook = new_notebook(cells=[given])
        found = []
        for block in (False, True):
            try:
                if block:
                    with checked_quickly():
                        validator.validate_nb(notebook)
                else:
                    validator.validate_nb(notebook)
                found.append("")
            except jsonschema.ValidationError as error:
                found.append(error.message)
        assert found[0] == found[1]


def test_the_schema_itself_is_checked_once(monkeypatch):
    seen = []
    kind = jsonschema.validators.validator_for(v3.MetadataValidatorV3().schema)
    monkeypatch.setattr(kind, "check_schema", classmethod(lambda cls, schema: seen.append(schema)))
    validator = v3.MetadataValidatorV3()
    with checked_quickly():
        validator.validate_nb(new_notebook(cells=[cell(grade_id=name) for name in "abc"]))
    assert len(seen) == 1


def test_a_bad_schema_is_still_refused():
    with checked_quickly(), pytest.raises(jsonschema.SchemaError):
        common.jsonschema.validate(1, {"type": "no such type"})


def test_the_module_is_put_back():
    with checked_quickly():
        assert common.jsonschema is not jsonschema
        assert common.jsonschema.ValidationError is jsonschema.ValidationError
    assert common.jsonschema is jsonschema


OUTPUTS = [
    {"output_type": "stream", "name": "stdout", "text": "a"},
    {"output_type": "stream", "name": "stdout"},
    {"output_type": "stream", "name": 3, "text": "a"},
    {"output_type": "display_data", "data": {"text/plain": "a"}, "metadata": {}},
    {"output_type": "display_data", "data": {"text/plain": 1}, "metadata": {}},
    {"output_type": "display_data", "data": {}, "metadata": {}, "more": 1},
    {"output_type": "execute_result", "data": {}, "metadata": {}, "execution_count": 1},
    {"output_type": "execute_result", "data": {}, "metadata": {}, "execution_count": "one"},
    {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["a"]},
    {"output_type": "error", "ename": "E", "evalue": "", "traceback": "a"},
    {"output_type": "unheard of"},
    [],
]


def objection(output, ref):
    try:
        validate(output, ref=ref, version=4)
    except ValidationError as error:
        return error.message
    return ""


@pytest.mark.parametrize("ref", ["output", "stream", "display_data", "execute_result", "error"])
def test_an_output_is_judged_as_nbformat_itself_does(ref, monkeypatch):
    monkeypatch.setattr(validator, "validators", {})
    stock = [objection(output, ref) for output in OUTPUTS]
    formats.check_outputs_quickly()
    assert [objection(output, ref) for output in OUTPUTS] == stock
    assert "" in stock
    assert any(stock)


def test_a_good_output_never_reaches_the_slow_library(monkeypatch):
    monkeypatch.setattr(validator, "validators", {})
    formats.check_outputs_quickly()
    monkeypatch.setattr(formats.FastJsonSchemaValidator, "iter_errors", None)
    assert objection(OUTPUTS[0], "stream") == ""
    with pytest.raises(TypeError):
        objection(OUTPUTS[1], "stream")


def test_an_output_that_no_notebook_may_hold_is_replaced_and_told():
    nb = new_notebook(cells=[new_markdown_cell("text"), new_code_cell("1")])
    nb.cells[1].outputs = [new_output("stream", text="kept")]
    assert not formats.tidy(nb)
    odd = new_output("stream")
    odd["text"] = 7
    nb.cells[1].outputs.append(odd)
    assert formats.tidy(nb)
    kept, replaced = nb.cells[1].outputs
    assert (kept.text, replaced.ename) == ("kept", "OutputError")
    assert not formats.tidy(nb)
