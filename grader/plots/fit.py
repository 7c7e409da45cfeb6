"""Titles that fit their picture."""

from __future__ import annotations


def wide(text: str, size: float = 11.0) -> float:
    """The width of a line of text in inches, without drawing it."""
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0  # TextPath fails on nothing to draw
    return float(TextPath((0, 0), text, size=size).get_extents().width) / 72


def wrapped(text: str, inches: float, size: float = 11.0) -> str:
    """The text with line breaks, so that no line is wider than ``inches``; words stay whole."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and wide(longer, size) > inches:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)
