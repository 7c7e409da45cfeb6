"""Where a course lies: the nearest `nbgrader_config.py` upwards is its root."""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from types import ModuleType

from . import words
from .contract import Exercise
from .oneline import OneLine

MARK = "nbgrader_config.py"


def tools_on_path() -> None:
    """Puts this Python's own commands on PATH: nbgrader calls `alembic` by its bare name."""
    own = str(Path(sys.executable).parent)
    if own not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = own + os.pathsep + os.environ.get("PATH", "")


class CourseError(OneLine):
    """Something about the course's files is not as it should be; the message says what to do."""


def _line(error: Exception, path: Path, whose: str = "") -> str:
    """Where in the file at `path` something went wrong, in which exercise, and what; one line."""
    lines = [at for frame, at in walk_tb(error.__traceback__)
             if frame.f_code.co_filename == str(path)]  # fmt: skip
    where = f", line {lines[-1]}" if lines else ""  # a SyntaxError names its line itself
    said = " ".join(str(error).split())
    if not isinstance(error, CourseError):  # those are words already
        said = f"{type(error).__name__}: {said}"
    return f"{where}: {whose}: {said.removeprefix(f'{whose}: ')}" if whose else f"{where}: {said}"


@dataclass(frozen=True)
class Chapter:
    """One folder of solutions/ and all that is built from it."""

    root: Path
    name: str

    @property
    def folder(self) -> Path:
        """The hand-written source."""
        return self.root / "solutions" / self.name

    @property
    def source(self) -> Path:
        """The chapter as a MyST text notebook."""
        return self.folder / f"{self.name}.md"

    @property
    def solution(self) -> Path:
        """Built: the instructor's notebook, with solutions and hidden checks."""
        return self.folder / f"{self.name}.ipynb"

    @property
    def notebook(self) -> Path:
        """Built: what a learner gets."""
        return self.root / "notebooks" / self.name / f"{self.name}.ipynb"

    @property
    def judged_by(self) -> list[Path]:
        """What decides on answers: the reference and the probes, where there are any."""
        files = [self.folder / f"{name}.py" for name in ("reference", "probes")]
        return [file for file in files if file.is_file()]

    @property
    def arrays(self) -> Path:
        """Built: the reference values that a learner's check needs."""
        return self.root / "data" / f"{self.name}.npz"

    @property
    def words(self) -> Path:
        """Built: the words that a learner's check needs."""
        return self.root / "data" / f"{self.name}.json"

    @property
    def title(self) -> str:
        """The first heading of the text."""
        lines = self.source.read_text(encoding="utf-8").splitlines()
        return next((line[2:].strip() for line in lines if line.startswith("# ")), self.name)

    def load(self, module: str) -> ModuleType:
        """Import `reference.py` or `answers.py` afresh; CourseError names what is missing."""
        path = self.folder / f"{module}.py"
        if not path.is_file():
            raise CourseError(f"{path.relative_to(self.root)} is missing")
        name = f"_course_{self.name}_{module}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[name] = loaded
        try:
            spec.loader.exec_module(loaded)
        except CourseError:
            raise
        except Exception as error:
            raise self.wrong(module, error) from error
        return loaded

    def wrong(self, module: str, error: Exception, exercise: str = "") -> CourseError:
        """The error as one line that names the file, its line and the exercise."""
        path = self.folder / f"{module}.py"
        return CourseError(f"{path.relative_to(self.root)}{_line(error, path, exercise)}")

    def exercises(self) -> dict[str, Exercise]:
        """The contracts in `reference.py`, in order; ids must be unique."""
        found: dict[str, Exercise] = {}
        reference = self.load("reference")
        if not isinstance(getattr(reference, "EXERCISES", None), list | tuple):
            raise CourseError(f"{self.name}: reference.py has no list EXERCISES")
        for exercise in reference.EXERCISES:
            if not hasattr(exercise, "id"):
                said = f"{words.a(type(exercise).__name__)}, which is no Exercise"
                raise CourseError(f"{self.name}: reference.py lists {said}, in EXERCISES")
            if exercise.id in found:
                said = f"two exercises are called {exercise.id}"
                raise CourseError(f"{self.name}: {said} in reference.py")
            found[exercise.id] = exercise
        return found

    @property
    def students(self) -> list[str]:
        """Who submitted the chapter; a hidden folder (.ipynb_checkpoints) is nobody."""
        folders = (self.root / "submitted").glob(f"[!.]*/{self.name}")
        return sorted(folder.parent.name for folder in folders if folder.is_dir())

    @property
    def probes(self) -> str:
        """The text of the chapter's own probes, empty if it needs none."""
        path = self.folder / "probes.py"
        return path.read_text(encoding="utf-8") if path.is_file() else ""


@dataclass(frozen=True)
class Course:
    """A course by its root."""

    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Course:
        """The course around `start` (default: the current directory).

        Raises CourseError where no nbgrader_config.py lies there or above.
        """
        try:
            here = (start or Path.cwd()).resolve()
        except FileNotFoundError:
            raise CourseError("this folder is gone: change to the course's folder") from None
        for folder in (here, *here.parents):
            if (folder / MARK).is_file():
                return cls(folder)
        raise CourseError(f"no {MARK} in {here} or above: change to the course's folder")

    @property
    def chapters(self) -> list[Chapter]:
        """The chapters with a source, in order of their numbers."""
        sources = sorted((self.root / "solutions").glob("*/*.md"))
        return [Chapter(self.root, p.parent.name) for p in sources if p.stem == p.parent.name]

    def chapter(self, name: str) -> Chapter:
        """A chapter by its name, its number ("3", "03") or the start of its name."""

        def fits(chapter: Chapter) -> bool:
            number = chapter.name.split("_")[0]
            if name.isdecimal() and number.isdecimal():
                return int(number) == int(name)
            return chapter.name.startswith(name)

        matches = [chapter for chapter in self.chapters if fits(chapter)]
        exact = [chapter for chapter in matches if chapter.name == name]
        if len(exact or matches) != 1:
            names = [chapter.name for chapter in self.chapters]
            close = difflib.get_close_matches(name.lower(), names, n=1)
            meant = f"do you mean {close[0]}? " if close and not matches else ""
            known = ", ".join(names) or "none"
            raise CourseError(f"no single chapter is called {name!r}; {meant}there are: {known}")
        return (exact or matches)[0]
