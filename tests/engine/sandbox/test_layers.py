"""What a layer takes away is gone, also where another layer stands before it."""

import os
import sys
from pathlib import Path

import pytest

from grader.engine.host import wait_ready
from grader.engine.limits import MIB, Limits
from grader.engine.processes import outer_pid


@pytest.fixture
def full(run, all_on):
    """Runs cells, where the host offers a full sandbox."""

    def full(*cells, **limits):
        result = run(*cells, **limits)
        all_on(result.layers)
        return result

    return full


def test_what_it_may_read_is_mounted_read_only_and_nothing_gives_it_rights(full):
    places = ("/", "/usr", "/course/data", sys.prefix)
    asks = f"import os\n[os.statvfs(place).f_flag & 3 for place in {places}]"
    assert eval(full(asks).texts[0]) == [os.ST_RDONLY | os.ST_NOSUID] * len(places)


def test_all_its_files_together_have_a_limit(full):
    write = "open('{}', 'wb').write(b'x' * (6 << 20))"
    result = full(write.format("a"), write.format("b"), scratch=8 * MIB)
    assert result.texts[0] == str(6 * MIB)
    assert "[Errno 28]" in result.texts[1]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root changes users"
)
def test_of_root_neither_user_nor_group_is_left(full):
    (uids, gids, groups) = eval(
        full("import os\nos.getresuid(), os.getresgid(), os.getgroups()").texts[0]
    )
    assert 0 not in (*uids, *gids)
    assert len({*uids, *gids}) == 1
    assert groups == []


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root changes users"
)
def test_no_two_children_are_the_same_user(zygote):
    children = [zygote.spawn(Limits()) for _ in range(2)]
    try:
        for child in children:
            wait_ready(child, Limits())
        users = {Path(f"/proc/{outer_pid(child.pidfd)}").stat().st_uid for child in children}
        assert len(users) == 2
        assert 0 not in users
    finally:
        for child in children:
            child.kill()
