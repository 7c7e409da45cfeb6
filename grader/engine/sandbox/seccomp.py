"""The list of system calls a submission may not make, compiled once to BPF by libseccomp.

A deny list, as TensorFlow, Python and its subprocesses need some 200 calls; the kernel's own
namespaces are the first fence and this narrows what is left of the kernel behind it. memfd_create
and shmget would hold memory that belongs to no process, and so to no limit.
Source: Docker's default profile (what it removes), seccomp(2), clone(2).
"""

from __future__ import annotations

import errno
import os
import socket

from grader.engine.sandbox import syscalls

DENIED = """
acct add_key bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module
fsconfig fsmount fsopen fspick get_mempolicy init_module io_uring_enter io_uring_register
io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl landlock_add_rule
landlock_create_ruleset landlock_restrict_self lookup_dcookie mbind memfd_create memfd_secret
migrate_pages mount mount_setattr move_mount move_pages name_to_handle_at nfsservctl
open_by_handle_at open_tree perf_event_open personality pidfd_getfd pivot_root process_madvise
process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key set_mempolicy
setdomainname sethostname setns settimeofday shmget stime swapoff swapon sysfs syslog umount
umount2 unshare uselib userfaultfd ustat vhangup
""".split()

NAMESPACES = (
    syscalls.CLONE_NEWNS | syscalls.CLONE_NEWUTS | syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUSER
    | syscalls.CLONE_NEWPID | syscalls.CLONE_NEWNET | syscalls.CLONE_NEWCGROUP
)  # fmt: skip
TIOCSTI, TIOCLINUX = 0x5412, 0x541C


def compile_filter(namespaced: bool) -> bytes:
    """BPF bytes. Without namespaces also connect() and the calls that escape a process group.

    Raises ImportError without pyseccomp, OSError without libseccomp.
    """
    import pyseccomp as scmp

    rules = scmp.SyscallFilter(scmp.ALLOW)
    denied = scmp.ERRNO(errno.EPERM)
    for name in [*DENIED, *([] if namespaced else ["connect", "setsid", "setpgid"])]:
        _add(scmp, rules, denied, name)
    _add(scmp, rules, scmp.ERRNO(errno.ENOSYS), "clone3")  # its flags cannot be read; libc goes on
    for bit in range(32):
        if NAMESPACES >> bit & 1:
            flag = 1 << bit
            _add(scmp, rules, denied, "clone", scmp.Arg(0, scmp.MASKED_EQ, flag, flag))
    refused = scmp.ERRNO(errno.EACCES)
    _add(scmp, rules, refused, "socket", scmp.Arg(0, scmp.NE, int(socket.AF_UNIX)))
    for request in (TIOCSTI, TIOCLINUX):
        _add(scmp, rules, denied, "ioctl", scmp.Arg(1, scmp.MASKED_EQ, 0xFFFFFFFF, request))
    with open(os.memfd_create("filter"), "w+b") as out:  # the zygote can write no file any more
        rules.export_bpf(out)
        out.seek(0)
        return out.read()


def _add(scmp, rules, action, name, *args) -> None:  # type: ignore[no-untyped-def]
    try:
        rules.add_rule(action, name, *args)
    except (OSError, ValueError, KeyError):
        if name in ("ptrace", "socket", "clone", "clone3", "unshare", "mount"):
            raise  # every other name may be unknown to an older libseccomp
