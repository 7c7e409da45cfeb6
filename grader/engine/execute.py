"""nbgrader's Execute preprocessor with the engine behind it.

`--no-execute` and the options of `c.Execute` keep their meaning, hooks included; those on how a
kernel is started and reached have none here. A kernel that is not Python's is refused rather than
run outside of the sandbox.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from traitlets import Bool, Dict

from grader.course import Course, CourseError
from grader.engine import checks, files, formats, frames, preflight, trouble, warm, work
from grader.engine.judging import Judge
from grader.engine.limits import Limits
from grader.engine.masters import masters
from grader.engine.outcome import Ruling

TRAITS = """timeout timeout_func interrupt_on_timeout error_on_timeout skip_cells_with_tag
store_widget_state record_timing allow_errors coalesce_streams force_raise_errors""".split()
HOOKS = """on_notebook_start on_cell_start on_cell_execute on_cell_complete on_cell_error
on_notebook_error on_notebook_complete""".split()
PYTHON = ("", "python", "python3")
ALLOW = "GRADER_ALLOW_UNSANDBOXED"


class EngineExecute(Execute):  # type: ignore[misc]
    """Executes a notebook in a child of the warm process; judged cells get the judge's outputs."""

    allow_unsandboxed = Bool(
        False, help="Run submissions even where layers of the sandbox are missing."
    ).tag(config=True)
    limits = Dict(help="Limits that differ from grader.engine.limits.Limits.").tag(config=True)
    tensorflow = Bool(True, help="Whether the warm process imports TensorFlow.").tag(config=True)

    fork = Bool(
        True, help="Whether submissions run in forks of one warm process (Linux), where they can."
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any = None, km: Any = None) -> Any:
        """Execute `nb` in place, as nbgrader's own preprocessor does."""
        self.nb, self.resources = nb, resources or {}
        job, judge = self.prepare(nb, self.resources)
        result = work.run(self.zygote(), job)
        return self.finish(result, judge, self.resources)

    def zygote(self) -> Any:
        """The warm process for this course."""
        return warm.zygote(self.root, self._hidden(), True, self.tensorflow, self.fork)

    @property
    def root(self) -> Path:
        """The course's root."""
        return Path(self._coursedir().root)

    @property
    def all_limits(self) -> Limits:
        """The limits a submission runs under."""
        return Limits.from_dict({**Limits().as_dict(), **self.limits})

    def _coursedir(self) -> CourseDirectory:
        """The converter's. JupyterLab's Validate has none and works in the notebook's folder: for
        it the course around that, or, where there is none, the folder."""
        above = self.parent
        while above is not None:
            if getattr(above, "coursedir", None) is not None:
                return above.coursedir
            above = getattr(above, "parent", None)
        try:
            root = Course.find().root
        except CourseError:
            root = Path.cwd()
        return CourseDirectory(parent=self, root=str(root))

    def _hidden(self) -> list[str]:
        """The course, and what its configuration keeps elsewhere."""
        coursedir = self._coursedir()
        names = ("source", "submitted", "autograded", "feedback")
        folders = [getattr(coursedir, f"{name}_directory") for name in names]
        book = preflight.gradebook_file(coursedir.db_url)  # any other address may hold a password
        found = [*folders, *([book] if book else [])]
        return [coursedir.root, *(os.path.join(coursedir.root, path) for path in found)]

    def prepare(self, nb: NotebookNode, resources: Any) -> tuple[work.Job, Judge | None]:
        """The job for a notebook, and its judge where a gradebook knows master copies."""
        limits = self.all_limits
        if not self.enabled:
            return work.Job(nb, limits, skip=True), None
        self._refuse_other_kernels(nb)
        path = resources.get("metadata", {}).get("path") or os.getcwd()
        job = work.Job(
            nb, limits, files=files.pack(Path(path), limits) if path else b"",
            traits=self._client_traits(),
            course=warm.public_folders(self.root),
            allow_unsandboxed=self.allow_unsandboxed or bool(os.environ.get(ALLOW)),
            fork=self.fork, tensorflow=self.tensorflow, hidden=self._hidden(),
        )  # fmt: skip
        judge = self._judge(nb, resources.get("nbgrader", {}))
        if judge:
            judge.prepare(job)
        return job, judge

    def _client_traits(self) -> dict[str, Any]:
        """What of `c.Execute` a client goes by; hooks, where a job may have a way to go, only if
        there are any."""
        hooks = {name: hook for name in HOOKS if (hook := getattr(self, name)) is not None}
        return {name: getattr(self, name) for name in TRAITS} | hooks

    def _judge(self, nb: NotebookNode, about: Any) -> Judge | None:
        """Where the gradebook has master copies; and where cells are their own, with hidden checks
        in them: an instructor's notebook that is validated."""
        marks = checks.marks(self)
        if "student" in about and "db_url" in about:
            sources = {master.grade_id: master.source for master in masters(about)}
            return Judge(self.root, about["student"], sources, marks)
        own = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source for cell in nb.cells
               if checks.has_hidden(cell.source, marks) and checks.calls(cell.source)}  # fmt: skip
        return Judge(self.root, "", own, marks) if own else None

    def finish(self, result: work.Result, judge: Judge | None, resources: Any) -> Any:
        """Write verdicts into the notebook and the run's record into `resources["grader"]`."""
        if formats.tidy(result.notebook):
            result.notes.append("outputs that were not of the notebook format")
        rulings: list[Ruling] = judge.settle(result) if judge else []
        path = resources.get("metadata", {}).get("path") or os.getcwd()
        if path and result.files:
            try:
                limits = self.all_limits
                files.write(Path(path), result.files, limits.harvest_files, limits.harvest)
            except frames.ProtocolError as error:
                result.notes.append(f"tampering: files that no submission sends: {error}")
            except OSError as error:
                if trouble.stops(error):
                    raise
                result.notes.append(f"not every file it made was kept: {trouble.reason(error)}")
        resources["grader"] = {"fault": result.fault, "notes": result.notes, "rulings": rulings,
                               "seconds": result.seconds}  # fmt: skip
        return result.notebook, resources

    def _refuse_other_kernels(self, nb: NotebookNode) -> None:
        name = self.kernel_name or nb.metadata.get("kernelspec", {}).get("name") or ""
        if name in PYTHON:
            return
        spec = KernelSpecManager().get_kernel_spec(name)  # raises NoSuchKernel, as nbclient does
        if spec.language.lower() != "python":
            raise work.Unsafe(f"kernel {name!r} is not Python's: the engine cannot shut it in")
