"""The list of system calls a submission may not make, compiled once to BPF by libseccomp.

A deny list, as TensorFlow, Python and its subprocesses need some 200 calls; the kernel's own
namespaces are the first fence and this narrows what is left of the kernel behind it. memfd_create,
shmget, semget and msgget would hold memory that belongs to no process, and so to no limit. setsid
would give each process a part of its own of the processor (sched(7), autogroups), the neighbours'.
Source: Docker's default profile (what it removes), seccomp(2), clone(2).
"""

from __future__ import annotations

import ctypes.util
import errno
import os
import socket

from grader.engine.sandbox import syscalls

DENIED = """
acct add_key bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module
fsconfig fsmount fsopen fspick get_mempolicy init_module io_uring_enter io_uring_register
io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl landlock_add_rule
landlock_create_ruleset landlock_restrict_self lookup_dcookie mbind memfd_create memfd_secret
migrate_pages mount mount_setattr move_mount move_pages msgget name_to_handle_at nfsservctl
open_by_handle_at open_tree perf_event_open personality pidfd_getfd pivot_root process_madvise
process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key semget
set_mempolicy setdomainname sethostname setns setsid settimeofday shmget stime swapoff swapon
sysfs syslog umount umount2 unshare uselib userfaultfd ustat vhangup
""".split()

# Without namespaces: ways to what is outside, and to the owner's files there, that Landlock leaves
# open.
OUTWARDS = """
chown chown32 connect fchown fchown32 fchownat inotify_add_watch lchown lchown32 setpgid
""".split()
# As on a disk that has no such attributes: cp -p and shutil.copy2 know that and go on.
ATTRIBUTES = """
fremovexattr fsetxattr lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat
""".split()
# These say yes and do nothing: shutil.copy2 and tarfile need the yes, and no filter sees whose file
# it is, which might be the gradebook.
PRETENDED = """
chmod fchmod fchmodat fchmodat2 futimesat utime utimensat utimensat_time64 utimes
""".split()
# Allowed without namespaces where these arguments are as here: for the calling process alone.
ITSELF = {
    "prlimit64": {0: 0}, "sched_setaffinity": {0: 0}, "sched_setattr": {0: 0},
    "sched_setparam": {0: 0}, "sched_setscheduler": {0: 0}, "setpriority": {0: 0, 1: 0},
    "ioprio_set": {0: 1, 1: 0},
}  # fmt: skip
LOW = 0xFFFFFFFF  # the part of an argument that the kernel looks at
KINDS = 0xF  # of a socket's type, without its flags
DATAGRAM, RAW = 2, 3  # of Unix sockets, whose sendmsg takes any path; the same in the kernel

NAMESPACES = (
    syscalls.CLONE_NEWNS | syscalls.CLONE_NEWUTS | syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUSER
    | syscalls.CLONE_NEWPID | syscalls.CLONE_NEWNET | syscalls.CLONE_NEWCGROUP
)  # fmt: skip
TIOCSTI, TIOCLINUX, F_SETLEASE = 0x5412, 0x541C, 1024
# A lease on a file of the course would hold up all who open it.
OPTIONS = (("ioctl", 1, TIOCSTI), ("ioctl", 1, TIOCLINUX), ("fcntl", 1, F_SETLEASE),
           ("prctl", 0, syscalls.PR_SET_PDEATHSIG))  # fmt: skip


def compile_filter(namespaced: bool) -> bytes:
    """BPF bytes. Without namespaces also what reaches other processes and other files.

    Raises ImportError without pyseccomp, OSError without libseccomp.
    """
    scmp = _bindings()
    rules = scmp.SyscallFilter(scmp.ALLOW)
    denied = scmp.ERRNO(errno.EPERM)
    for name in DENIED:
        _add(scmp, rules, denied, name)
    _add(scmp, rules, scmp.ERRNO(errno.ENOSYS), "clone3")  # its flags cannot be read; libc goes on
    for bit in range(32):
        if NAMESPACES >> bit & 1:
            flag = 1 << bit
            _add(scmp, rules, denied, "clone", scmp.Arg(0, scmp.MASKED_EQ, flag, flag))
    refused = scmp.ERRNO(errno.EACCES)
    _add(scmp, rules, refused, "socket", scmp.Arg(0, scmp.NE, int(socket.AF_UNIX)))
    for name, at, option in OPTIONS:
        _add(scmp, rules, denied, name, scmp.Arg(at, scmp.MASKED_EQ, LOW, option))
    if not namespaced:
        _stay_inside(scmp, rules)
    with open(os.memfd_create("filter"), "w+b") as out:  # the zygote can write no file any more
        rules.export_bpf(out)
        out.seek(0)
        return out.read()


def _bindings():  # type: ignore[no-untyped-def]
    """pyseccomp asks another program where the library is, which can fail on a busy machine."""
    found = ctypes.util.find_library
    ctypes.util.find_library = lambda name: found(name) or f"lib{name}.so.2"
    try:
        import pyseccomp
    finally:
        ctypes.util.find_library = found
    return pyseccomp


def _stay_inside(scmp, rules) -> None:  # type: ignore[no-untyped-def]
    """What namespaces would do, as far as a filter can tell."""
    denied, refused = scmp.ERRNO(errno.EPERM), scmp.ERRNO(errno.EACCES)
    for name in OUTWARDS:
        _add(scmp, rules, denied, name)
    for name in ATTRIBUTES:
        _add(scmp, rules, scmp.ERRNO(errno.ENOTSUP), name)
    for name in PRETENDED:
        _add(scmp, rules, scmp.ERRNO(0), name)
    for name, wanted in ITSELF.items():
        for at, value in wanted.items():
            _add(scmp, rules, denied, name, scmp.Arg(at, scmp.NE, value))
    for kind in (DATAGRAM, RAW):
        for name in ("socket", "socketpair"):
            _add(scmp, rules, refused, name, scmp.Arg(1, scmp.MASKED_EQ, KINDS, kind))


def _add(scmp, rules, action, name, *args) -> None:  # type: ignore[no-untyped-def]
    try:
        rules.add_rule(action, name, *args)
    except (OSError, ValueError, KeyError):
        if name in ("ptrace", "socket", "clone", "clone3", "unshare", "mount"):
            raise  # every other name may be unknown to an older libseccomp
