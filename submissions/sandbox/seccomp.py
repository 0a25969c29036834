"""seccomp: the kernel refuses system calls that no submission needs."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import socket
from typing import TYPE_CHECKING

from .namespaces import ALL as _NAMESPACES

if TYPE_CHECKING:
    from seccompy import Filter

_REFUSED = (
    # the file system
    *("mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "fsopen"),
    *("fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at"),
    *("quotactl", "quotactl_fd"),
    # what others do with the files that all share, and flags of these that an owner may set
    *("fanotify_init", "inotify_init", "inotify_init1", "file_setattr"),
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
_UNKNOWN = (  # said not to exist, so that callers take the older way, which a filter or limits can see
    *("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_create"),
)
# What follows answers that it is done, and does nothing. A lock is for others, of which there are none: on a
# library it would tell those that run at the same time something.
_LOCKS = ("F_SETLK", "F_SETLKW", "F_OFD_SETLK", "F_OFD_SETLKW")
# What an owner may change of files that are not open to writing: Landlock has nothing against it.
_METADATA = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
)
_SET_FLAGS = (0x40086602, 0x401C5820)  # FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR of ioctl(2), the same for them
_HUGE_PAGES = 0x40000  # MAP_HUGETLB of mmap(2): from a pool that no limit on memory counts
_X32, _X32_OWN = 1 << 30, range(512, 548)  # a second set of numbers for the same calls on x86-64


def restrict(writable_alone: bool) -> list[str]:
    """Confine this process, and say what is in force.

    ``writable_alone`` says that it can reach no file system that is open to writing but its own. Raises
    OSError where the kernel has no seccomp, and ImportError without the library.
    """
    from seccompy import ArgCmp, CmpOp, Filter, arch, syscall_nr

    rules = Filter()
    pretended = ("flock", *(() if writable_alone else _METADATA))
    for name in _REFUSED + _UNKNOWN + pretended:
        answer = errno.ENOSYS if name in _UNKNOWN else 0 if name in pretended else errno.EPERM
        with contextlib.suppress(ValueError):  # this kind of processor has no such call
            rules.errno(syscall_nr(name), answer)
    for name in ("socket", "socketpair"):
        rules.errno(name, errno.EPERM, args=[ArgCmp(0, CmpOp.NE, socket.AF_UNIX)])
    rules.allow("clone", args=[ArgCmp(0, CmpOp.MASKED_EQ, 0, mask=_NAMESPACES)])
    rules.errno("clone", errno.EPERM)
    rules.errno("prlimit64", errno.EPERM, args=[ArgCmp(0, CmpOp.NE, 0)])  # limits of another process
    huge = ArgCmp(3, CmpOp.MASKED_EQ, _HUGE_PAGES, mask=_HUGE_PAGES)
    rules.errno("mmap", errno.ENOMEM, args=[huge])
    _restrict_by_command(rules)
    if arch() == "x86_64":
        names = (*_REFUSED, *_UNKNOWN, *pretended, "socket", "socketpair", "clone", "prlimit64", "mmap")
        for number in {*map(syscall_nr, (*names, "fcntl", "ioctl")), *_X32_OWN}:
            rules.errno(_X32 | number, errno.ENOSYS)
    rules.load()
    _try_it()
    return ["seccomp"]


def _restrict_by_command(rules: Filter) -> None:
    from seccompy import ArgCmp, CmpOp

    for name in _LOCKS:
        rules.errno("fcntl", 0, args=[ArgCmp(1, CmpOp.EQ, getattr(fcntl, name))])
    for name in ("F_SETLEASE", "F_NOTIFY", "F_SETPIPE_SZ"):  # a larger pipe is memory that nothing counts
        rules.errno("fcntl", errno.EPERM, args=[ArgCmp(1, CmpOp.EQ, getattr(fcntl, name))])
    for command in _SET_FLAGS:
        rules.errno("ioctl", errno.EPERM, args=[ArgCmp(1, CmpOp.EQ, command)])


def _try_it() -> None:
    try:
        socket.socket(socket.AF_INET).close()
    except PermissionError:
        return
    raise OSError("seccomp lets a socket to the network be made, which it should not")
