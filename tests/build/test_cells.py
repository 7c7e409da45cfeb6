import pytest

from grader.build.cells import notebook, points, starters
from grader.contract import Exercise
from grader.course import CourseError


def exercise(name, **parts):
    return Exercise(name, lambda rng: [], lambda case: {}, parts, ("a", "b"))


@pytest.mark.parametrize("weights", [(1, 1, 1), (5, 3, 1), (0.1, 50, 7), tuple(range(1, 40))])
def test_a_chapter_makes_100_points_and_every_part_at_least_one(weights):
    made = points({f"e{i}": exercise(f"e{i}", value=w) for i, w in enumerate(weights)})
    assert sum(made.values()) == 100
    assert min(made.values()) >= 1
    for i, weight in enumerate(weights):
        for j, other in enumerate(weights):
            assert weight <= other or made[f"e{i}", "value"] >= made[f"e{j}", "value"]


def test_answer_and_check_cells_get_what_nbgrader_needs(mini):
    chapter = mini.chapters[0]
    book = notebook(chapter, chapter.exercises())
    marked = {c.metadata.nbgrader.grade_id: c for c in book.cells if "nbgrader" in c.metadata}
    assert list(marked) == [
        "twice", "twice-value", "twice-gradient", "twice-robust", "words", "words-value",
        "square_grad", "square_grad-gradient", "square_grad-robust", "counter", "counter-value",
    ]  # fmt: skip
    answer, check = marked["twice"].metadata.nbgrader, marked["twice-gradient"].metadata.nbgrader
    assert (answer.solution, answer.grade, answer.locked) == (True, False, False)
    assert (check.solution, check.grade, check.locked) == (False, True, True)
    assert sum(c.metadata.nbgrader.get("points", 0) for c in marked.values()) == 100
    assert "fresh=True" in marked["twice-gradient"].source
    assert "partial_credit" in marked["words-value"].source


def test_cell_ids_are_unique_and_stay(mini):
    chapter = mini.chapters[0]
    ids = [[c.id for c in notebook(chapter, chapter.exercises()).cells] for _ in range(2)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(ids[0])


def test_starters_by_exercise(mini):
    given = starters(mini.chapters[0])
    assert given["twice"].endswith("return 2.0 * ____")
    assert "straight" not in given["twice"]
    assert given["counter"] == "def counter(n):\n    return ____"


def test_cells_and_contracts_must_match(mini):
    chapter = mini.chapters[0]
    exercises = chapter.exercises()
    with pytest.raises(CourseError, match=":answer: more` is missing"):
        notebook(chapter, exercises | {"more": exercise("more", value=1)})
    del exercises["counter"]
    with pytest.raises(CourseError, match="names 'counter'"):
        notebook(chapter, exercises)
