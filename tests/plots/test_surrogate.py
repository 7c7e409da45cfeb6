from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

import grader.plots as plots


@pytest.mark.parametrize("small", [True, False])
def test_the_word_draws_what_it_says(small: bool, binarize: Callable[[Any], Any]) -> None:
    picture = plots.surrogate_card(binarize, title="Sign, hard-tanh", small=small)
    assert picture.alt.startswith("Sign, hard-tanh. For x from −2.5 to 2.5.")
    assert "lies between 0 and 1" in picture.alt
    with Image.open(io.BytesIO(picture.png)) as image:
        assert image.format == "PNG"


def test_the_title_is_the_functions_name(tf: Any) -> None:
    assert plots.surrogate_card(tf.floor).title == "Surrogate card: floor"
    assert plots.surrogate_card(lambda x: x).title == "Surrogate card"


def test_every_word_of_the_package_is_there() -> None:
    for name in plots.__all__:
        assert callable(getattr(plots, name)), name
    # Again, now that every module is imported: none may hide a function of its name.
    assert all(isinstance(getattr(plots, name), Callable) for name in dir(plots))
    with pytest.raises(AttributeError, match="has no 'nothing'; it has Card,"):
        _ = plots.nothing
