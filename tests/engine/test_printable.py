import pytest

from grader.engine.printable import printable


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("two\n lines\tand more ", "two lines and more"),
        ("\x1b[2Jcleared\x07", "\\x1b[2Jcleared\\x07"),
        ("m\udcff", "m\\udcff"),
        ("abc\u202edcba", "abc\\u202edcba"),
        ("日本 é 😀", "日本 é 😀"),
        (ValueError("why"), "why"),
    ],
)
def test_what_steers_a_terminal_is_spelled_out(text, said):
    assert printable(text) == said
    assert printable(said) == said  # again changes nothing


def test_a_long_text_is_cut():
    assert printable("x" * 1000) == "x" * 299 + "…"
    assert len(printable("\x1b" * 1000)) == 300
    assert printable("abcdef", 4) == "abc…"
