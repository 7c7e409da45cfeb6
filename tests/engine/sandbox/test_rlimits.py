"""What the kernel counts for each process is what the configuration says."""

NAMES = ("FSIZE", "NOFILE", "CPU", "DATA", "CORE", "MEMLOCK", "MSGQUEUE")
ASKS = f"import resource as r\n[r.getrlimit(getattr(r, f'RLIMIT_{{n}}')) for n in {NAMES}]"


def test_every_limit_is_set_and_cannot_be_raised(run):
    given = {"file": 3 << 20, "files": 99, "cpu": 77, "memory": 1 << 31}
    result = run(ASKS, **given)
    assert eval(result.texts[0]) == [(most, most) for most in (*given.values(), 0, 0, 0)]


def test_it_is_the_first_to_go_where_the_machine_has_no_memory_left(run):
    assert run("open('/proc/self/oom_score_adj').read()").texts == [repr("1000\n")]
