"""What nbgrader does afresh for every notebook and need do only once in a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jsonschema
import nbgrader.nbgraderformat.common


class _Checked:
    """Stands for the module `jsonschema`: `validate` checks each schema itself only once.

    jsonschema.validate checks the schema before the instance, and nbgrader calls it for every cell
    with a schema that never changes: nine tenths of the time went there.
    """

    def __init__(self) -> None:
        self._validators: dict[int, tuple[Any, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(jsonschema, name)

    def validate(self, instance: Any, schema: Mapping[str, Any]) -> None:
        """As jsonschema.validate: raises ValidationError, or SchemaError for a bad schema."""
        held, validator = self._validators.get(id(schema), (None, None))
        if held is not schema:
            kind = jsonschema.validators.validator_for(schema)
            kind.check_schema(schema)
            validator = kind(schema)
            self._validators[id(schema)] = (schema, validator)
        error = jsonschema.exceptions.best_match(validator.iter_errors(instance))
        if error is not None:
            raise error


@contextmanager
def schemas_checked() -> Iterator[None]:
    """Within the block nbgrader checks its metadata's schema once, and every cell as always."""
    module = nbgrader.nbgraderformat.common
    original, module.jsonschema = module.jsonschema, _Checked()
    try:
        yield
    finally:
        module.jsonschema = original


class Preprocessors:
    """The preprocessors of each half of a conversion: made at first use, then used again.

    nbgrader's own are made anew for each notebook; they hold nothing from one to the next.
    """

    def __init__(self, exporter: Any) -> None:
        self.exporter = exporter
        exporter.optimistic_validation = True  # one look at the notebook after all of them
        self._made: dict[str, list[Any]] = {}

    def use(self, half: str, wanted: list[Any]) -> None:
        """Give the exporter those of `half`."""
        if half not in self._made:
            self.exporter._preprocessors = []
            for preprocessor in wanted:
                self.exporter.register_preprocessor(preprocessor)
            self._made[half] = self.exporter._preprocessors
        self.exporter._preprocessors = self._made[half]
