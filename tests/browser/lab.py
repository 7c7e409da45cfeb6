"""A real JupyterLab on a copy of the course, driven through Debian's Chromium."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from tests.jupyter import Jupyter

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
RUN_SECONDS = 120_000


@contextlib.contextmanager
def server(root: Path, home: Path, theme: str):
    """JupyterLab serving the course at `root`; yields its address."""
    shown = str(settings(home, theme))
    running = Jupyter("jupyterlab", root, home, "--LabApp.expose_app_in_browser=True",
                      JUPYTERLAB_SETTINGS_DIR=shown, GRADER_NO_STATE=None)  # fmt: skip
    try:
        yield running.url
    finally:
        running.end()


def settings(home: Path, theme: str) -> Path:
    """JupyterLab's settings: the theme, no news pop-up, every cell in the page at once."""
    folder = home / "settings"
    values = {
        "apputils-extension/themes": {"theme": THEMES[theme], "adaptive-theme": False},
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"windowingMode": "none"},
    }
    for name, value in values.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    return folder


class Notebook:
    """One open notebook: its cells by what they contain."""

    def __init__(self, page, url: str, path: str) -> None:
        self.page = page
        page.goto(f"{url}lab/tree/{path}?reset", wait_until="domcontentloaded")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=90_000)
        page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
            " === 'idle'",
            timeout=90_000,
        )

    def cell(self, text: str):
        """The first code cell with this text in its source."""
        return self.page.locator(".jp-CodeCell").filter(
            has=self.page.locator(".jp-InputArea-editor", has_text=text)
        ).first  # fmt: skip

    def run(self, text: str):
        """Runs that cell and waits until it is done; returns its output area."""
        cell = self.cell(text)
        cell.scroll_into_view_if_needed()
        cell.locator(".jp-InputArea-editor").click()
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
        self.idle()
        return cell.locator(".jp-Cell-outputArea")

    def run_above(self, text: str) -> None:
        """Runs every cell above that one, one by one, going on after errors."""
        before = self.page.evaluate(
            "text => window.jupyterapp.shell.currentWidget.content.widgets.findIndex("
            "w => w.model.type === 'code' && w.model.sharedModel.getSource().includes(text))",
            text,
        )
        for index in range(before):
            self.page.evaluate(
                "index => { const book = window.jupyterapp.shell.currentWidget.content;"
                " book.activeCellIndex = index; book.deselectAll();"
                " return window.jupyterapp.commands.execute('notebook:run-cell'); }",
                index,
            )
        self.idle()

    def idle(self) -> None:
        """Waits until no cell is running or waiting."""
        self.page.wait_for_timeout(200)
        self.page.wait_for_function(
            "() => ![...document.querySelectorAll('.jp-InputPrompt')]"
            ".some(p => p.textContent.includes('*'))",
            timeout=RUN_SECONDS,
        )

    def write(self, text: str, source: str) -> None:
        """Replaces the source of that cell."""
        self.cell(text).locator(".jp-InputArea-editor").click()
        self.page.evaluate(
            "source => window.jupyterapp.shell.currentWidget.content.activeCell.model"
            ".sharedModel.setSource(source)",
            source,
        )

    def insert_and_run(self, source: str):
        """Adds a cell below the active one and runs it; returns its output area."""
        execute = "name => window.jupyterapp.commands.execute(name)"
        self.page.evaluate(execute, "notebook:insert-cell-below")
        self.page.evaluate(
            "source => window.jupyterapp.shell.currentWidget.content.activeCell.model"
            ".sharedModel.setSource(source)",
            source,
        )
        self.page.evaluate(execute, "notebook:run-cell")
        self.idle()
        return self.page.locator(".jp-CodeCell.jp-mod-active .jp-Cell-outputArea")
