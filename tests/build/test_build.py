import shutil

import nbformat
import numpy as np
import pytest

from grader import build
from grader.build.data import same_arrays
from grader.course import Course, CourseError


@pytest.fixture
def copy(mini, tmp_path):
    shutil.copytree(mini.root, tmp_path, dirs_exist_ok=True)
    return Course.find(tmp_path)


def test_a_fresh_build_has_nothing_to_do(copy):
    assert build.stale(copy, copy.chapters) == []
    assert build.build(copy, copy.chapters) == []


def test_two_builds_are_the_same_to_the_byte(copy):
    one, two = (build.made(copy.chapters[0]) for _ in range(2))
    assert one == two
    for path, data in one.items():
        assert path.read_bytes() == data


def test_a_change_makes_stale_what_it_touches_and_building_mends_it(copy):
    chapter = copy.chapters[0]
    chapter.source.write_text(chapter.source.read_text().replace("three times x", "3 x"))
    stale = build.stale(copy, copy.chapters)
    assert set(stale) == {chapter.solution, chapter.notebook, chapter.words}
    assert set(build.build(copy, copy.chapters)) == set(stale)
    assert build.stale(copy, copy.chapters) == []


def test_a_missing_file_is_stale(copy):
    copy.chapters[0].arrays.unlink()
    assert build.stale(copy, copy.chapters) == [copy.chapters[0].arrays]


def test_no_gradebook_is_touched(copy):
    build.made(copy.chapters[0])
    assert not (copy.root / "gradebook.db").exists()


def test_the_release_holds_starters_and_no_hidden_checks(copy):
    book = nbformat.read(copy.chapters[0].notebook, as_version=4)
    text = "\n".join(cell.source for cell in book.cells)
    assert "return 2.0 * ____" in text
    for secret in ("BEGIN", "fresh=True", "partial_credit", "straight", "STARTER"):
        assert secret not in text
    assert [p.name for p in copy.chapters[0].notebook.parent.iterdir()] == ["01_mini.ipynb"]


def test_the_last_bits_of_floats_are_no_difference(tmp_path):
    def saved(name, array):
        np.savez(tmp_path / name, a=array)
        return (tmp_path / name).read_bytes()

    one = saved("1.npz", np.array([1.0, 1e9]))
    assert same_arrays(one, saved("2.npz", np.array([1.0 + 1e-15, 1e9])))
    assert not same_arrays(one, saved("3.npz", np.array([1.0 + 1e-6, 1e9])))
    assert not same_arrays(one, saved("4.npz", np.array([1, 10**9])))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("            x = normal(", "            x = 1 / 0 + normal(", r"line \d+: twice: ZeroDivision"),
        ("lambda rng: list(cases(rng))", "lambda rng: None", "twice: cases must give a list"),
        ('lambda c: {"value": 2 *', 'lambda c: None and {"value": 2 *', "twice: truth must give"),
        ('lambda c: {"value": 2 *', 'lambda c: {"value": 1 / 0 *', r"line \d+: twice: ZeroDiv"),
        ('"gradient": 2, "robust": 1', '"gradient": "2"', "twice: the weight of part 'gradient'"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_a_reference_is_one_line(copy, old, new, said):
    path = copy.chapters[0].folder / "reference.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(CourseError, match=said) as caught:
        build.build(copy, copy.chapters)
    assert "solutions/01_mini/reference.py" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mark", ["### BEGIN SOLUTION", "### END SOLUTION"])
def test_a_missing_mark_names_the_file_and_the_exercise(copy, mark):
    source = copy.chapters[0].source
    source.write_text(source.read_text().replace(mark, "", 1))
    with pytest.raises(CourseError, match=r"01_mini\.md: twice: ### "):
        build.build(copy, copy.chapters)
