import gc
import json
import threading

import pytest

from grader.engine import boot


def test_nothing_looks_through_what_stays_while_it_is_loaded():
    with boot._oldest_left_alone():
        before = gc.get_stats()[2]["collections"]
        kept = [[] for _ in range(500_000)]  # enough for several full collections otherwise
        assert gc.get_stats()[2]["collections"] == before
    again = [[] for _ in range(500_000)]
    assert gc.get_stats()[2]["collections"] > before
    assert len(kept) == len(again)


def test_collections_are_as_usual_after_a_failed_start():
    usual = gc.get_threshold()
    with pytest.raises(KeyError), boot._oldest_left_alone():
        raise KeyError
    assert gc.get_threshold() == usual


def test_a_submission_collects_garbage_as_any_process_does(run):
    result = run("import gc, json; print(json.dumps([gc.isenabled(), gc.get_threshold()]))")
    assert json.loads(result.texts[0]) == [True, list(gc.get_threshold())]


def test_two_threads_are_not_forked():
    stay = threading.Event()
    other = threading.Thread(target=stay.wait, name="other")
    other.start()
    try:
        with pytest.raises(RuntimeError, match="other"):
            boot._assert_forkable(False)
    finally:
        stay.set()
        other.join()
