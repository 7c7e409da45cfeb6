"""Text of a submission's making (names, reasons, notes) as one short line that any screen shows."""

from __future__ import annotations

MOST = 300
JOINERS = "\u200c\u200d"  # part of names in several scripts, and harmless


def printable(text: object, most: int = MOST) -> str:
    """`text` on one line of at most `most` characters; what steers a terminal, or is no character
    at all (a lone surrogate from an undecodable file name), is spelled out."""
    words = " ".join(str(text)[: 4 * most].split())
    said = "".join(c if c.isprintable() or c in JOINERS else _spelled(c) for c in words)
    return said if len(said) <= most else said[: most - 1] + "…"


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
