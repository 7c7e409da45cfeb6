from __future__ import annotations

import sys

import numpy as np
import pytest

from grader.plots.costs import cost_lines, measured


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read exactly on Linux only")
@pytest.mark.parametrize("mib", [40, 80])
def test_memory_of_a_large_array_is_seen(mib: int) -> None:
    _, seen = measured(lambda: np.ones(mib * 2**17))
    assert 0.9 * mib < seen < 1.3 * mib


def test_the_call_runs_twice_and_time_is_positive() -> None:
    runs = []
    seconds, _ = measured(lambda: runs.append(sum(range(10_000))))
    assert len(runs) == 2
    assert seconds > 0


def test_an_exception_comes_through_and_no_thread_stays() -> None:
    import threading

    before = threading.active_count()
    answers = iter([None])
    with pytest.raises(StopIteration):
        measured(lambda: next(answers))
    assert threading.active_count() == before


def test_memory_and_time_over_the_sizes() -> None:
    costs = {"full": [(0.001, 1.0), (0.004, 4.0)], "blocks": [(0.001, 1.0), (0.002, 2.0)]}
    picture = cost_lines("Costs", costs, [10, 20], x="batch", looks={"full": "wrong"})
    memory, time = picture._figure.axes
    assert (memory.get_ylabel(), time.get_ylabel()) == ("memory, MiB", "time, ms")
    np.testing.assert_allclose(memory.get_lines()[0].get_ydata(), [1.0, 4.0])
    np.testing.assert_allclose(time.get_lines()[1].get_ydata(), [1.0, 2.0])
    np.testing.assert_allclose(time.get_lines()[1].get_xdata(), [10, 20])
