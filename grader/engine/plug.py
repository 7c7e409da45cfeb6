"""Puts the engine into nbgrader, from one line in nbgrader_config.py: `grader.engine.plug(c)`."""

from __future__ import annotations

import sys
from typing import Any

from grader.course import tools_on_path
from grader.engine import buttons

EXECUTE = "grader.engine.execute.EngineExecute"
CLEAN = {  # nbgrader's templates clean no Markdown, but hand all of it to strip_files_prefix
    "clean_html": "grader.engine.harmless.clean",
    "strip_files_prefix": "grader.engine.harmless.clean_markdown",
}
HANDLERS = "nbgrader.server_extensions.formgrader.handlers"


def plug(c: Any) -> None:
    """Make `nbgrader autograde`, formgrader and `nbgrader validate` run this engine.

    `c` is the config object of nbgrader_config.py. Safe to call again and again.
    """
    tools_on_path()
    c.Autograde.autograde_preprocessors = [
        EXECUTE,
        "nbgrader.preprocessors.IgnorePattern",
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        "nbgrader.preprocessors.LimitOutput",
        "nbgrader.preprocessors.SaveAutoGrades",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.Autograde.sanitize_preprocessors = [
        "grader.engine.repair.Repair",
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.DeduplicateIds",
        "nbgrader.preprocessors.OverwriteKernelspec",
        "nbgrader.preprocessors.OverwriteCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        "grader.engine.feedback.HideHiddenTests",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    c.HTMLExporter.sanitize_html = True
    c.HTMLExporter.filters.update(CLEAN)
    c.HTMLExporter.preprocessors.append("grader.engine.harmless.PlainMetadata")
    _swap_validator()
    _swap_converter()
    buttons.swap()
    _sandbox_files()


def _swap_converter() -> None:
    """The converter's class is no trait: nbgrader's two users of it get this engine's."""
    import nbgrader.apps.api
    import nbgrader.apps.autogradeapp

    from grader.engine.autograde import EngineAutograde

    nbgrader.apps.autogradeapp.Autograde = EngineAutograde
    nbgrader.apps.api.Autograde = EngineAutograde


def _swap_validator() -> None:
    """`Validator.preprocessors` is not configurable: its default is what there is to change."""
    from nbgrader.preprocessors import CheckCellMetadata, ClearOutput
    from nbgrader.validator import Validator

    from grader.engine.execute import EngineExecute

    chosen = [CheckCellMetadata, ClearOutput, EngineExecute]
    Validator.class_traits()["preprocessors"].default_args = (chosen,)


def _sandbox_files() -> None:
    """A file that a student handed in opens, from formgrader, in a sandbox of the browser, as
    Jupyter's own do: as a page of nobody's, which may not ask the server for anything."""
    handlers = sys.modules.get(HANDLERS)
    if handlers is not None:
        handlers.SubmissionFilesHandler.content_security_policy = property(_sandboxed)


def _sandboxed(handler: Any) -> str:
    from nbgrader.server_extensions.formgrader.base import BaseHandler

    return f"{BaseHandler.content_security_policy.fget(handler)}; sandbox allow-scripts"
