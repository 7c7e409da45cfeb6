"""Predict first: commit to what a gradient will be, then see it."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from . import display, state, words
from .calling import word
from .course import CourseError
from .display.report import Report, short
from .oneline import OneLine
from .placeholder import Blank, ____
from .probe.failure import of_exception
from .probe.outcome import Outcome, of
from .quiet import quiet

CHOICES = ("none", "zero", "number", "nan", "error")
NOTHING = {"text/html": "", "text/plain": ""}  # an output that takes no room


class NoSuchGuess(OneLine, ValueError):
    """A guess that is none of the words."""


@word
def predict(name: str, run: Callable[[], Any], guess: Any = ____, because: str = "") -> None:
    """Runs `run` once a guess is made, and shows guess and truth side by side.

    name: a short name, unique in the course. run: makes the gradient (a tensor, None, or raises).
    guess: one of "none", "zero", "number", "nan", "error"; while it is `____` the choices are shown
    and nothing runs. because: why it is so, shown with the truth; by default what data/ says under
    this name. The guess is remembered for `progress()`. Raises NoSuchGuess, a ValueError, for a
    guess that is none of the words.
    """
    if isinstance(guess, Blank):
        _ask(name, run, because)
        return
    word = "none" if guess is None else str(guess).strip().lower()
    if word not in CHOICES:
        raise NoSuchGuess(words.NO_SUCH_GUESS.format(guess=guess, choices=", ".join(CHOICES)))
    display.show(revealed(name, run, word, because))


def revealed(name: str, run: Callable[[], Any], guess: str, because: str) -> Report:
    """Runs, remembers, and says both."""
    outcome = observe(run)
    truth = classify(outcome)
    right = guess == truth
    _remember(name, guess, truth)
    rows = ((words.GUESS, guess), (words.TRUTH, f"{truth}{_detail(outcome)}"))
    headline = words.PREDICTED if right else words.MISPREDICTED
    because = because or _reason(name)
    says = (because,) if because else ()
    return Report(name, "pass" if right else "fail", headline, says, rows)


def _reason(name: str) -> str:
    """What the course's data/ says of this prediction; empty where there is no course."""
    from . import checking, store

    try:
        return store.reason(checking.data_root() / "data", name)
    except (CourseError, OSError):
        return ""


def observe(run: Callable[[], Any]) -> Outcome:
    """What running gives, an exception included."""
    try:
        with quiet():
            return of(run())
    except Exception as error:
        return of_exception(error)


def classify(outcome: Outcome) -> str:
    """The word for an outcome."""
    if outcome.kind in ("none", "error"):
        return outcome.kind
    if outcome.array is None:
        return "number" if outcome.kind == "word" else "error"
    array = outcome.array.astype(np.float64)
    if np.isnan(array).any():
        return "nan"
    return "number" if np.any(array) else "zero"


def _detail(outcome: Outcome) -> str:
    if outcome.kind == "error":
        return f" ({outcome.detail.get('type')}: {outcome.text})"
    return f" ({short(outcome.array)})" if outcome.array is not None else ""


def _remember(name: str, guess: str, truth: str) -> None:
    """The first guess counts: later ones are made knowing the truth."""
    row = {"guess": guess, "truth": truth}
    state.update(lambda s: s["predictions"].setdefault(name, row) and None)


def _ask(name: str, run: Callable[[], Any], because: str) -> None:
    """Shows the choices: as buttons where a browser listens, as words everywhere."""
    choices = ", ".join(f'"{choice}"' for choice in CHOICES)
    says = (words.COMMIT.format(choices=choices),)
    asked = Report(name, "unattempted", words.PREDICT_FIRST, says)
    if display.in_notebook():
        _buttons(asked, lambda guess: revealed(name, run, guess, because))
    else:
        display.show(asked)


def _buttons(asked: Report, answered: Callable[[str], Report]) -> None:
    """The card with a row of buttons; a click puts the answer in the card's place.

    The answer is an output of the cell and no widget: it is still there in the saved notebook.
    Buttons are not, so the row says instead what to do, wherever it cannot be drawn.
    """
    import ipywidgets as widgets
    from IPython.display import display as show

    buttons = [widgets.Button(description=choice) for choice in CHOICES]
    row = widgets.HBox([widgets.Label(words.OR_CHOOSE), *buttons])

    def chosen(button: Any) -> None:
        for each in buttons:
            each.disabled = True  # one guess is all there is
        printed = io.StringIO()  # a click belongs to no cell: nobody would see it
        with redirect_stdout(printed):
            answer = answered(button.description)
        card.update(display.bundle(answer), raw=True)
        text = printed.getvalue()
        below.update({"text/plain": text} if text else NOTHING, raw=True)
        row.close()

    for button in buttons:
        button.on_click(chosen)
    card = show(display.asking(asked), raw=True, display_id=True)
    drawn = row._repr_mimebundle_() | {"text/plain": words.RUN_AGAIN}
    below = show(drawn, raw=True, display_id=True)
