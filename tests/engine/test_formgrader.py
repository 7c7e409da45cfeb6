"""What a hostile notebook does in the browser of the instructor who looks at it in formgrader."""

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from tests.engine.server import Server
from tests.eventually import eventually

pytestmark = pytest.mark.browser
ACT = "window.owned=1"
EVIL = f"""
<script>{ACT}</script>
<img src=x onerror="{ACT}">
<svg onload="{ACT}"><script>{ACT}</script></svg>
<iframe srcdoc="<script>parent.owned=1</script>"></iframe>
<style>.score {{ display: none }}</style>
<p id="test_add" class="modal-backdrop">**seen**</p>
<a href="javascript:{ACT}">plot</a>
<a href="evil.html">page</a>
"""
SHOWS = f"""
from IPython.display import HTML, Javascript, Markdown, display
display(HTML('''{EVIL}'''), Markdown('''{EVIL}'''), Javascript('{ACT}'))
sizes = {{"width": "1 onerror={ACT}"}}
display({{"image/png": "x"}}, raw=True, metadata={{"image/png": sizes}})
def add(a, b):
    return a + b
"""
FILE = "<script>document.title = self.origin</script>"


@pytest.fixture
def hostile(tiny, tmp_path):
    """A server on a course in which Mallory's notebook has been graded, and its address there."""
    folder = tiny.submit("mallory", add=SHOWS)
    book = nbformat.read(folder / "p1.ipynb", 4)
    book.cells.append(new_markdown_cell(EVIL))
    nbformat.write(book, folder / "p1.ipynb")
    (folder / "evil.html").write_text(FILE)
    home = tmp_path / "home"
    home.mkdir()
    server = Server(tiny, home)
    try:
        assert server.autograde("mallory")["success"] is True
        with Gradebook(f"sqlite:///{tiny.root}/gradebook.db", "tiny") as gradebook:
            submission = gradebook.notebook_submissions("p1", "ps")[0].id
        yield f"{server.url}formgrader/submissions/{submission}/"
    finally:
        server.end()


def test_nothing_of_a_students_acts_in_the_instructors_browser(hostile, tiny, browser):
    page = browser.new_page()
    page.goto(f"{hostile}?index=0")
    score = page.locator("input.score").first
    score.wait_for()  # seen: no style of hers hides it
    shown = page.locator(".rendered_html p", has_text="**seen**")
    assert shown.count() == 3  # an output, a Markdown output, a Markdown cell
    for link in page.get_by_text("plot", exact=True).all():
        link.click()
    assert page.evaluate("window.owned") is None
    assert page.evaluate("document.querySelectorAll('iframe, [onerror], [onload]').length") == 0

    # The page works as before: a score that is set by hand comes to be the gradebook's.
    page.wait_for_load_state("networkidle")
    score.fill("1")
    score.blur()
    assert eventually(lambda: tiny.scores("mallory") == (8, False))
    page.close()


def test_a_file_that_was_handed_in_opens_as_a_page_of_nobodys(hostile, browser):
    page = browser.new_page()
    page.goto(f"{hostile}evil.html")
    assert page.title() == "null"
    page.close()
