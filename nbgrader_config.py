"""nbgrader's configuration of the course. It also marks the course's root."""

from grader.course import tools_on_path
from grader.engine import plug

c = get_config()  # noqa: F821

tools_on_path()
# `nbgrader autograde`, formgrader's buttons and `nbgrader validate` run the course's engine.
plug(c)

c.CourseDirectory.course_id = "gradients"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
# The reference and the answers of a chapter lie beside its notebook and must never be handed out.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints",
    "__pycache__",
    "*.pyc",
    "*.md",
    "reference.py",
    "answers.py",
    "probes.py",
]

# Starters of the course's own in place of one stub for all.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    "grader.build.starter.Starters",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]
