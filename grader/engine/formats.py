"""Quick checks of form: fastjsonschema looks first, jsonschema finds the words where it objects.

nbformat checks every output that is made, and nbgrader the metadata of every cell, each time with
jsonschema, which takes milliseconds: together that was more than the rest of grading a notebook.
nbformat itself does so for whole notebooks; here the same is done for their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import fastjsonschema
import jsonschema
import nbformat
import nbgrader.nbgraderformat.common
from nbformat import NotebookNode, current_nbformat, current_nbformat_minor, validator
from nbformat.json_compat import FastJsonSchemaValidator
from nbformat.v4 import new_output


class PartsValidator(FastJsonSchemaValidator):
    """nbformat's validator, quick for parts of a notebook too."""

    def __init__(self, schema: dict[str, Any]) -> None:
        super().__init__(schema)
        self._parts: dict[str, Callable[[Any], Any]] = {}

    def iter_errors(self, data: Any, schema: dict[str, Any] | None = None) -> Any:
        """The errors of `data` as a notebook, or as the part that `schema` refers to."""
        if schema is None:
            return super().iter_errors(data)
        name = schema["$ref"]
        if name not in self._parts:
            self._parts[name] = fastjsonschema.compile({**self._schema, "$ref": name})
        try:
            self._parts[name](data)
        except fastjsonschema.JsonSchemaException:
            return super().iter_errors(data, schema)
        return ()


def check_outputs_quickly() -> None:
    """From now on nbformat checks parts of current notebooks with a `PartsValidator`."""
    current = (current_nbformat, current_nbformat_minor)
    key = (PartsValidator.name, *current, False)
    if not isinstance(validator.validators.get(key), PartsValidator):
        validator.validators[key] = PartsValidator(validator.get_validator(*current)._schema)


class _Checked:
    """Stands for the module `jsonschema` in nbgrader: each schema is checked and compiled once."""

    def __init__(self) -> None:
        self._known: list[tuple[Mapping[str, Any], Callable[[Any], Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(jsonschema, name)

    def validate(self, instance: Any, schema: Mapping[str, Any]) -> None:
        """As jsonschema.validate: raises ValidationError, or SchemaError for a bad schema."""
        quick = next((quick for held, quick in self._known if held == schema), None)
        if quick is None:
            jsonschema.validators.validator_for(schema).check_schema(schema)
            quick = fastjsonschema.compile(dict(schema))
            self._known.append((schema, quick))
        try:
            quick(instance)
        except fastjsonschema.JsonSchemaException:
            jsonschema.validate(instance, schema)


@contextmanager
def checked_quickly() -> Iterator[None]:
    """Within the block nbgrader checks its schema once; outputs are checked quickly from now on."""
    check_outputs_quickly()
    module = nbgrader.nbgraderformat.common
    original, module.jsonschema = module.jsonschema, _Checked()
    try:
        yield
    finally:
        module.jsonschema = original


def tidy(notebook: NotebookNode) -> bool:
    """Drop outputs that are not of the notebook format; whether there were any."""
    with suppress(Exception):
        nbformat.validate(notebook, relax_add_props=True)
        return False
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_or_error(output) for output in cell.outputs]
    return True


def _or_error(output: NotebookNode) -> NotebookNode:
    try:
        nbformat.validate(output, ref="output", version=4, version_minor=5)
        return output
    except Exception:
        said = "this output was not of the notebook format"
        return new_output(
            "error", ename="OutputError", evalue=said, traceback=[f"OutputError: {said}"]
        )
