"""The course lints itself: one readable line per fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..course import Chapter, Course, CourseError


@dataclass(frozen=True)
class Fault:
    """Something about a chapter that is not as it should be."""

    chapter: str
    where: str
    says: str

    def __str__(self) -> str:
        return f"{self.chapter}: {self.where}: {self.says}"


Rule = Callable[[Chapter], Iterator[Fault]]


def rules(*, execute: bool = True, draws: int = 0) -> list[Rule]:
    """The rules in order, cheap ones first; `execute` adds running whole notebooks, `draws` every
    answer on so many draws."""
    from . import answers, built, curriculum, drawn, luck, run, text

    found: list[Rule] = [curriculum.complete, curriculum.in_order, text.readable, text.worded]
    found += [drawn.drawn, built.fresh, built.secret, answers.judged]
    found += [luck.even(draws)] if draws else []
    return [*found, *([run.top_to_bottom] if execute else [])]


def lint(
    course: Course, chapters: list[Chapter], *, execute: bool = True, draws: int = 0
) -> Iterator[Fault]:
    """Every fault of these chapters. A chapter that cannot be read at all is one fault."""
    for chapter in chapters:
        for rule in rules(execute=execute, draws=draws):
            try:
                yield from rule(chapter)
            except CourseError as error:
                yield Fault(chapter.name, rule.__name__, str(error))
                break
            except Exception as error:
                yield Fault(chapter.name, rule.__name__, f"{type(error).__name__}: {error}")
                break
