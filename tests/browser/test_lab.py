"""What a learner sees: a chapter in the real JupyterLab, in both themes."""

import re
import shutil
from pathlib import Path

import pytest

from grader.course import Course
from grader.grading.demo import choices

from . import lab

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "03_gradient_override_map"
EXERCISE = "binarize"

pytestmark = pytest.mark.browser


@pytest.fixture(params=["light", "dark"])
def notebook(request, browser, tmp_path):
    course = tmp_path / "course"
    for name in ("notebooks", "data"):
        shutil.copytree(ROOT / name, course / name)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    home = tmp_path / "home"
    home.mkdir()
    with lab.server(course, home, request.param) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        opened = lab.Notebook(page, url, f"notebooks/{CHAPTER}/{CHAPTER}.ipynb")
        opened.shots = shots(request.param)
        yield opened
        page.close()


def shots(theme):
    folder = ROOT / ".pytest_cache" / "screenshots" / theme
    folder.mkdir(parents=True, exist_ok=True)

    def take(name, place):
        place.screenshot(path=folder / f"{name}.png")

    return take


def contrast(page, selector):
    """The contrast of an element's text against what is behind it, by the WCAG formula."""
    colours = page.evaluate(
        """selector => {
            const element = document.querySelector(selector);
            let behind = element, back = 'rgba(0, 0, 0, 0)';
            while (behind && /, 0\\)$/.test(back)) {
                back = getComputedStyle(behind).backgroundColor; behind = behind.parentElement;
            }
            return [getComputedStyle(element).color, back];
        }""",
        selector,
    )
    lights = [luminance([int(n) for n in re.findall(r"\d+", colour)[:3]]) for colour in colours]
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def luminance(rgb):
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def drawn(card):
    """All that the card's pictures hold."""
    return card.locator("svg").evaluate_all("all => all.map(one => one.outerHTML).join()")


def test_a_learner_fails_fills_in_and_passes(notebook):
    page = notebook.page
    notebook.run_above(f"def {EXERCISE}(")
    notebook.run(f"def {EXERCISE}(")
    untouched = notebook.run(f'check("{EXERCISE}", {EXERCISE}, part="gradient")')
    assert "Not attempted yet." in untouched.inner_text()

    answers = choices(Course.find(ROOT).chapter(CHAPTER))[EXERCISE]
    notebook.write(f"def {EXERCISE}(", answers["unclipped"].strip())
    notebook.run(f"def {EXERCISE}(")
    failed = notebook.run(f'check("{EXERCISE}", {EXERCISE}, part="gradient")')
    said = failed.inner_text()
    assert "unclipped" in said
    assert "worst element" in said
    assert failed.locator(".picture svg").count() >= 1
    for place in (".grader-report p", ".grader-report dt", ".grader-report .mark"):
        assert contrast(page, place) >= 4.5, place
    notebook.shots("fails", failed)

    notebook.write(f"def {EXERCISE}(", answers["the solution"].strip())
    notebook.run(f"def {EXERCISE}(")
    passed = notebook.run(f'check("{EXERCISE}", {EXERCISE}, part="gradient")')
    assert "Right." in passed.inner_text()
    assert "CheckFailed" not in passed.inner_text()
    notebook.shots("passes", passed)

    progress = notebook.insert_and_run("from grader import progress\nprogress()")
    assert EXERCISE in progress.inner_text()
    assert contrast(page, ".grader-map .name") >= 4.5
    notebook.shots("map", progress)

    card = notebook.insert_and_run("from grader import plots\nplots.interactive('noise width')")
    before = drawn(card)
    slider = card.locator("input[type=range]").first
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    assert drawn(card) != before
    notebook.shots("slider", card)
    notebook.shots("page", page)
