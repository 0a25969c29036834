"""How much a submission may use, and why just that much. Imports no torch."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True)
class Limits:
    """What one submission may use, in seconds and bytes."""

    import_seconds: float = 20  # and until a model is built: the largest library takes 2 s on a slow core
    request_seconds: float = 10  # a forward pass at grading sizes takes milliseconds
    submission_seconds: float = 120  # all requests together
    large_times: float = 6  # as long for passes at the size of ViT-B/16, if a model's code fixes it: 7 s each
    cpu_seconds: int = 720  # of each process: a second net under the wall clock, where all passes are large
    memory_bytes: int = 4 << 30  # all processes, beyond the libraries; a ViT-B/16 in float64 is 0.7 GB
    file_bytes: int = 64 << 20  # each file in the scratch folder
    scratch_bytes: int = 64 << 20  # all of them, and again what its processes share as files in memory
    open_files: int = 64  # enough for a DataLoader with two workers
    processes: int = 64  # with threads, where the system counts them; killing them all takes half a second
    printed_bytes_kept: int = 64 << 10  # for the report; the rest is dropped
    printed_bytes: int = 16 << 20  # a forgotten print of a tensor fits, an endless loop does not
    judge_seconds: float = 180  # processor time of the grader itself; a usual submission takes two
    judge_bytes: int = 8 << 30  # memory of the grader itself: usually 1 GB, 7 where the code fixes ViT-B/16

    def seconds_for(self, request: str, times: float) -> float:
        begins = request in (
            "load",
            "infer",
            "components",
        )  # a ViT-B with a table that is filled number by number takes 8 s
        return self.import_seconds if begins else self.request_seconds * times


@dataclass(frozen=True)
class FrameLimits:
    """What one frame on the wire may hold; checked before anything is allocated."""

    header_bytes: int = 8 << 20  # of JSON, and again of the list of tensors
    text_characters: int = 20_000  # of each text in it; the longest are messages, cut at half of that
    body_bytes: int = 256 << 20  # a trace of a small ViT takes 2.5 MB, one fixed at 224 pixels 70
    tensors: int = 8192
    name_characters: int = 512
    rank: int = 8
    dimension: int = 1 << 28  # a full-size pass is sent as one flat tensor; body_bytes bounds it first


def apply(limits: Limits) -> list[str]:
    """Bind this process and its descendants to ``limits``; the answer names those in force.

    Those that this system does not have are left out of the answer. For POSIX systems only.
    """
    import resource

    size = _size()  # torch alone maps gigabytes, so the limit is relative
    cpu = limits.cpu_seconds
    wanted = (  # soft and hard: the soft one on processor time ends in SIGXCPU, which tells it from a kill
        ("memory", resource.RLIMIT_AS, size + limits.memory_bytes, size + limits.memory_bytes),
        ("processor time", resource.RLIMIT_CPU, cpu, cpu + 1),
        ("file size", resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        ("open files", resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        ("locked memory", resource.RLIMIT_MEMLOCK, 0, 0),
        ("core files", resource.RLIMIT_CORE, 0, 0),
    )
    return [f"{name} limit" for name, kind, soft, hard in wanted if _limit(kind, soft, hard)]


def _size() -> int:
    """Bytes of address space. In a namespace this process has another number than in a /proc from outside."""
    itself = Path("/proc/self/statm")
    if not itself.exists():
        return int(psutil.Process().memory_info().vms)
    return int(itself.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def apply_to_processes(limits: Limits) -> list[str]:
    """Bound the processes and threads of this one's user, who must be its own.

    Raises OSError where the system does not keep to that, as it does not for root.
    """
    import resource

    kind = resource.RLIMIT_NPROC
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (1, before[1]))
    bound = not _can_start_a_thread()
    resource.setrlimit(kind, (limits.processes, before[1]))
    if not bound or not _can_start_a_thread():
        resource.setrlimit(kind, before)
        raise OSError("the number of processes is not limited for this user alone")
    resource.setrlimit(kind, (limits.processes, limits.processes))
    return ["process limit"]


def _can_start_a_thread() -> bool:
    one = threading.Thread(target=bool)
    try:
        one.start()
    except RuntimeError:
        return False
    one.join()
    return True


def _limit(kind: int, soft: int, hard: int) -> bool:
    import resource

    allowed = resource.getrlimit(kind)[1]
    if allowed != resource.RLIM_INFINITY:
        soft, hard = min(soft, allowed), min(hard, allowed)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (OSError, ValueError):
        return False
    return True
