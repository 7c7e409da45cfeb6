import jsonschema
import nbgrader.nbgraderformat.common as common
import nbgrader.nbgraderformat.v3 as v3
import pytest
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_code_cell, new_notebook

from grader.engine.once import Preprocessors, schemas_checked


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
                    with schemas_checked():
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
    with schemas_checked():
        validator.validate_nb(new_notebook(cells=[cell(grade_id=name) for name in "abc"]))
    assert len(seen) == 1


def test_a_bad_schema_is_still_refused():
    with schemas_checked(), pytest.raises(jsonschema.SchemaError):
        common.jsonschema.validate(1, {"type": "no such type"})


def test_the_module_is_put_back():
    with schemas_checked():
        assert common.jsonschema is not jsonschema
        assert common.jsonschema.ValidationError is jsonschema.ValidationError
    assert common.jsonschema is jsonschema


def test_preprocessors_are_made_once_and_kept_apart():
    exporter = NotebookExporter()
    held = Preprocessors(exporter)
    held.use("one", ["nbgrader.preprocessors.ClearOutput"])
    first = exporter._preprocessors[0]
    held.use("other", ["nbgrader.preprocessors.LimitOutput"])
    assert [type(each).__name__ for each in exporter._preprocessors] == ["LimitOutput"]
    held.use("one", ["nbgrader.preprocessors.ClearOutput"])
    assert exporter._preprocessors == [first]
