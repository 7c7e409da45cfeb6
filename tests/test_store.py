import numpy as np

from grader import store
from grader.build.data import data
from grader.contract import Either


def test_what_is_stored_comes_back(mini):
    chapter = mini.chapters[0]
    entries = store.Shelf(chapter.arrays, chapter.words)
    assert entries.probes == chapter.probes
    assert list(entries) == ["twice", "words", "square_grad", "counter"]
    terms, cases, key = entries["twice"]
    assert terms.mistakes[2].raises == "KeyError.*taken"
    assert cases[0].inputs["x"].dtype == np.float32
    assert np.allclose(key.truth["a matrix", "gradient:x"], 3 * cases[0].upstream)
    assert entries["words"][2].truth["the entries", "entry:round"] == "none"


def test_the_bytes_do_not_change_from_build_to_build(mini):
    assert data(mini.chapters[0]) == data(mini.chapters[0])


def test_none_words_and_alternatives_survive(mini, tmp_path):
    terms, cases, key = store.Shelf(mini.chapters[0].arrays, mini.chapters[0].words)["counter"]
    truth = {("n", "a"): None, ("n", "b"): Either(None, np.zeros(2)), ("n", "c"): ["x"]}
    kept = type(key)(truth, {})
    arrays, words = store.dump({"counter": (terms, cases, kept)}, "", "T", {})
    (tmp_path / "a.npz").write_bytes(arrays)
    (tmp_path / "a.json").write_bytes(words)
    back = store.Shelf(tmp_path / "a.npz", tmp_path / "a.json")["counter"][2].truth
    assert back["n", "a"] is None
    assert back["n", "b"].options[0] is None
    assert back["n", "b"].options[1].tolist() == [0, 0]
    assert back["n", "c"] == ["x"]


def test_a_shelf_knows_its_exercises_without_reading_an_array(mini, tmp_path):
    chapter = mini.chapters[0]
    shelf = store.Shelf(tmp_path / "none.npz", chapter.words)
    assert len(shelf) == 4
    assert "twice" in shelf
    assert store.mentions(chapter.words, "twice")
    assert not store.mentions(chapter.words, "thrice")
