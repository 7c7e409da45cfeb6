"""Work that takes too long is given up where there are alarms."""

import signal
import threading
import time

import pytest

from grader.engine.alarm import within

alarms = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms on this system")


@alarms
def test_what_takes_too_long_ends_and_the_alarm_is_off_again():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeoutError, match="so long"), within(0.05, "so long"):
        time.sleep(60)
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@alarms
def test_what_is_quick_enough_leaves_no_alarm_behind():
    """It would go off later, and end the process that knows nothing of it any more."""
    with within(60, "so long"):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_is_quick_enough_hears_nothing():
    with within(60, "so long"):
        done = True
    assert done


def test_another_thread_has_no_limit_and_no_error():
    ended = []

    def work():
        with within(0.01, "so long"):
            time.sleep(0.1)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]
