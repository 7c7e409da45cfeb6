"""Who has no graded notebook is told why on a page, until there is one."""

import html

from grader import words
from grader.build.release import api
from grader.course import Course
from grader.grading import unopened


def test_a_notebook_that_cannot_be_opened_gets_a_page_with_the_reason(taught):
    (taught.root / "submitted/bob/01_sum/01_sum.ipynb").write_text("<script>no notebook</script>")
    run = taught.grade_here("bob")
    assert (run.exit_code, run.warnings) == (1, [])
    page = html.unescape(taught.page("bob").read_text())
    assert words.NOT_GRADED in page
    assert run.outcomes[0].reason in page
    assert "Score: 3.0 / 3.0" in taught.page("ann").read_text()


def test_the_next_that_can_be_opened_replaces_it(taught):
    taught.submit(bob="def add(a, b): return 0")
    whole = (taught.root / "submitted/bob/01_sum/01_sum.ipynb").read_text()
    for text in ("[1", whole, "{"):
        (taught.root / "submitted/bob/01_sum/01_sum.ipynb").write_text(text)
        taught.grade_here("bob")
        assert ("Score: 0.0 / 3.0" in taught.page("bob").read_text()) is (text == whole)
        assert (words.NOT_GRADED in taught.page("bob").read_text()) is (text != whole)


def test_a_reason_with_marks_of_html_in_it_is_text(taught):
    folder = taught.root / "submitted/bob/01_sum"
    (folder / "01_sum.ipynb").rename(folder / "<b>mine.ipynb")
    run = taught.grade_here("bob")
    assert run.outcomes[0].state == "fault"
    assert "<b>mine" in run.outcomes[0].reason
    assert "<b>mine" not in taught.page("bob").read_text()
    assert "<b>mine" in html.unescape(taught.page("bob").read_text())


def test_a_fault_whose_notebook_is_there_keeps_nbgraders_page(taught):
    taught.submit(bob="import os; os._exit(3)")
    run = taught.grade_here("bob")
    assert run.outcomes[0].kind == "died"
    assert "Score: 0.0 / 3.0" in taught.page("bob").read_text()


def test_who_has_no_fault_gets_no_such_page(taught):
    """Nobody has looked at it yet, say."""
    course = Course(taught.root)
    unopened.write(course, taught.chapter, api(course).coursedir, ["eve"])
    assert not taught.page("eve").parent.exists()


def test_who_never_had_a_page_gets_one(taught):
    taught.submit(eve="")
    (taught.root / "submitted/eve/01_sum/01_sum.ipynb").write_text("{")
    assert taught.grade_here("eve").exit_code == 1
    assert words.NOT_GRADED in taught.page("eve").read_text()
