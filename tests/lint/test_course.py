"""The course lints itself: every chapter, every answer, every notebook top to bottom."""

import re
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


def test_every_chapter_names_the_next_one():
    ends = [c.source.read_text(encoding="utf-8").splitlines()[-1] for c in COURSE.chapters]
    named = [end.partition("Next: chapter ")[2][:2] for end in ends]
    assert named == [f"{n:02}" for n in range(2, 11)] + [""]


def test_a_percent_sign_stands_at_its_number_everywhere():
    files = [f for c in COURSE.chapters for f in (c.source, c.words)]
    files += [*(COURSE.root / "grader").rglob("words.py"), COURSE.root / "README.md"]
    spaced = [f.name for f in files if re.search(r"[\d}] %[\s.,;]", f.read_text(encoding="utf-8"))]
    assert spaced == []
