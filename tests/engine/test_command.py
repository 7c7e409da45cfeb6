import os
import signal
import threading
import time

import pytest

from grader.engine import command


def test_both_streams_are_printed_as_a_terminal_shows_them(capsys):
    assert command.run("echo out; echo err >&2; exit 3") == 3
    assert capsys.readouterr() == ("out\r\nerr\r\n", "")


@pytest.mark.parametrize(("cmd", "status"), [("true", 0), ("exit 130", -2), ("kill -9 $$", -9)])
def test_a_signal_is_a_negative_status(cmd, status):
    assert command.run(cmd) == status


def test_a_letter_that_comes_in_two_pieces_is_whole(capsys):
    command.run(r"printf '\303'; sleep 0.3; printf '\251'")
    assert capsys.readouterr().out == "é"


def test_what_the_shell_says_last_is_printed_when_it_ends_between_two_looks(capsys, monkeypatch):
    looks = iter((False, True, True))  # too early, its words, its end

    def look(seconds):
        time.sleep(0.3)  # a busy machine: the shell speaks and ends meanwhile
        return next(looks)

    monkeypatch.setattr(command.waiting, "readable", lambda pipe: look)
    command.run("echo last")
    assert capsys.readouterr().out == "last\r\n"


def test_a_process_left_behind_is_not_waited_for(capsys):
    command.run("sleep 3600 & echo $!")
    os.kill(int(capsys.readouterr().out), signal.SIGKILL)


def test_an_interrupt_ends_the_command_and_not_the_cell():
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    assert command.run("exec sleep 3600") == -signal.SIGINT
    timer.join()
