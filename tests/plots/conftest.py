"""Functions to draw, and a browser that does not reach the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="session")
def binarize(tf: Any) -> Callable[[Any], Any]:
    """Sign forward, hard-tanh backward, as chapter 03 asks for it."""

    @tf.custom_gradient
    def hard_tanh_sign(x: Any) -> Any:
        return tf.sign(x), lambda g: g * tf.cast(tf.abs(x) <= 1.0, x.dtype)

    return hard_tanh_sign


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 900, "height": 800})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda request: errors.append(request.url) if _leaves(request.url) else 0)
    yield opened
    opened.close()
    assert errors == []


def _leaves(url: str) -> bool:
    return url.startswith(("http:", "https:", "ws:", "wss:"))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)
