"""The buttons of a prediction: live, dead, saved and reopened, answered."""

import shutil
from pathlib import Path

import nbformat
import pytest

from . import lab

ROOT = Path(__file__).resolve().parents[2]
SOURCE = 'from grader import predict, ____\npredict("01 ceil", lambda: 0.0, ____)'
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser, tmp_path):
    """A function that opens the notebook afresh."""
    course, home = tmp_path / "course", tmp_path / "home"
    home.mkdir()
    shutil.copytree(ROOT / "data", course / "data")
    shutil.copy(ROOT / "nbgrader_config.py", course)
    cells = [nbformat.v4.new_code_cell(SOURCE)]
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    nbformat.write(made, course / "a.ipynb")
    with lab.server(course, home, "light") as url:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        yield lambda: lab.Notebook(page, url, "a.ipynb")
        page.close()


def session(page, call):
    page.evaluate(f"() => window.jupyterapp.shell.currentWidget.sessionContext.{call}")


def save(page):
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")


def told(page):
    """Waits until the row of buttons says to run the cell again, and shows nothing else."""
    page.wait_for_function(
        """() => [...document.querySelectorAll('.jp-OutputArea-output')].some(one => {
            const shown = getComputedStyle(one, '::after').content;
            const hidden = getComputedStyle(one).fontSize === '0px'
                && [...one.children].every(each => getComputedStyle(each).display === 'none');
            return shown.includes('Run this cell again') && hidden && !one.closest('[hidden]');
        })""",
        timeout=30_000,
    )


def test_dead_and_saved_buttons_say_to_run_again_and_an_answer_takes_the_cards_place(opened):
    notebook = opened()
    page = notebook.page
    notebook.run("predict").locator("button:visible").first.wait_for()
    session(page, "session.kernel.restart()")
    told(page)
    save(page)
    session(page, "shutdown()")

    notebook = opened()
    page.wait_for_selector(".jp-OutputArea-output.jupyter-widgets")  # JupyterLab's error is there
    told(page)
    output = notebook.run("predict")
    output.locator("button:visible", has_text="zero").click()
    output.get_by_text("As you predicted.").wait_for()
    assert "Predict first." not in output.inner_text()
    assert output.locator("button:visible").count() == 0
    save(page)
    session(page, "shutdown()")

    again = opened().cell("predict").locator(".jp-Cell-outputArea")
    again.get_by_text("As you predicted.").wait_for()
    assert "Error displaying widget" not in again.inner_text()
