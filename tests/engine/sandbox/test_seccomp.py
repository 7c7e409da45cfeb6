"""The filter refuses what it names before the kernel looks at arguments that nobody takes."""

import errno
import os

import pytest

# Without the filter each of these has another answer, or is at least not refused by name.
NUMBERS = {
    "add_key": 248, "bpf": 321, "chroot": 161, "clock_adjtime": 305, "clock_settime": 227,
    "finit_module": 313, "fsconfig": 431, "fsopen": 430, "get_mempolicy": 239, "init_module": 175,
    "io_uring_enter": 426, "io_uring_register": 427, "io_uring_setup": 425, "ioperm": 173,
    "iopl": 172, "kcmp": 312, "kexec_file_load": 320, "kexec_load": 246, "keyctl": 250,
    "landlock_add_rule": 445, "landlock_create_ruleset": 444, "lookup_dcookie": 212, "mbind": 237,
    "memfd_create": 319, "memfd_secret": 447, "migrate_pages": 256, "mount": 165,
    "mount_setattr": 442, "move_mount": 429, "move_pages": 279, "msgget": 68,
    "name_to_handle_at": 303, "nfsservctl": 180, "open_by_handle_at": 304, "open_tree": 428,
    "perf_event_open": 298, "personality": 135, "pidfd_getfd": 438, "pivot_root": 155,
    "process_madvise": 440, "process_vm_readv": 310, "process_vm_writev": 311, "ptrace": 101,
    "quotactl": 179, "quotactl_fd": 443, "request_key": 249, "semget": 64, "set_mempolicy": 238,
    "setns": 308, "setsid": 112, "settimeofday": 164, "shmget": 29, "swapon": 167, "sysfs": 139,
    "syslog": 103, "umount2": 166, "unshare": 272, "uselib": 134, "userfaultfd": 323, "ustat": 136,
}  # fmt: skip
CALLS = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(number, *arguments):
    ctypes.set_errno(0)
    return libc.syscall(number, *map(ctypes.c_long, arguments)) < 0 and ctypes.get_errno()
{{name: errno_of(number, *[-1] * 6) for name, number in {NUMBERS}.items()}}
"""
# CLONE_NEWUSER, the only one that takes no capability, and SIGCHLD; should it be allowed after all,
# the new process ends at once.
CLONE = """
import os
pid = libc.syscall(56, ctypes.c_long(1 << 28 | 17), 0, 0, 0, 0)
if pid == 0: os._exit(0)
print(pid, ctypes.get_errno())
"""
pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86-64")


def test_every_call_on_the_list_is_refused(run):
    result = run(CALLS)
    refused = dict.fromkeys(NUMBERS, errno.EPERM)
    assert eval(result.texts[0]) == refused


def test_no_clone_makes_a_namespace_and_clone3_is_not_there(run):
    result = run(CALLS, CLONE, "errno_of(435, 0, 0)")
    assert result.texts[1:] == [f"-1 {errno.EPERM}\n", str(errno.ENOSYS)]


def test_nothing_is_typed_into_a_terminal(run):
    """On what is none the kernel itself would say ENOTTY."""
    typed = "import fcntl; fcntl.ioctl(0, {}, b'x')"
    result = run(*(typed.format(request) for request in (0x5412, 0x541C)))
    assert [text[:29] for text in result.texts] == ["PermissionError: [Errno 1] Op"] * 2
