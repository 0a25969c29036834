"""seccomp: the kernel refuses system calls that no submission needs."""

from __future__ import annotations

import contextlib
import errno
import socket

from .namespaces import ALL as _NAMESPACES

_REFUSED = (
    # the file system
    *("mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "fsopen"),
    *("fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at"),
    *("quotactl", "quotactl_fd", "fanotify_init"),
    # other processes
    *("unshare", "setns", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp"),
    *("pidfd_getfd", "migrate_pages", "move_pages"),
    # the kernel
    *("add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "kexec_load"),
    *("kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff"),
    *("acct", "syslog", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname"),
    *("setdomainname", "iopl", "ioperm", "modify_ldt", "vhangup", "memfd_secret", "lookup_dcookie"),
    # shared memory and queues by number, which any process of the user could join
    *("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
)
_UNKNOWN = (  # said not to exist, so that callers take the older way, whose arguments a filter can see
    *("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"),
)
_X32, _X32_OWN = 1 << 30, range(512, 548)  # a second set of numbers for the same calls on x86-64


def restrict() -> list[str]:
    """Confine this process, and say what is in force.

    Raises OSError where the kernel has no seccomp, and ImportError without the library.
    """
    from seccompy import ArgCmp, CmpOp, Filter, arch, syscall_nr

    rules = Filter()
    for name in _REFUSED + _UNKNOWN:
        with contextlib.suppress(ValueError):  # this kind of processor has no such call
            number = syscall_nr(name)
            rules.errno(number, errno.ENOSYS if name in _UNKNOWN else errno.EPERM)
    for name in ("socket", "socketpair"):
        rules.errno(name, errno.EPERM, args=[ArgCmp(0, CmpOp.NE, socket.AF_UNIX)])
    rules.allow("clone", args=[ArgCmp(0, CmpOp.MASKED_EQ, 0, mask=_NAMESPACES)])
    rules.errno("clone", errno.EPERM)
    rules.errno("prlimit64", errno.EPERM, args=[ArgCmp(0, CmpOp.NE, 0)])  # limits of another process
    if arch() == "x86_64":
        names = (*_REFUSED, *_UNKNOWN, "socket", "socketpair", "clone", "prlimit64")
        for number in {*map(syscall_nr, names), *_X32_OWN}:
            rules.errno(_X32 | number, errno.ENOSYS)
    rules.load()
    _try_it()
    return ["seccomp"]


def _try_it() -> None:
    try:
        socket.socket(socket.AF_INET).close()
    except PermissionError:
        return
    raise OSError("seccomp lets a socket to the network be made, which it should not")
