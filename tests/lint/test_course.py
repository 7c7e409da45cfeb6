"""The course lints itself: every chapter, every answer, every notebook top to bottom."""

from pathlib import Path

import pytest

from grader.course import Course
from grader.lint import rules

COURSE = Course.find(Path(__file__).parents[2])


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(COURSE.root)


@pytest.mark.parametrize("rule", [rule.__name__ for rule in rules()])
@pytest.mark.parametrize("chapter", COURSE.chapters, ids=lambda chapter: chapter.name)
def test_a_chapter_has_no_fault(chapter, rule, tf):
    (chosen,) = (r for r in rules() if r.__name__ == rule)
    assert [str(fault) for fault in chosen(chapter)] == []


def test_all_ten_chapters_are_there():
    assert [chapter.name[:2] for chapter in COURSE.chapters] == [f"{n:02}" for n in range(1, 11)]
