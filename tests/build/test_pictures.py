import io
import struct

import pytest

from grader.build.pictures import BEGIN, END, _small, table, with_table
from grader.course import CourseError

PLAN = '[01_mini]\nquestion = "Why?"\nminutes = 5\nalt = "a curve"\n'


@pytest.fixture
def course(mini):
    path = mini.root / "solutions" / "curriculum.toml"
    path.write_text(PLAN)
    yield mini
    path.unlink()


def test_the_table_names_every_chapter_with_its_question(course):
    row = table(course).splitlines()[2]
    assert "[01 A small course for tests](notebooks/01_mini/01_mini.ipynb) | Why? | 4 | 5 |" in row


def test_the_table_goes_between_its_marks_and_nothing_else_changes(course):
    made = with_table(f"before\n{BEGIN}\nold\n{END}\nafter\n", course)
    assert made.startswith(f"before\n{BEGIN}\n|")
    assert made.endswith(f"{END}\nafter\n")
    assert "old" not in made
    assert with_table(made, course) == made


def test_a_readme_without_marks_is_refused(course):
    with pytest.raises(CourseError, match=r"README\.md needs the lines"):
        with_table("nothing", course)


def test_a_thumbnail_is_320_pixels_wide():
    from PIL import Image

    big = io.BytesIO()
    Image.new("RGB", (640, 200), "white").save(big, format="PNG")
    small = _small(big.getvalue())
    assert struct.unpack(">II", small[16:24]) == (320, 100)
