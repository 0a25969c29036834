"""The command that puts the process from which submissions are forked into bubblewrap."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import PurePath

from ..limits import Limits

SCRATCH = "/submission"  # inside; a name of its own, since many machines keep interpreters below /scratch
_NOBODY = "61184"  # the first of the users that systemd lends to services, and that nobody else is
_MISSING = "it is not installed (apt install bubblewrap)"


def wrapping(readable: Sequence[str]) -> list[str]:
    """The beginning of a command line, before the command to be wrapped; raises OSError without bubblewrap.

    Root's are begun by root, who may read the interpreter wherever it is, and go on as another user: for root
    itself the system does not limit the number of processes.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise OSError(_MISSING)
    root = os.geteuid() == 0
    return [
        program,
        *("--die-with-parent", "--new-session"),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"),
        *(("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID") if root else ("--unshare-user",)),
        *_files(readable),
        *("--proc", "/proc", "--dev", "/dev"),
        *_writable(SCRATCH),
        *_writable("/dev/shm"),
        *("--setenv", "TMPDIR", SCRATCH),  # torch's compiler, which torchvision imports, asks for one
        *("--remount-ro", "/", "--chdir", "/", "--"),
        *(("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--") if root else ()),
    ]


def version(program: str) -> str:
    """Such as "bubblewrap 0.8.0"."""
    return subprocess.check_output([program, "--version"], text=True).strip()


def _writable(folder: str) -> tuple[str, ...]:
    """Where a child cannot mount folders of its own, these are what it has."""
    return ("--perms", "1777", "--size", str(Limits.scratch_bytes), "--tmpfs", folder)


def _files(readable: Sequence[str]) -> list[str]:
    """Folders above what is seen can be passed through, whoever may pass through the real ones."""
    above = {str(one) for path in readable for one in PurePath(path).parents} - {"/"}
    arguments = [part for folder in sorted(above) for part in ("--dir", folder)]
    for path in readable:
        link = os.path.islink(path) and PurePath(path).parent == PurePath("/")  # /lib, which is usr/lib
        arguments += ["--symlink", os.readlink(path), path] if link else ["--ro-bind", path, path]
    return arguments
